"""`evalkit alerts`: rules for Prometheus, from what a probe measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from evalkit.cli.options import JSON, Folder, share
from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.alerts import RuleSet
    from evalkit.operations.thresholds import Settings

_DURATION = re.compile("[1-9][0-9]{0,5}[smhd]")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_POINT = re.compile(r"(?P<context>[0-9]{1,8})x(?P<level>[0-9]{1,5}(\.[0-9]{1,4})?)")
_QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}

WATCH_OPTIONS = (
    click.option(
        "--arm", metavar="ENDPOINT", help="Default: the recommended one, else the baseline."
    ),
    click.option(
        "--engine", type=click.Choice(["vllm", "llama.cpp"]),
        default="vllm", show_default=True, help="Whose metric names.",
    ),
    click.option(
        "--headroom", default="30%", show_default=True, metavar="SHARE",
        help="Between what was measured and the limit.",
    ),
    click.option(
        "--quantile", type=click.Choice(list(_QUANTILES)), default="p95", show_default=True,
        help="Of latencies.",
    ),
    click.option(
        "--point", metavar="TOKENSxLOAD",
        help="The measured point that the limits come from: 4096x4. Default: of all with so many "
        "in flight, the one where each figure is worst.",
    ),
    click.option(
        "--window", default="5m", show_default=True, help="Over which rates are taken."
    ),
    click.option(
        "--for", "hold", default="10m", show_default=True, help="How long before a rule fires."
    ),
    click.option(
        "--min-requests", type=click.IntRange(1, 10**6), default=20, show_default=True,
        help="Fewer in a window raise nothing.",
    ),
    click.option(
        "--kv-limit", default="95%", show_default=True, metavar="SHARE",
        help="Of the KV cache in use; a setting, not a measurement.",
    ),
    click.option(
        "--acceptance", metavar="SHARE",
        help="Of drafted tokens that were accepted, where it was measured: 0.62.",
    ),
    click.option(
        "--selector", default="", metavar="MATCHERS",
        help="""Further label matchers: 'job="vllm-int4"'.""",
    ),
    click.option("--runbook", metavar="URL", help="For the people on call."),
    click.option(
        "--history", type=Folder(path_type=Path), metavar="DIR",
        help="Of earlier comparisons: the newest that shipped is what to roll back to.",
    ),
)  # fmt: skip


def watch_options(command: Any) -> Any:
    """Add the options that say how an endpoint is watched."""
    for option in reversed(WATCH_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@watch_options
@click.option(
    "-o", "--output", type=Folder(path_type=Path), metavar="FILE",
    help="Write the rules there. Default: to stdout.",
)  # fmt: skip
@JSON
def alerts(
    folder: Path,
    arm: str | None,
    engine: str | None,
    history: Path | None,
    output: Path | None,
    as_json: bool,
    **told: Any,
) -> None:
    """Write alert rules for Prometheus, from what was measured in FOLDER.

    FOLDER is that of a comparison, with the performance.json of `evalkit probe`. Limits are
    measured figures with head-room; each rule says from which figure it comes, needs some
    traffic, and what cannot be watched is listed with its reason. Rules are checked, by
    promtool too where it is installed.
    """
    from evalkit.operations.checking import check_document, promtool_check
    from evalkit.operations.document import render_rules
    from evalkit.operations.telling import engine_note
    from evalkit.stages.alerting import rules_of, watching
    from evalkit.stages.writing import write_text

    settings = watch_settings(**told)
    subject = watching(folder, arm, history)
    rules = rules_of(subject, engine, settings)
    text = render_rules(rules)
    check_document(text)
    by = "promtool and evalkit" if promtool_check(text) else "evalkit; promtool is not installed"
    if output is not None:
        write_text(output, text)
    if as_json:
        click.echo(json.dumps(_body(rules, by, output), ensure_ascii=False, indent=2))
        return
    if output is None:
        click.echo(text, nl=False)
    told_lines = [f"{len(rules.rules)} rules for '{rules.arm}' ({rules.engine}), checked by {by}."]
    note = engine_note(rules)
    told_lines += [note] if note else []
    told_lines += [] if output is None else [f"Written to {output}"]
    for line in told_lines:
        click.echo(line, err=output is None)


def watch_settings(
    headroom: str,
    quantile: str,
    point: str | None,
    window: str,
    hold: str,
    min_requests: int,
    kv_limit: str,
    acceptance: str | None,
    selector: str,
    runbook: str | None,
) -> Settings:
    """Read the options that say how an endpoint is watched.

    Raises:
        UsageError: For one that makes no sense.
    """
    from evalkit.operations.thresholds import Settings

    for name, text in (("--window", window), ("--for", hold)):
        if not _DURATION.fullmatch(text):
            _refuse(name, text, "a duration", "Write e.g. 5m.")
    if int(window[:-1]) * _SECONDS[window[-1]] < _SECONDS["m"]:
        _refuse("--window", window, "at least 1m: a rate needs several scrapes", "Write e.g. 5m.")
    accepted = None if acceptance is None else share("--acceptance", acceptance)
    if accepted is not None and accepted <= 0:
        _refuse("--acceptance", str(acceptance), "a share of drafted tokens", "Write e.g. 0.62.")
    return Settings(
        quantile=_QUANTILES[quantile],
        headroom=share("--headroom", headroom),
        window=window,
        hold=hold,
        least_requests=min_requests,
        selector=_matchers(selector),
        acceptance=accepted,
        kv_limit=share("--kv-limit", kv_limit),
        runbook=runbook,
        point=None if point is None else _point(point),
    )


def _point(text: str) -> tuple[int, float]:
    found = _POINT.fullmatch(text.strip().lower())
    if found is None:
        _refuse("--point", text, "a measured point", "Write tokens and load, e.g. 4096x4.")
    return int(found["context"]), float(found["level"])


def _matchers(text: str) -> str:
    from evalkit.operations.promql import PromqlError, check_matchers

    plain = text.strip().strip(",")
    if plain:
        try:
            check_matchers(plain)
        except PromqlError:
            _refuse("--selector", text, "a list of label matchers", """Write e.g. 'job="vllm"'.""")
    return plain


def _refuse(name: str, text: str, what: str, hint: str) -> NoReturn:
    raise UsageError(f"{name} is '{text[:60]}', which is not {what}.", hint=hint)


def _body(rules: RuleSet, by: str, output: Path | None) -> dict[str, Any]:
    from evalkit.cli.stats import as_plain
    from evalkit.operations.telling import why_left_out

    body: dict[str, Any] = as_plain(rules)
    body["checked_by"] = by
    left_out = zip(body["left_out"], rules.left_out, strict=True)
    body["left_out"] = [{**plain, "text": why_left_out(one)} for plain, one in left_out]
    if output is not None:
        body["paths"] = {"rules": str(output)}
    return body
