"""`evalkit soak`: hours of load on one endpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.cli.options import (
    CONFIG,
    DISPLAY,
    JSON,
    LANG,
    OUTPUT,
    QUIET,
    SET,
    VERBOSE,
    read_config,
)
from evalkit.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from evalkit.soak.plan import SoakPlan
    from evalkit.stability import Stability
    from evalkit.stages.soaking import Soaked


@click.command()
@click.argument("target", required=False, metavar="A")
@click.option("--hours", type=float, help="How long. Default: one hour.")
@click.option("--minutes", type=float, help="How long.")
@click.option("--for", "duration", metavar="TIME", help="How long: 8h, 90m, 1h30m or 45s.")
@click.option(
    "--concurrency", type=click.IntRange(1, 4096), default=4, show_default=True,
    help="Requests in flight: always so many, or with --rate at most.",
)  # fmt: skip
@click.option(
    "--rate", type=click.FloatRange(min=0, min_open=True), metavar="R",
    help="Requests a second that come at random (Poisson), instead of all in flight.",
)  # fmt: skip
@click.option(
    "--prompt-tokens", default="16-512", show_default=True, metavar="LOW-HIGH",
    help="Lengths of prompts, English and Chinese; cut to what the endpoint holds.",
)  # fmt: skip
@click.option(
    "--output-tokens", default="16-128", show_default=True, metavar="LOW-HIGH",
    help="Lengths of answers.",
)  # fmt: skip
@click.option(
    "--max-leak", default="0.5", show_default=True, metavar="MB",
    help="Growth of memory a minute that counts as a leak once it is proven.",
)  # fmt: skip
@click.option(
    "--max-slowdown", default="2%", show_default=True, metavar="PERCENT",
    help="Growth of latency an hour that counts once it is proven.",
)  # fmt: skip
@click.option(
    "--max-failed", default="1%", show_default=True, metavar="PERCENT",
    help="Share of requests that may fail.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, help="Seed of prompts and lengths.")
@click.option("--fresh", is_flag=True, help="Begin anew. Default: go on with what -o holds.")
@click.option(
    "--verdict", is_flag=True, help="Ask nothing: judge what -o holds, after a crash, say."
)
@CONFIG
@SET
@OUTPUT
@LANG
@DISPLAY
@JSON
@QUIET
@VERBOSE
def soak(
    target: str | None,
    hours: float | None,
    minutes: float | None,
    duration: str | None,
    concurrency: int,
    rate: float | None,
    prompt_tokens: str,
    output_tokens: str,
    max_leak: str,
    max_slowdown: str,
    max_failed: str,
    seed: int,
    fresh: bool,
    verdict: bool,
    config_path: Path | None,
    overrides: tuple[str, ...],
    output: Path | None,
    lang: str,
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Keep A busy for hours: does memory leak, does it slow down, does it stay what it is?

    Requests of varied lengths, English and Chinese. Memory and latency are judged by a robust
    slope with its interval after the warm-up, latency against what is usual for its tokens;
    failures by bursts; fixed prompts at temperature 0 by whether their answers change.

    Writes soak.json, soak.html and the journal soak.jsonl to -o (default:
    reports/out/A-soak); where that is the folder of a comparison of the same endpoint, its
    report shows what was found. The same command goes on after a crash. Ctrl-C judges what ran.

    Exit codes: 0 nothing found, 3 something found, 5 nothing measured, 130 stopped early and
    nothing found so far.
    """
    from evalkit.soak.plan import SoakPlan, read_leak, read_percent, read_range

    plan = SoakPlan(
        seconds=_seconds(hours, minutes, duration),
        concurrency=concurrency,
        rate=rate,
        prompt_tokens=read_range(prompt_tokens, "tokens"),
        output_tokens=read_range(output_tokens, "tokens"),
        max_leak=read_leak(max_leak),
        max_slowdown=read_percent(max_slowdown, "--max-slowdown"),
        max_failed=read_percent(max_failed, "--max-failed"),
        seed=seed,
    )
    if verdict:
        return _judge(output, plan, lang, as_json=as_json)
    if target is None:
        raise UsageError("Missing argument 'A'.", hint="See: evalkit soak --help")
    from evalkit import api
    from evalkit.api.settings import default_output
    from evalkit.api.soaking import soak as keep_busy
    from evalkit.cli.display import make_display
    from evalkit.stages.arms import resolve_arms

    config = read_config(config_path, overrides, {})
    (arm,) = resolve_arms([target], config)
    folder = output or default_output(config) / f"{arm.name}-soak"
    shown = make_display(display or "plain", quiet=quiet or as_json, verbose=verbose)
    listener = api.Listener(shown.on_event, shown.on_stage)
    soaked = keep_busy(target, config, plan, output=folder, fresh=fresh, listener=listener)
    return _show(soaked, folder, lang, as_json=as_json)


def _seconds(hours: float | None, minutes: float | None, duration: str | None) -> float:
    from evalkit.soak.plan import SoakPlan, checked_seconds, read_duration

    given = [one for one in (hours, minutes, duration) if one is not None]
    if len(given) > 1:
        raise UsageError("Give one of --hours, --minutes and --for.")
    if duration is not None:
        return read_duration(duration)
    if hours is not None:
        return checked_seconds(hours * 3600)
    return checked_seconds(minutes * 60) if minutes is not None else SoakPlan().seconds


def _judge(folder: Path | None, plan: SoakPlan, lang: str, *, as_json: bool) -> int:
    from evalkit.stages.soaking import Soaked, judge

    if folder is None:
        raise UsageError("--verdict needs -o, the folder of a soak.")
    recorded = judge(folder).settings
    limits = {name: getattr(plan, name) for name in ("max_leak", "max_slowdown", "max_failed")}
    found = judge(folder, replace(plan, **{**recorded, **limits}))
    return _show(Soaked(found, interrupted=False), folder, lang, as_json=as_json)


def _show(soaked: Soaked, folder: Path, lang: str, *, as_json: bool) -> int:
    from evalkit.cli.streams import terminal_color, terminal_width
    from evalkit.report.soak_console import render_soak
    from evalkit.report.soak_store import dump_soak
    from evalkit.stages.writing import write_soak

    found = soaked.found
    paths = write_soak(folder, found, lang)
    if as_json:
        click.echo(dump_soak(found).decode("utf-8"), nl=False)
    else:
        click.echo(render_soak(found, lang, terminal_width(), terminal_color()))
        click.echo(f"Written to {' and '.join(str(path) for path in paths)}")
    return _code(found, interrupted=soaked.interrupted)


def _code(found: Stability, *, interrupted: bool) -> int:
    if found.state == "unmeasured":
        return ExitCode.INTERRUPTED if interrupted else ExitCode.INVALID
    if found.state == "unstable":
        return ExitCode.HOLD
    return ExitCode.INTERRUPTED if interrupted else ExitCode.OK
