"""A probe's result for readers: tables, remarks, and what a candidate buys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalkit.estimates import Estimate
from evalkit.performance import ArmPoint, MeasuredArm, Performance, Point, Remark, Slo
from evalkit.report import numbers
from evalkit.report.flat import date
from evalkit.report.performance_model import PerformanceBlock
from evalkit.report.performance_numbers import Write, duration, estimate, rate, times
from evalkit.report.pieces import Table
from evalkit.report.speculation import speculation_tables
from evalkit.report.text import one_line
from evalkit.report.words import Words

_TIMES = ("ttft", "itl", "e2e")
_WRITE: dict[str, Write] = {
    "ttft": duration,
    "itl": duration,
    "tpot": duration,
    "e2e": duration,
    "decode": rate,
    "prefill": rate,
}
_RATIOS = ("ttft", "tpot", "e2e", "decode", "prefill", "throughput")
_HOUR, _MILLION = 3600.0, 1e6


def performance_block(
    words: Words, found: Performance, first: Table | None = None
) -> PerformanceBlock:
    """Return a probe's result as sentences and tables; `first` leads them."""
    settings = found.settings
    lead = words(
        "perf.lead",
        date=date(found.created),
        repeats=one_line(str(settings.get("repeats", numbers.DASH))),
        tokens=one_line(str(settings.get("output_tokens", numbers.DASH))),
    )
    tables = (
        *speculation_tables(words, found),
        _ratios(words, found),
        _medians(words, found),
        _served(words, found),
        _tails(words, found),
        _rounds(words, found),
        _memory(words, found.arms),
    )
    remarks = dict.fromkeys(_remark(words, remark) for remark in found.remarks)
    shown = (table for table in (first, *tables) if table is not None and table.rows)
    return PerformanceBlock(lead, tuple(shown), tuple(remarks))


def _remark(words: Words, remark: Remark) -> str:
    key, facts = f"perf.remark.{remark.code}", dict(remark.values)
    try:
        return words(key, **{name: one_line(value) for name, value in facts.items()})
    except KeyError:
        # Of another version of evalkit: better its code than nothing.
        told = ", ".join(f"{name} {value}" for name, value in facts.items())
        return one_line(f"{remark.code}: {told}")


def where(words: Words, point: Point) -> str:
    """Name a point: `1,024 tokens, 2 in flight`."""
    context = numbers.count(point.context)
    return words(f"perf.where.{point.load.mode}", context=context, level=f"{point.load.level:g}")


def single(points: Sequence[Point]) -> Point:
    """Return the lightest load at the shortest context."""
    closed = [point for point in points if point.load.mode == "closed"]
    return min(closed or points, key=lambda point: (point.context, point.load.level))


def busiest(points: Sequence[Point]) -> Point | None:
    """Return the point with the most requests in flight, where that is more than one."""
    closed = [p for p in points if p.load.mode == "closed" and p.load.level > 1]
    return max(closed, key=lambda point: (point.load.level, -point.context), default=None)


def cost_per_million(price: float | None, throughput: float | None) -> float | None:
    """Return the price of a million tokens, from that of an hour."""
    if price is None or not throughput:
        return None
    return price / (throughput * _HOUR) * _MILLION


def price_of(found: Performance, arm: str) -> float | None:
    """Return the price of an hour of one arm: its own, else the one for all."""
    return found.prices.get(arm, found.price)


def prices_of(found: Performance, *arms: str) -> tuple[float, ...] | None:
    """Return the prices of arms; `None` when one of them has none."""
    known = [price for arm in arms if (price := price_of(found, arm)) is not None and price > 0]
    return tuple(known) if len(known) == len(arms) else None


def cost_ratio(throughput: Estimate, prices: float) -> Estimate:
    """Return the ratio of costs from those of throughput and of prices."""

    def turned(value: float | None) -> float | None:
        return prices / value if value else None

    low, high = turned(throughput.high), turned(throughput.low)
    return replace(throughput, value=turned(throughput.value), low=low, high=high)


def _ratios(words: Words, found: Performance) -> Table:
    baseline = one_line(found.arms[0].name)
    rows = [
        (
            f"{one_line(name)}: {where(words, point)}",
            *(
                estimate(ratios[metric], times) if metric in ratios else numbers.DASH
                for metric in _RATIOS
            ),
        )
        for name in [arm.name for arm in found.arms[1:]]
        for point in found.points
        if (ratios := point.ratios.get(name))
    ]
    columns = [words(f"perf.metric.{metric}") for metric in _RATIOS]
    caption = words("perf.table.ratios", baseline=baseline)
    return Table(caption, (words("perf.col.point"), *columns), tuple(rows))


def _medians(words: Words, found: Performance) -> Table:
    metrics = ("ttft", "itl", "decode", "prefill", "e2e")
    rows = tuple(
        (
            f"{one_line(name)}: {where(words, point)}",
            *(estimate(arm.quantiles[metric][0], _WRITE[metric]) for metric in metrics),
        )
        for point, name, arm in _arms(found)
    )
    columns = (words("perf.col.point"), *(words(f"perf.col.{key}") for key in metrics))
    return Table(words("perf.table.medians"), columns, rows)


def _served(words: Words, found: Performance) -> Table:
    """What came out of it all, and at what cost."""
    keys = ["throughput", "requests", "answered"]
    keys += ["goodput"] if found.slo is not None else []
    keys += ["cost"] if found.price is not None or found.prices else []
    rows = []
    for point, name, arm in _arms(found):
        cells = {
            "throughput": estimate(arm.throughput, rate),
            "requests": rate(arm.requests_per_second.value),
            "answered": _answered(arm),
            "goodput": _goodput(words, arm),
            "cost": rate(cost_per_million(price_of(found, name), arm.throughput.value)),
        }
        rows.append((f"{one_line(name)}: {where(words, point)}", *(cells[key] for key in keys)))
    columns = (words("perf.col.point"), *(words(f"perf.col.{key}") for key in keys))
    caption = words("perf.table.served", slo=_target(words, found.slo))
    return Table(caption, columns, tuple(rows), words=(3,))


def _tails(words: Words, found: Performance) -> Table:
    rows = [
        (
            f"{one_line(name)}: {where(words, point)}",
            words(f"perf.metric.{metric}"),
            *(estimate(value, _WRITE[metric]) for value in arm.quantiles[metric]),
        )
        for point, name, arm in _arms(found)
        for metric in _TIMES
        if arm.quantiles[metric][0].value is not None
    ]
    columns = (words("perf.col.point"), words("perf.col.what"), "p50", "p90", "p95", "p99")
    return Table(words("perf.table.tails"), columns, tuple(rows), words=(1,))


def _rounds(words: Words, found: Performance) -> Table:
    """Both measures of a first round that was an outlier."""
    rows = []
    for point, name, arm in _arms(found):
        first = next((one for one in arm.repeats if one.replaced), None)
        again = next((one for one in arm.repeats if one.again), None)
        if not arm.odd_first or first is None or again is None:
            continue
        for key, one in (("first", first), ("again", again)):
            medians = one.medians
            rows.append(
                (
                    f"{one_line(name)}: {where(words, point)}",
                    words(f"perf.round.{key}"),
                    duration(medians.get("ttft")),
                    rate(medians.get("decode")),
                    duration(medians.get("e2e")),
                    rate(one.throughput),
                )
            )
    keys = ("point", "round", "ttft", "decode", "e2e", "throughput")
    columns = tuple(words(f"perf.col.{key}") for key in keys)
    return Table(words("perf.table.rounds"), columns, tuple(rows), words=(1,))


def _memory(words: Words, arms: Sequence[MeasuredArm]) -> Table:
    rows = tuple(
        (
            one_line(arm.name),
            numbers.size(memory.peak_bytes),
            words.name("perf.memory", one_line(memory.source)),
            numbers.count(memory.processes),
        )
        for arm in arms
        for memory in arm.memory
    )
    keys = ("arm", "peak", "source", "processes")
    columns = tuple(words(f"perf.col.{key}") for key in keys)
    return Table(words("perf.table.memory"), columns, rows, words=(2,))


def _arms(found: Performance) -> Iterator[tuple[Point, str, ArmPoint]]:
    # Not in the order of the mapping: JSON keeps none.
    for point in found.points:
        for arm in found.arms:
            if arm.name in point.arms:
                yield point, arm.name, point.arms[arm.name]


def _answered(arm: ArmPoint) -> str:
    text = f"{numbers.count(arm.n_answered)} / {numbers.count(arm.n_requests)}"
    kinds = ", ".join(f"{one_line(kind)} {numbers.count(n)}" for kind, n in arm.failures.items())
    return f"{text} ({kinds})" if kinds else text


def _goodput(words: Words, arm: ArmPoint) -> str:
    if arm.goodput is None:
        return numbers.DASH
    share = arm.goodput.share
    ends = numbers.interval(numbers.bare_percent(share.low), numbers.bare_percent(share.high))
    per_second = words("perf.per_second", rate=rate(arm.goodput.per_second))
    return f"{numbers.percent(share.value)} {ends}, {per_second}"


def _target(words: Words, slo: Slo | None) -> str:
    if slo is None:
        return ""
    parts = (("ttft", slo.ttft), ("tpot", slo.itl), ("e2e", slo.e2e))
    told = ", ".join(
        f"{words(f'perf.metric.{key}')} ≤ {duration(value)}"
        for key, value in parts
        if value is not None
    )
    return words("perf.target", target=told)
