"""A forecast as text for a terminal, and as the body of `--json`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from evalkit.cli.stats_text import count, margin_words
from evalkit.decision.plan import Outlook, power_curve
from evalkit.report import numbers
from evalkit.report.powerplot import PowerPlot
from evalkit.report.text import one_line
from evalkit.results import POOLED
from evalkit.stages.cost import Cost
from evalkit.stages.forecast import Forecast

_LABEL = 20
_POINTS = 80
_METRICS = {
    "accuracy": "accuracy",
    "hallucination": "hallucination",
    "degenerate": "degenerate output",
}


def render(forecast: Forecast) -> str:
    """Return everything as lines; points and percent. The last lines say what it means."""
    blocks = (
        _costs(forecast),
        _outlooks(forecast),
        _curve(forecast),
        _two_stage(forecast),
        conclusions(forecast),
    )
    return "\n\n".join("\n".join(block) for block in blocks)


def as_body(forecast: Forecast) -> dict[str, Any]:
    """Return everything for programs; fractions."""
    return {
        "prompts": forecast.prompts,
        "epochs": forecast.epochs,
        "skipped": [{"taskset": name, "reason": why} for name, why in forecast.skipped],
        "cost": forecast.cost,
        "alpha": forecast.policy.alpha,
        "power": forecast.policy.power,
        "flips_from": forecast.flips,
        "metrics": [_row_body(look) for look in forecast.outlooks],
        "power_curve": {
            "prompts": forecast.sizes,
            "flip_rates": [rate for _, rate in _columns(forecast)],
            "power": [[row[index] for index, _ in _columns(forecast)] for row in forecast.curve],
        },
        "two_stage": forecast.two_stage,
        "identical_endpoints_ship": not forecast.impossible,
        "conclusions": list(conclusions(forecast)),
    }


def power_plot(forecast: Forecast) -> PowerPlot:
    """Return the power curve of the first metric, dense enough to draw, with the text."""
    first = forecast.outlooks[0]
    low, high = math.log(min(forecast.sizes)), math.log(max(forecast.sizes))
    steps = (low + (high - low) * step / _POINTS for step in range(_POINTS + 1))
    # Without flips the chance leaps at the floor.
    own = {first.floor - 1, first.floor, first.question.n}
    sizes = sorted({round(math.exp(step)) for step in steps} | own)
    sizes = [size for size in sizes if 1 <= size <= forecast.sizes[-1]]
    curve = power_curve(first.question, sizes, forecast.factors, forecast.policy.alpha)
    return PowerPlot(
        title=f"Chance that {_name(first)} passes at {margin_words(first.question.margin)}",
        sizes=sizes,
        curves=[
            (f"{_percent(rate)} flips", [row[index] for row in curve])
            for index, rate in _columns(forecast)
        ],
        wanted=forecast.policy.power,
        own=first.question.n,
        text=render(forecast),
    )


def conclusions(forecast: Forecast) -> Iterator[str]:
    """Say in sentences whether these prompts can decide, and what would."""
    for look in forecast.impossible:
        yield _never(look)
    if forecast.impossible:
        yield (
            "So even identical endpoints do not end in SHIP here: this plan finds damage, or stays "
            "inconclusive unless gains outnumber losses by luck."
        )
        return
    gated = [look for look in forecast.outlooks if look.question.gated]
    weakest = min(gated, key=lambda look: look.power)
    yield (
        f"If the endpoints are truly equal, {_name(weakest)} is the hardest to show: "
        f"{_percent(weakest.power)} chance with {count(weakest.question.n, 'prompt')}"
        f"{_for_power(weakest, forecast.policy.power)}."
    )
    if len(gated) > 1:
        yield f"SHIP needs all {len(gated)} metrics that gate."


def _never(look: Outlook) -> str:
    n = look.question.n
    these = "This 1 prompt" if n == 1 else f"These {numbers.count(n)} prompts"
    margin = margin_words(look.question.margin)
    return (
        f"{these} can never prove {margin} of {_name(look)} from equal answers: even with no "
        f"flip, at least {numbers.count(look.floor)} are needed."
    )


def _for_power(look: Outlook, power: float) -> str:
    if look.power >= power:
        return ""
    if look.needed is None:
        return f"; no sensible number of prompts gives {_percent(power)}, so revisit the margin"
    return f"; {numbers.count(look.needed)} give {_percent(power)}"


def _costs(forecast: Forecast) -> Iterator[str]:
    cost = forecast.cost
    repeats = f", {forecast.epochs} times each" if forecast.epochs > 1 else ""
    endpoints = count(cost.arms, "endpoint")
    yield _line("prompts", f"{numbers.count(forecast.prompts)}{repeats}, asked of {endpoints}")
    for name, why in forecast.skipped:
        yield _line("left out", one_line(f"{name} ({why})"))
    twice = f", {numbers.count(cost.repeats)} of them to the baseline a second time (--aa)"
    yield _line("requests", numbers.count(cost.requests) + (twice if cost.repeats else ""))
    yield _line("prompt tokens", _prompt_tokens(cost))
    tokens = numbers.count(cost.completion_tokens)
    if cost.completions_measured:
        yield _line("completion tokens", f"about {tokens} (as measured)")
    else:
        yield _line("completion tokens", f"at most {tokens} (max_tokens of every answer)")
    yield _line("time", _time(forecast))


def _prompt_tokens(cost: Cost) -> str:
    if cost.prompt_tokens is None:
        return "not known: the runs of this comparison are elsewhere"
    source = "as measured" if cost.prompts_measured else "estimated from characters"
    return f"about {numbers.count(cost.prompt_tokens)} ({source})"


def _time(forecast: Forecast) -> str:
    cost = forecast.cost
    if cost.wall_seconds is None or cost.tokens_per_second is None:
        return "not known: give --rate, or the folder of an earlier run"
    bound = "about" if cost.completions_measured else "at most"
    speed = numbers.rate_per_second(cost.tokens_per_second)
    return (
        f"{bound} {_duration(cost.wall_seconds)}, one endpoint after another, at {speed} "
        "completion tokens a second"
    )


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:,.1f} {unit}"
    return numbers.seconds(seconds)


def _outlooks(forecast: Forecast) -> Iterator[str]:
    power = _percent(forecast.policy.power)
    yield "What these prompts can show if the endpoints are truly equal"
    header = ("metric", "scope", "gates", "prompts", "margin", "flips", "floor", "needed",
              "proves", "chance")  # fmt: skip
    rows = [header, *(_row(look) for look in forecast.outlooks)]
    yield from _table(rows, left=3)
    yield f"  flips: {_assumption(forecast)}"
    yield "  prompts: independent ones; repeats, and prompts on one passage, count once"
    yield "  floor: fewer prove nothing from equal answers, even with no flip"
    yield f"  needed: for {power} power; proves: the smallest margin that has it, in points"
    if not all(look.question.gated for look in forecast.outlooks):
        yield "  gates no: watched for damage only, the family is too small for proof of its own"


def _assumption(forecast: Forecast) -> str:
    if forecast.flips == "measured":
        return "as measured, and one added: none seen does not mean that there are none"
    rate = _percent(forecast.outlooks[0].question.flip_rate)
    return f"{rate} {forecast.flips}; none for degenerate output, the best case"


def _row(look: Outlook) -> tuple[str, ...]:
    question = look.question
    smallest = numbers.DASH
    if look.smallest_margin < 1:
        smallest = f"{look.smallest_margin * 100:.2f}"
    return (
        _METRICS[question.metric],
        one_line(question.scope),
        "yes" if question.gated else "no",
        numbers.count(question.n),
        f"{question.margin * 100:g}",
        _percent(question.flip_rate),
        numbers.count(look.floor),
        numbers.count(look.needed),
        smallest,
        _percent(look.power),
    )


def _row_body(look: Outlook) -> dict[str, Any]:
    question = look.question
    return {
        "metric": question.metric,
        "scope": question.scope,
        "gated": question.gated,
        "prompts": question.n,
        "margin": question.margin,
        "flip_rate": question.flip_rate,
        "floor": look.floor,
        "passes_without_flips": look.provable,
        "needed": look.needed,
        "smallest_margin": look.smallest_margin if look.smallest_margin < 1 else None,
        "power": look.power,
    }


def _columns(forecast: Forecast) -> list[tuple[int, float]]:
    """Return index and flip rate of each column, without those that repeat a rate."""
    question = forecast.outlooks[0].question
    rates = {
        question.with_flips(factor).flip_rate: index
        for index, factor in reversed(list(enumerate(forecast.factors)))
    }
    return sorted((index, rate) for rate, index in rates.items())


def _curve(forecast: Forecast) -> Iterator[str]:
    first = forecast.outlooks[0]
    columns = _columns(forecast)
    margin = margin_words(first.question.margin)
    yield f"Chance that {_name(first)} passes at {margin}, by prompts and flips"
    rows = [("prompts", *(f"{_percent(rate)} flips" for _, rate in columns))]
    for size, row in zip(forecast.sizes, forecast.curve, strict=True):
        own = " *" if size == first.question.n else ""
        rows.append((numbers.count(size) + own, *(_percent(row[index]) for index, _ in columns)))
    yield from _table(rows, left=1)
    yield "* this plan"


def _two_stage(forecast: Forecast) -> Iterator[str]:
    plan = forecast.two_stage
    yield f"Two looks instead of one, declared before the run, for {_name(forecast.outlooks[0])}"
    yield f"  stage 1 passes at z ≥ {plan.boundary_1:.4f} (p ≤ {plan.alpha_1:g})"
    yield (
        "  else ask as many new prompts; both stages pass together at (z1 + z2)/√2 ≥ "
        f"{plan.boundary_2:.6f}"
    )
    if plan.per_stage is not None and plan.stops_early is not None:
        yield (
            f"  {numbers.count(plan.per_stage)} prompts a stage give "
            f"{_percent(forecast.policy.power)} in all; {_percent(plan.stops_early)} of equal "
            "endpoints pass at stage 1"
        )
    yield "  z2 is of the new prompts alone. `evalkit compare` takes one look; asking more after"
    yield "  an inconclusive one without this plan makes a false pass likelier than it says."


def _name(look: Outlook) -> str:
    question = look.question
    metric = _METRICS[question.metric]
    return (
        f"pooled {metric}"
        if question.scope == POOLED
        else f"{metric} in {one_line(question.scope)}"
    )


def _percent(value: float) -> str:
    """Write a share without decimals that say nothing, and no chance as 0% or 100% that is not."""
    if 0 < value < 0.001:
        return "<0.1%"
    if 0.999 < value < 1:
        return ">99.9%"
    text = f"{value * 100:.1f}"
    return f"{text.removesuffix('.0')}%"


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}{text}"


def _table(rows: Sequence[Sequence[str]], *, left: int) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield f"  {'  '.join(cells)}".rstrip()
