"""Which endpoints no other one beats in everything: quality, latency, throughput, memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.performance import MeasuredArm, Performance, Point
from evalkit.report import numbers
from evalkit.report.estimates import as_difference
from evalkit.report.performance import busiest, single, where
from evalkit.report.performance_numbers import duration, rate
from evalkit.report.pieces import Table
from evalkit.report.text import one_line
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
}


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    verdict: str
    accuracy: str
    figures: Mapping[str, float | None]


def pareto_table(words: Words, comparison: Comparison, found: Performance) -> Table | None:
    """Return the endpoints with their figures and whether another one beats them.

    Point estimates decide: the intervals stand elsewhere. `None` with fewer than three.
    """
    measured = {arm.name: arm for arm in found.arms}
    points = [p for p in found.points if comparison.baseline.endpoint in p.arms]
    rows = [_baseline(words, comparison)] if points else []
    for result in comparison.results:
        if result.endpoint in measured:
            difference = result.pooled.accuracy.difference
            text = as_difference(words, difference).told
            verdict = words(f"state.{result.verdict.state.value}")
            rows.append(_Row(result.endpoint, verdict, text, {"accuracy": difference.value}))
    points = [p for p in points if all(row.name in p.arms for row in rows)]
    if len(rows) < _LEAST or not points:
        return None
    sources = {m.memory[0].source if (m := measured[row.name]).memory else None for row in rows}
    # What was read in different ways is not to be compared.
    alike = len(sources) == 1
    rows = [_with_speed(row, points, measured[row.name], memory=alike) for row in rows]
    kept = front([row.figures for row in rows])
    cells = tuple(
        (
            one_line(row.name),
            row.verdict,
            row.accuracy,
            duration(row.figures["ttft"]),
            rate(row.figures["decode"]),
            rate(row.figures["throughput"]),
            numbers.size(row.figures["memory"]),
            words("perf.front.on" if on else "perf.front.off"),
        )
        for row, on in zip(rows, kept, strict=True)
    )
    keys = ("arm", "verdict", "accuracy", "ttft", "decode", "throughput", "peak", "front")
    columns = tuple(words(f"perf.col.{key}") for key in keys)
    caption = words("perf.table.front", where=where(words, single(points)))
    return Table(caption, columns, cells, words=(1, 7))


def front(rows: Sequence[Mapping[str, float | None]]) -> list[bool]:
    """Say of each row whether no other is at least as good in everything and better in some.

    What is not known of all rows counts for none.

    >>> front([{"accuracy": 0.0, "decode": 1.0}, {"accuracy": -0.1, "decode": 2.0},
    ...        {"accuracy": -0.2, "decode": 1.5}])
    [True, True, False]
    """
    known = [key for key in _BETTER if all(row.get(key) is not None for row in rows)]
    scores = [tuple(_BETTER[key] * (row[key] or 0.0) for key in known) for row in rows]

    def beaten(one: tuple[float, ...]) -> bool:
        return any(
            other != one and all(o >= s for o, s in zip(other, one, strict=True))
            for other in scores
        )

    return [not beaten(one) for one in scores]


def _baseline(words: Words, comparison: Comparison) -> _Row:
    name = comparison.baseline.endpoint
    return _Row(name, words("role.baseline"), numbers.DASH, {"accuracy": 0.0})


def _with_speed(row: _Row, points: Sequence[Point], arm: MeasuredArm, *, memory: bool) -> _Row:
    lone, full = single(points).arms[row.name], busiest(points)
    figures = {
        **row.figures,
        "ttft": lone.quantiles["ttft"][0].value,
        "decode": lone.quantiles["decode"][0].value,
        "throughput": None if full is None else full.arms[row.name].throughput.value,
        "memory": float(arm.memory[0].peak_bytes) if memory and arm.memory else None,
    }
    return _Row(row.name, row.verdict, row.accuracy, figures)
