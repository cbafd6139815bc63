"""A soak's figures over time, as numbers to draw with their words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from evalkit.report import numbers
from evalkit.report.performance_numbers import significant
from evalkit.report.soak_model import SoakPlot
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.stability import Stability, StabilityTrend, StabilityWindow

_MOST_TICKS: Final = 5
_MOST_TIMES: Final = 8
_MINUTE, _HOUR = 60.0, 3600.0


def soak_plots(words: Words, found: Stability) -> tuple[SoakPlot, ...]:
    """Return a plot for each figure that was judged."""
    if not found.windows or not math.isfinite(found.ran) or found.ran <= 0:
        return ()
    return tuple(_plots(words, found))


def _plots(words: Words, found: Stability) -> Iterator[SoakPlot]:
    for place, trend in enumerate(found.trends):
        points = tuple((w.at, _value(w, trend.name)) for w in found.windows)
        known = [value for _, value in points if value is not None and math.isfinite(value)]
        if not known:
            continue
        line = _line(trend)
        low, high = _bounds([*known, *(end[1] for end in line or ())], trend.name)
        memory = trend.name.startswith("memory.")
        write = numbers.size if memory else significant
        kind = "memory" if memory else trend.name
        name = words.name("soak.name", one_line(trend.name))
        title = words(f"soak.chart.{kind}", name=name) if f"soak.chart.{kind}" in words else name
        title = title[:1].upper() + title[1:]
        verdict = words.name("soak.trend", trend.state)
        told = words(
            "soak.chart.told",
            title=title,
            first=write(known[0]),
            last=write(known[-1]),
            ran=numbers.elapsed(found.ran),
            verdict=verdict,
        )
        yield SoakPlot(
            key=f"soak-{place}",
            title=title,
            told=told,
            points=points,
            line=line,
            settled=None if line is None else trend.settled,
            ran=found.ran,
            low=low,
            high=high,
            ticks=tuple((tick, write(tick)) for tick in _ticks(low, high, _MOST_TICKS)),
            times=tuple(_times(found.ran)),
            restarts=tuple(one.at for one in found.restarts),
            outages=tuple(
                (one.began, found.ran if one.ended is None else one.ended) for one in found.outages
            ),
            state=trend.state,
            verdict=verdict,
        )


def _value(window: StabilityWindow, name: str) -> float | None:
    kind, _, source = name.partition(".")
    if kind == "memory":
        return window.memory.get(source)
    values = {
        "latency": window.latency,
        "first_token": window.first_token,
        "throughput": window.throughput,
    }
    return values.get(name)


def _line(
    trend: StabilityTrend,
) -> tuple[tuple[float, float], tuple[float, float]] | None:
    if trend.level is None or trend.rise is None:
        return None
    rise = trend.rise
    if not trend.name.startswith("memory."):
        # A share of the level; throughput was turned, so that up is bad.
        rise *= -trend.level if trend.name == "throughput" else trend.level
    return (trend.settled, trend.level), (trend.settled + trend.span, trend.level + rise)


def _bounds(values: list[float], name: str) -> tuple[float, float]:
    low, high = min(values), max(values)
    # Noise must not look like mountains.
    least = 2e6 if name.startswith("memory.") else 0.2 * max(abs(high), 1e-9)
    pad = max((least - (high - low)) / 2, (high - low) * 0.08)
    return max(0.0, low - pad), high + pad


def _ticks(low: float, high: float, most: int) -> Iterator[float]:
    span = high - low
    if not span > 0:
        return
    rough = span / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough)
    for index in range(math.ceil(low / step), math.floor(high / step) + 1):
        yield index * step


def _times(ran: float) -> Iterator[tuple[float, str]]:
    unit, name = (_HOUR, "h") if ran >= 2 * _HOUR else (_MINUTE, "min")
    if ran < 2 * _MINUTE:
        unit, name = 1.0, "s"
    for tick in _ticks(0.0, ran / unit, _MOST_TIMES):
        yield tick * unit, f"{tick:g} {name}"
