"""What a candidate buys, from a probe that measured the very builds that are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.estimates import Estimate
from evalkit.performance import ArmPoint, MeasuredArm, Memory, Performance, Point
from evalkit.report import numbers
from evalkit.report.performance import busiest, cost_per_million, single, where
from evalkit.report.performance_model import CandidateGains
from evalkit.report.performance_numbers import Write, duration, ends_of, estimate, rate, times
from evalkit.report.pieces import GainRow
from evalkit.report.text import one_line
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
_SURE = 1.0


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
        elif not _same(arm.identity, info):
            differing.append(info.endpoint)
    if not any(info.endpoint in measured for info in comparison.candidates):
        differing += [info.endpoint for info in comparison.candidates]
    return tuple(dict.fromkeys(differing))


def candidate_gains(
    words: Words, found: Performance | None, comparison: Comparison, result: CandidateResult
) -> CandidateGains | None:
    """Return what one candidate buys; `None` when it was not measured beside the baseline."""
    baseline = comparison.baseline.endpoint
    if found is None or baseline != found.arms[0].name:
        return None
    points = [
        point
        for point in found.points
        if result.endpoint in point.ratios and baseline in point.arms
    ]
    if not points:
        return None
    arms = {arm.name: arm for arm in found.arms}
    rows = tuple(_rows(words, found, points, arms[baseline], arms[result.endpoint]))
    facts = list(_facts(words, points, result.endpoint))
    memory = _memories(arms[baseline], arms[result.endpoint])
    if memory is not None:
        ratio = memory[1].peak_bytes / memory[0].peak_bytes
        facts.append(words("perf.bought.memory", ratio=times(ratio)))
    sentence = ""
    if facts:
        sentence = words(
            "perf.bought",
            candidate=one_line(result.endpoint),
            facts=words("perf.join").join(facts),
        )
    note = words("gains.measured", where=where(words, single(points)))
    return CandidateGains(rows, note, sentence)


def _same(identity: Mapping[str, Any], info: ArmInfo) -> bool:
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
        yield GainRow(label, write(old.value), write(new.value), change, ends)
    if full is not None and found.price is not None:
        costs = [
            cost_per_million(found.price, full.arms[arm.name].throughput.value)
            for arm in (before, after)
        ]
        label = f"{words('perf.col.cost')}{words('perf.at.level', level=f'{full.load.level:g}')}"
        yield GainRow(label, rate(costs[0]), rate(costs[1]), numbers.change(*costs))
    memory = _memories(before, after)
    if memory is not None:
        sizes = [one.peak_bytes for one in memory]
        label = words("perf.col.peak")
        old_size, new_size = map(numbers.size, sizes)
        yield GainRow(label, old_size, new_size, numbers.change(*sizes))


def _figure(arm: ArmPoint, metric: str) -> Estimate:
    return arm.throughput if metric == "throughput" else arm.quantiles[metric][0]


def _facts(words: Words, points: Sequence[Point], candidate: str) -> Iterator[str]:
    lone, full = single(points), busiest(points)
    chosen = [("decode", lone), ("ttft", lone)]
    if full is not None:
        chosen.append(("throughput", full))
    for metric, point in chosen:
        ratio = point.ratios[candidate][metric]
        if ratio.value is None:
            continue
        known = ratio.low is not None and ratio.high is not None
        sure = known and not (ratio.low or 0) <= _SURE <= (ratio.high or 0)
        key = f"perf.bought.{metric}" if sure else f"perf.unsure.{metric}"
        yield words(key, ratio=estimate(ratio, times), where=where(words, point))


def _memories(before: MeasuredArm, after: MeasuredArm) -> tuple[Memory, Memory] | None:
    """The first kind of reading that both have."""
    for one in before.memory:
        for other in after.memory:
            if one.source == other.source and one.peak_bytes > 0:
                return one, other
    return None
