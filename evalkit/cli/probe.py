"""`evalkit probe`: how fast endpoints are, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.cli.options import (
    CONFIG,
    DISPLAY,
    JSON,
    LANG,
    LANGUAGES,
    OUTPUT,
    QUIET,
    SET,
    VERBOSE,
    read_config,
)
from evalkit.errors import UnknownNameError

if TYPE_CHECKING:
    from evalkit.performance import Performance
    from evalkit.probe.plan import ProbePlan


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="A [B...]")
@click.option(
    "--contexts", default="1K,4K,16K,64K", show_default=True, metavar="TOKENS,...",
    help="Lengths of the prompt; what an endpoint cannot hold is cut, and said.",
)  # fmt: skip
@click.option(
    "--concurrency", default="1,2,4", show_default=True, metavar="N,...",
    help="Requests that are always in flight (closed loop).",
)  # fmt: skip
@click.option(
    "--rate", "rates", metavar="R,...",
    help="Also requests a second that come at random (open loop, Poisson). Latencies count from "
    "when a request was due.",
)  # fmt: skip
@click.option(
    "--grid", is_flag=True,
    help="Every load at every context. Default: all loads at the shortest, the first elsewhere.",
)  # fmt: skip
@click.option(
    "--output-tokens", type=click.IntRange(2, 65536), default=128, show_default=True,
    help="Tokens of each answer.",
)  # fmt: skip
@click.option(
    "--repeats", type=click.IntRange(5, 1000), default=6, show_default=True,
    help="Rounds at each point, the endpoints in turns.",
)  # fmt: skip
@click.option(
    "--requests", type=click.IntRange(1, 10_000), default=2, show_default=True,
    help="Requests of each worker in a round; ten times as many in an open loop.",
)  # fmt: skip
@click.option(
    "--prefix-cache", is_flag=True,
    help="Let prompts share their beginning on purpose. Default: each has its own.",
)  # fmt: skip
@click.option(
    "--slo", metavar="TARGET", help="Target of a good request: ttft=500ms,itl=50ms,e2e=10s."
)
@click.option(
    "--price", metavar="PER-HOUR|A=...,B=...",
    help="Price of an hour of an endpoint, or of each: tells the cost of a million tokens.",
)  # fmt: skip
@click.option(
    "--together", is_flag=True,
    help="Start all servers at once, so that they are measured in turns; they must fit.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, help="Seed of prompts and arrivals.")
@click.option(
    "--speculation", is_flag=True,
    help="Speculative decoding on and off: endpoints are on=A off=B [depth3=C...], of several "
    "builds int4/on=A int4/off=B..., or one alone.",
)  # fmt: skip
@click.option(
    "--prompts", type=click.IntRange(2, 6), default=6, show_default=True,
    help="With --speculation: prompts of each kind of work in each language.",
)  # fmt: skip
@click.option(
    "--answer-tokens", type=click.IntRange(2, 4096), default=32, show_default=True,
    help="With --speculation: tokens of the short answer to a long prompt.",
)  # fmt: skip
@LANGUAGES
@CONFIG
@SET
@OUTPUT
@LANG
@DISPLAY
@JSON
@QUIET
@VERBOSE
def probe(
    targets: tuple[str, ...],
    contexts: str,
    concurrency: str,
    rates: str | None,
    grid: bool,
    output_tokens: int,
    repeats: int,
    requests: int,
    prefix_cache: bool,
    slo: str | None,
    price: str | None,
    together: bool,
    seed: int,
    speculation: bool,
    prompts: int,
    answer_tokens: int,
    languages: tuple[str, ...],
    config_path: Path | None,
    overrides: tuple[str, ...],
    output: Path | None,
    lang: str,
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Measure latency, throughput and memory of A, and of B beside it.

    Time to first token, time between tokens, decode and prefill speed, end-to-end latency,
    throughput, failures and peak memory, by context and load. Tokens are counted by the
    server. B... are measured in turns with A, and told as ratios.

    The result is written to performance.json in -o (default: reports/out/A-vs-B); where that
    is the folder of a comparison of the same endpoints, `compare` and `report` show it.

    With --speculation: how many drafted tokens are accepted, by kind of work and place; what
    speculation speeds up alone and under load, where it turns, and what it costs; and which
    requests should speculate, also as routing.yaml.
    """
    from evalkit import api
    from evalkit.api.measuring import probe as measure
    from evalkit.api.settings import default_output
    from evalkit.cli.display import make_display
    from evalkit.probe.plan import (
        ProbePlan,
        SpeculationPlan,
        read_levels,
        read_parts,
        read_prices,
        read_rates,
        read_slo,
        read_tokens,
    )
    from evalkit.stages.arms import comparison_name, resolve_arms

    price_of_all, prices = (None, {}) if price is None else read_prices(price)
    config = read_config(config_path, overrides, {"languages": languages})
    work = None
    if speculation:
        targets, labels = read_parts(targets)
        known = config.languages or ("en", "zh")
        path = None if config_path is None else str(config_path)
        work = SpeculationPlan(labels, prompts, known, answer_tokens, path)
    plan = ProbePlan(
        contexts=read_tokens(contexts),
        concurrency=read_levels(concurrency),
        rates=() if rates is None else read_rates(rates),
        grid=grid,
        output_tokens=output_tokens,
        repeats=repeats,
        requests=requests,
        prefix_cache=prefix_cache,
        slo=None if slo is None else read_slo(slo),
        price=price_of_all,
        prices=prices,
        together=together,
        seed=seed,
        speculation=work,
    )
    arms = resolve_arms(targets, config)
    for name in prices:
        if name not in {arm.name for arm in arms}:
            raise UnknownNameError("endpoint of --price", name, [arm.name for arm in arms])
    folder = output or default_output(config) / comparison_name(arms)
    shown = make_display(display or "plain", quiet=quiet or as_json, verbose=verbose)
    listener = api.Listener(shown.on_event, shown.on_stage)
    found = measure(targets, config, plan, listener=listener)
    return _show(found, plan, folder, lang, as_json=as_json)


def _show(found: Performance, plan: ProbePlan, folder: Path, lang: str, *, as_json: bool) -> int:
    from evalkit.cli.streams import terminal_color, terminal_width
    from evalkit.errors import ExitCode
    from evalkit.report.performance_console import render_performance
    from evalkit.report.performance_store import dump_performance
    from evalkit.stages.writing import write_performance, write_routing

    path = write_performance(folder, found)
    routing = write_routing(folder, found)
    if as_json:
        click.echo(dump_performance(found).decode("utf-8"), nl=False)
    else:
        click.echo(render_performance(found, lang, terminal_width(), terminal_color()))
        click.echo(f"Written to {path}" + (f" and {routing}" if routing else ""))
    silent = any(remark.code == "NO_ANSWER" for remark in found.remarks)
    return ExitCode.INVALID if silent else ExitCode.OK
