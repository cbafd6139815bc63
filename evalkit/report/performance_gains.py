"""What a candidate buys, from a probe that measured the very builds that are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.estimates import Estimate
from evalkit.performance import ArmPoint, MeasuredArm, Memory, Performance, Point
from evalkit.report import numbers
from evalkit.report.capacity_store import Fits
from evalkit.report.performance import (
    busiest,
    cost_per_million,
    cost_ratio,
    prices_of,
    single,
    where,
)
from evalkit.report.performance_model import CandidateGains
from evalkit.report.performance_numbers import Write, duration, ends_of, rate, times
from evalkit.report.pieces import GainRow
from evalkit.report.trade import Fact, fit_facts, fit_rows, ratio_fact, size_fact, trade_sentence
from evalkit.report.words import Words
from evalkit.results import ArmInfo, CandidateResult, Comparison

# What makes two builds two: as far as both tell.
_TELLING = (
    "kind",
    "model",
    "engine",
    "engine_version",
    "quantization",
    "weights_hash",
    "weights_bytes",
    "command_hash",
)


def other_builds(found: Performance | None, comparison: Comparison) -> tuple[str, ...]:
    """Return the arms of a comparison that a probe did not measure, or as another build.

    Then it does not belong to the comparison. Candidates may be missing, but not all of them.
    """
    if found is None:
        return ()
    measured = {arm.name: arm for arm in found.arms}
    differing = []
    for info in (comparison.baseline, *comparison.candidates):
        arm = measured.get(info.endpoint)
        if arm is None:
            if info is comparison.baseline:
                differing.append(info.endpoint)
        elif not same_build(arm.identity, info):
            differing.append(info.endpoint)
    if not any(info.endpoint in measured for info in comparison.candidates):
        differing += [info.endpoint for info in comparison.candidates]
    return tuple(dict.fromkeys(differing))


def candidate_gains(
    words: Words,
    found: Performance | None,
    fits: Fits | None,
    comparison: Comparison,
    result: CandidateResult,
) -> CandidateGains | None:
    """Return what one candidate buys, and at what price.

    `None` when it was not measured beside the baseline and no capacity plan knows it.
    """
    baseline = comparison.baseline.endpoint
    rows: list[GainRow] = []
    facts: list[Fact] = []
    notes = []
    points = _common_points(found, baseline, result.endpoint)
    if found is not None and points:
        arms = {arm.name: arm for arm in found.arms}
        before, after = arms[baseline], arms[result.endpoint]
        rows += _rows(words, found, points, before, after)
        facts += _facts(words, found, points, result.endpoint)
        facts += _sizes(words, comparison, result, _memories(before, after))
        notes.append(words("gains.measured", where=where(words, single(points))))
    if fits is not None and result.endpoint in fits.arms:
        rows += fit_rows(words, fits, baseline, result.endpoint)
        facts += fit_facts(words, fits, baseline, result.endpoint)
        notes.append(words("gains.counted"))
    if not rows:
        return None
    # Without a measurement of speed, nobody can say that nothing is gained.
    told = bool(points) or any(fact.kind == "gain" for fact in facts)
    sentence = trade_sentence(words, result, facts) if told else ""
    gap = "" if words.lang == "zh" else " "
    return CandidateGains(tuple(rows), gap.join(notes), sentence, bool(points))


def _common_points(found: Performance | None, baseline: str, candidate: str) -> list[Point]:
    if found is None or baseline != found.arms[0].name:
        return []
    return [p for p in found.points if candidate in p.ratios and baseline in p.arms]


def same_build(identity: Mapping[str, Any], info: ArmInfo) -> bool:
    """Whether what was measured is what was compared, as far as both tell."""
    return all(
        identity.get(key) == info.identity.get(key)
        for key in _TELLING
        if identity.get(key) is not None and info.identity.get(key) is not None
    )


def _rows(
    words: Words,
    found: Performance,
    points: Sequence[Point],
    before: MeasuredArm,
    after: MeasuredArm,
) -> Iterator[GainRow]:
    lone, full = single(points), busiest(points)
    chosen = [("ttft", lone, ""), ("decode", lone, ""), ("e2e", lone, "")]
    longest = max(points, key=lambda point: point.context)
    if longest.context > lone.context:
        told = words("perf.at.context", context=numbers.count(longest.context))
        chosen.append(("ttft", longest, told))
    if full is not None:
        told = words("perf.at.level", level=f"{full.load.level:g}")
        chosen.append(("throughput", full, told))
    for metric, point, told in chosen:
        write: Write = rate if metric in ("decode", "throughput") else duration
        old, new = (_figure(point.arms[arm.name], metric) for arm in (before, after))
        if old.value is None and new.value is None:
            continue
        ratio = point.ratios[after.name][metric]
        label = f"{words(f'perf.metric.{metric}')}{told}"
        change, ends = times(ratio.value), ends_of(ratio, times)
        minor = metric == "e2e"
        yield GainRow(label, write(old.value), write(new.value), change, ends, minor)
    if full is not None and (prices := prices_of(found, before.name, after.name)) is not None:
        costs = [
            cost_per_million(price, full.arms[arm.name].throughput.value)
            for price, arm in zip(prices, (before, after), strict=True)
        ]
        label = f"{words('gain.cost')}{_level(words, full)}"
        yield GainRow(label, rate(costs[0]), rate(costs[1]), numbers.change(*costs))
    memory = _memories(before, after)
    if memory is not None:
        sizes = [one.peak_bytes for one in memory]
        label = words("perf.col.peak")
        old_size, new_size = map(numbers.size, sizes)
        yield GainRow(label, old_size, new_size, numbers.change(*sizes))


def _figure(arm: ArmPoint, metric: str) -> Estimate:
    return arm.throughput if metric == "throughput" else arm.quantiles[metric][0]


def _facts(
    words: Words, found: Performance, points: Sequence[Point], candidate: str
) -> Iterator[Fact]:
    lone, full = single(points), busiest(points)
    chosen = [("decode", lone), ("ttft", lone)]
    if full is not None:
        chosen.append(("throughput", full))
    for metric, point in chosen:
        told = _level(words, point) if point is full else ""
        fact = ratio_fact(words, metric, point.ratios[candidate][metric], told)
        if fact is not None:
            yield fact
    prices = prices_of(found, found.arms[0].name, candidate)
    if full is not None and prices is not None:
        ratio = cost_ratio(full.ratios[candidate]["throughput"], prices[1] / prices[0])
        fact = ratio_fact(words, "cost", ratio, _level(words, full))
        if fact is not None:
            yield fact


def _level(words: Words, point: Point) -> str:
    return words("perf.at.level", level=f"{point.load.level:g}")


def _sizes(
    words: Words,
    comparison: Comparison,
    result: CandidateResult,
    memory: tuple[Memory, Memory] | None,
) -> Iterator[Fact]:
    """The peak of memory; where nobody read it, the size of the weights."""
    if memory is not None:
        yield size_fact(words, "memory", memory[0].peak_bytes, memory[1].peak_bytes)
        return
    infos = {info.endpoint: info for info in (comparison.baseline, *comparison.candidates)}
    sizes = [
        infos[name].identity.get("weights_bytes")
        for name in (comparison.baseline.endpoint, result.endpoint)
        if name in infos
    ]
    known = [size for size in sizes if isinstance(size, int) and size > 0]
    if len(known) == 2:
        yield size_fact(words, "weights", *known)


def _memories(before: MeasuredArm, after: MeasuredArm) -> tuple[Memory, Memory] | None:
    """The first kind of reading that both have."""
    for one in before.memory:
        for other in after.memory:
            if one.source == other.source and one.peak_bytes > 0:
                return one, other
    return None
