"""`evalkit plan`: what a run costs and what it can prove, before anything is spent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.options import (
    AA,
    ALLOW_CODE,
    CONFIG,
    DECIDING,
    EPOCHS,
    HTML,
    INCLUDE_PATH,
    JSON,
    LIMIT,
    SEED,
    SET,
    SKIP_FAULTY,
    SUITE,
    TASKS,
    names,
    read_config,
    share,
    together,
)
from evalkit.cli.stats import as_plain
from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.config import Config
    from evalkit.stages.forecast import Forecast

_ASKING = together(
    CONFIG, SET, TASKS, SUITE, LIMIT, EPOCHS, SEED, ALLOW_CODE, SKIP_FAULTY, INCLUDE_PATH
)


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[FOLDER]")
@_ASKING
@DECIDING
@click.option(
    "--flips",
    metavar="SHARE",
    help="Share of answers expected to flip: 6%, 0.06 or 6 (below 1 a share, else percent). "
    "Default: as measured in FOLDER, else 6%.",
)
@click.option("--power", metavar="SHARE", help="Wanted chance to decide: 80%, 0.8 or 80.")
@click.option(
    "--rate",
    type=float,
    metavar="TOK_PER_S",
    help="Completion tokens a second of one endpoint, over all its connections.",
)
@click.option("--arms", type=click.IntRange(min=1), help="Endpoints that are asked. Default: 2.")
@AA
@HTML
@JSON
def plan(
    folder: Path | None,
    config_path: Path | None,
    overrides: tuple[str, ...],
    tasks: tuple[str, ...],
    margin: float | None,
    policy_path: Path | None,
    flips: str | None,
    power: str | None,
    rate: float | None,
    arms: int | None,
    aa: str | None,
    html_path: Path | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Say what a run costs and what it can prove; nothing is asked.

    With the FOLDER of an earlier run or comparison, its flip rate, tokens and speed are used.
    Its prompts are planned for again unless -t, -n, -c, --set, --epochs or --policy say which.
    """
    if rate is not None and not 0 < rate < 1e9:
        raise UsageError(f"--rate is {rate:g}, and must be a positive number of tokens a second.")
    flip_rate = None if flips is None else share("--flips", flips)
    wanted = None if power is None else _power(power)
    repeated = None if aa is None else share("--aa", aa)
    given = {**flags, "tasks": names(tasks), "aa": repeated}
    chosen = (
        config_path,
        policy_path,
        overrides,
        given["tasks"],
        flags["limit"],
        flags["epochs"],
        flags["suite"],
    )
    config = read_config(config_path, overrides, given, policy_path)
    from evalkit.cli.plan_text import as_body, render
    from evalkit.stages.forecast import forecast, read_earlier
    from evalkit.stages.repeating import greedy_warning

    warning = greedy_warning(config.epochs, config.sampling.temperature)
    if warning is not None:
        click.echo(f"evalkit: {warning}", err=True)
    earlier = None if folder is None else read_earlier(folder, allow_code=config.allow_code)
    own_prompts = earlier is None or any(chosen)
    policy: Mapping[str, Any] = config.policy.model_dump()
    if earlier is not None and earlier.comparison is not None and not own_prompts:
        policy = earlier.comparison.policy
    config = _with_policy(config, policy, margin, wanted)
    made = forecast(
        config, earlier, own_prompts=own_prompts, flip_rate=flip_rate, rate=rate, arms=arms
    )
    if html_path is not None:
        _write_page(html_path, made)
    if as_json:
        body = as_plain(as_body(made))
        click.echo(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        click.echo(render(made))


def _write_page(path: Path, made: Forecast) -> None:
    from evalkit.cli.plan_text import power_plot
    from evalkit.report.powerplot import power_page

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(power_page(power_plot(made)), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"'{path}' cannot be written: {error.strerror}.") from None


def _power(text: str) -> float:
    value = share("--power", text)
    if not 0.5 < value < 1:
        raise UsageError(
            f"--power is '{text[:40]}', and must lie between 50% and 100%.",
            hint="80% is usual.",
        )
    return value


def _with_policy(
    config: Config, policy: Mapping[str, Any], margin: float | None, power: float | None
) -> Config:
    """Return the configuration with a policy, of which flags may change two numbers."""
    from evalkit.config import check_config

    changed = dict(policy)
    if margin is not None:
        changed["margins"] = {**changed.get("margins", {}), "accuracy": margin}
    if power is not None:
        changed["power"] = power
    return check_config({**config.model_dump(), "policy": changed}, where="the command line")
