"""Which endpoints no other one beats in everything: quality, latency, throughput, memory, price.

A lead in accuracy alone that the intervals do not tell apart keeps no endpoint on the front
without a word: it is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.performance import MeasuredArm, Performance, Point
from evalkit.report import numbers
from evalkit.report.capacity_store import Fits
from evalkit.report.estimates import as_difference
from evalkit.report.performance import busiest, cost_per_million, price_of, single, where
from evalkit.report.performance_numbers import duration, rate
from evalkit.report.pieces import Table
from evalkit.report.text import one_line
from evalkit.report.trade import needed_text
from evalkit.report.words import Words
from evalkit.results import Comparison

_LEAST = 3
# The sign that makes more of each better.
_BETTER: Mapping[str, int] = {
    "accuracy": 1,
    "ttft": -1,
    "decode": 1,
    "throughput": 1,
    "memory": -1,
    "needed": -1,
    "cost": -1,
}


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    verdict: str
    accuracy: str
    figures: Mapping[str, float | None]
    ends: tuple[float | None, float | None] = (0.0, 0.0)
    needs: str = numbers.DASH


def pareto_table(
    words: Words, comparison: Comparison, found: Performance, fits: Fits | None = None
) -> Table | None:
    """Return the endpoints with their figures, and which other one beats each, if one does.

    Point estimates decide; where accuracy alone keeps an endpoint on the front and its interval
    does not tell it from the other's, that is said. `None` with fewer than three.
    """
    measured = {arm.name: arm for arm in found.arms}
    points = [p for p in found.points if comparison.baseline.endpoint in p.arms]
    rows = [_baseline(words, comparison)] if points else []
    for result in comparison.results:
        if result.endpoint in measured:
            difference = result.pooled.accuracy.difference
            text = as_difference(words, difference).told
            verdict = words(f"state.{result.verdict.state.value}")
            figures = {"accuracy": difference.value}
            ends = (difference.low, difference.high)
            rows.append(_Row(result.endpoint, verdict, text, figures, ends))
    points = [p for p in points if all(row.name in p.arms for row in rows)]
    if len(rows) < _LEAST or not points:
        return None
    sources = {m.memory[0].source if (m := measured[row.name]).memory else None for row in rows}
    # What was read in different ways is not to be compared.
    alike = len(sources) == 1
    rows = [_with_speed(row, points, measured[row.name], found, memory=alike) for row in rows]
    if fits is not None:
        rows = [_with_needs(words, row, fits) for row in rows]
    cells = [
        (
            one_line(row.name),
            row.verdict,
            row.accuracy,
            duration(row.figures["ttft"]),
            rate(row.figures["decode"]),
            rate(row.figures["throughput"]),
            numbers.size(row.figures["memory"]),
            row.needs,
            rate(row.figures["cost"]),
            _standing(words, row, rows),
        )
        for row in rows
    ]
    keys = ["arm", "verdict", "accuracy", "ttft", "decode", "throughput", "peak"]
    keys += ["needed", "cost", "front"]
    shown = [
        place
        for place, key in enumerate(keys)
        if key not in ("needed", "cost") or any(row[place] != numbers.DASH for row in cells)
    ]
    columns = tuple(words(f"perf.col.{keys[place]}") for place in shown)
    caption = words("perf.table.front", where=where(words, single(points)))
    kept = tuple(tuple(row[place] for place in shown) for row in cells)
    return Table(caption, columns, kept, words=(1, len(shown) - 1))


def _standing(words: Words, row: _Row, rows: Sequence[_Row]) -> str:
    """Say whether a row is on the front, which other ones beat it, or what keeps it there."""
    others = [other for other in rows if other is not row]
    known = known_figures([one.figures for one in rows])

    def names(better: Sequence[_Row]) -> str:
        return words("capacity.join").join(one_line(one.name) for one in better)

    beaten = [one for one in others if beats(one.figures, row.figures, known)]
    if beaten:
        return words("perf.front.off", names=names(beaten))
    rest = [key for key in known if key != "accuracy"]
    close = [
        one
        for one in others
        if rest and _overlap(one.ends, row.ends) and beats(one.figures, row.figures, rest)
    ]
    return words("perf.front.near", names=names(close)) if close else words("perf.front.on")


def _overlap(
    one: tuple[float | None, float | None], other: tuple[float | None, float | None]
) -> bool:
    """Whether two intervals share a value; an end that is not known bounds nothing."""

    def below(high: float | None, low: float | None) -> bool:
        return high is not None and low is not None and high < low

    return not below(one[1], other[0]) and not below(other[1], one[0])


def known_figures(rows: Sequence[Mapping[str, float | None]]) -> list[str]:
    """Return the figures that are known of all rows: no other one counts."""
    return [key for key in _BETTER if all(row.get(key) is not None for row in rows)]


def beats(
    one: Mapping[str, float | None], other: Mapping[str, float | None], known: Sequence[str]
) -> bool:
    """Whether one is at least as good in everything that is known, and better in some."""
    pairs = [(_BETTER[k] * (one[k] or 0.0), _BETTER[k] * (other[k] or 0.0)) for k in known]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def front(rows: Sequence[Mapping[str, float | None]]) -> list[bool]:
    """Say of each row whether no other is at least as good in everything and better in some.

    >>> front([{"accuracy": 0.0, "decode": 1.0}, {"accuracy": -0.1, "decode": 2.0},
    ...        {"accuracy": -0.2, "decode": 1.5}])
    [True, True, False]
    """
    known = known_figures(rows)
    return [not any(beats(other, one, known) for other in rows) for one in rows]


def _baseline(words: Words, comparison: Comparison) -> _Row:
    name = comparison.baseline.endpoint
    return _Row(name, words("role.baseline"), numbers.DASH, {"accuracy": 0.0})


def _with_speed(
    row: _Row, points: Sequence[Point], arm: MeasuredArm, found: Performance, *, memory: bool
) -> _Row:
    lone, full = single(points).arms[row.name], busiest(points)
    throughput = None if full is None else full.arms[row.name].throughput.value
    figures = {
        **row.figures,
        "ttft": lone.quantiles["ttft"][0].value,
        "decode": lone.quantiles["decode"][0].value,
        "throughput": throughput,
        "memory": float(arm.memory[0].peak_bytes) if memory and arm.memory else None,
        "cost": cost_per_million(price_of(found, row.name), throughput),
    }
    return replace(row, figures=figures)


def _with_needs(words: Words, row: _Row, fits: Fits) -> _Row:
    one = fits.arms.get(row.name)
    if one is None:
        return row
    figures = {**row.figures, "needed": float(one.needed)}
    return replace(row, figures=figures, needs=needed_text(words, one))
