"""Which requests should speculate: routes, each with the rule and the figures that gave it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalkit.estimates import Estimate
from evalkit.performance import Point
from evalkit.probe.crossover import standing
from evalkit.probe.speculation import Heard, drafted_of
from evalkit.probe.speculation_summary import ratio
from evalkit.probe.summary import by_number
from evalkit.speculation import OFF, WORKLOADS, Metric, Route, SpeculativeArm, Standing
from evalkit.stats.ratios import paired_ratio

INTERACTIVE = ("short_reasoning", "code_review", "long_output", "tool_results")
"""Kinds of work of a single user who waits: neither long inputs nor templates."""

LONG_PROMPT = 1000
"""Tokens from which a prompt is called long."""

_Compare = Callable[[str, str], Estimate]


@dataclass(frozen=True, slots=True)
class Group:
    """All that is known of one build.

    Attributes:
        heard: By label, the one without speculation among them where there is one.
        arms: Summed up, by label.
        points: Prompts of exact length, for the long prompt.
        answer_tokens: Of the short answer.
        seed: Of resampling.
    """

    heard: Mapping[str, Heard]
    arms: Mapping[str, SpeculativeArm]
    points: Sequence[Point]
    answer_tokens: int
    seed: int

    @property
    def labels(self) -> list[str]:
        """Who speculates, from the shallowest draft where all depths are known."""
        labels = [label for label in self.arms if label != OFF]
        depths = {label: self.arms[label].depth for label in labels}
        if None in depths.values():
            return labels
        return sorted(labels, key=lambda label: depths[label] or 0)


def routes_of(group: Group) -> tuple[Route, ...]:
    """Return what to do with each kind of request."""
    return (
        _by_decode(group, "interactive", INTERACTIVE),
        _long_prompt(group),
        _batch(group),
        *(_by_decode(group, name, (name,)) for name in WORKLOADS),
    )


def _by_decode(group: Group, case: str, workloads: Sequence[str]) -> Route:
    """Decide by the speed of single requests on some kinds of work."""
    off = group.heard.get(OFF)
    if off is None:
        return _unmeasured(case, "decode", 1, _acceptance(group, workloads))
    made = {
        metric: {
            label: ratio(group.heard[label], off, metric, group.seed, workloads)
            for label in group.labels
        }
        for metric in ("decode", "ttft")
    }

    def compare(deep: str, shallow: str) -> Estimate:
        heard = group.heard
        return ratio(heard[deep], heard[shallow], "decode", group.seed, workloads)

    chosen = _choose(made["decode"], compare, low_is_good=False)
    return Route(
        case,
        chosen.label,
        chosen.standing,
        chosen.rule,
        "decode",
        concurrency=1,
        ratios=made["decode"],
        ttft=made["ttft"],
        acceptance=_acceptance(group, workloads),
        deeper=chosen.deeper,
    )


def _batch(group: Group) -> Route:
    """Decide by the throughput under the heaviest load."""
    levels = {
        level
        for label in group.labels
        for level, arm in group.arms[label].loads.items()
        if level > 1 and arm.ratio is not None and arm.ratio.value is not None
    }
    if not levels:
        return _unmeasured("batch", "throughput", None, {})
    level = max(levels)
    ratios = {
        label: found
        for label in group.labels
        if level in group.arms[label].loads
        and (found := group.arms[label].loads[level].ratio) is not None
    }

    def compare(deep: str, shallow: str) -> Estimate:
        return _quotient(ratios[deep], ratios[shallow])

    chosen = _choose(ratios, compare, low_is_good=False)
    return Route(
        "batch",
        chosen.label,
        chosen.standing,
        chosen.rule,
        "throughput",
        concurrency=level,
        ratios=ratios,
        deeper=chosen.deeper,
    )


def _long_prompt(group: Group) -> Route:
    """Decide by the time to the end of a short answer to the longest prompt."""
    case = "long_prompt_short_answer"
    closed = [p for p in group.points if p.load.mode == "closed" and p.context >= LONG_PROMPT]
    off = group.arms.get(OFF)
    point = max(closed, key=lambda one: (one.context, -one.load.level), default=None)
    if off is None or point is None or off.arm not in point.arms:
        return _unmeasured(case, "answer", 1, {})
    names = {label: group.arms[label].arm for label in group.labels}
    names = {label: arm for label, arm in names.items() if arm in point.arms}
    answers, firsts = (
        {
            label: _of_rounds(point, arm, off.arm, seconds, group.seed)
            for label, arm in names.items()
        }
        for seconds in (_answer(group.answer_tokens), _ttft)
    )

    def compare(deep: str, shallow: str) -> Estimate:
        seconds = _answer(group.answer_tokens)
        return _of_rounds(point, names[deep], names[shallow], seconds, group.seed)

    chosen = _choose(answers, compare, low_is_good=True)
    rule = "careful" if chosen.rule == "unclear" else chosen.rule
    return Route(
        case,
        chosen.label,
        chosen.standing,
        rule,
        "answer",
        context=point.context,
        concurrency=int(point.load.level),
        ratios=answers,
        ttft=firsts,
        deeper=chosen.deeper,
    )


_Seconds = Callable[[Mapping[str, float | None]], float | None]


def _answer(tokens: int) -> _Seconds:
    """Seconds to the end of an answer of so many tokens."""

    def seconds(medians: Mapping[str, float | None]) -> float | None:
        first, each = medians.get("ttft"), medians.get("tpot")
        return None if first is None or each is None else first + (tokens - 1) * each

    return seconds


def first_tokens(points: Sequence[Point], arm: str, off: str, seed: int) -> Mapping[int, Estimate]:
    """Return the time to the first token against that without speculation, by prompt length."""
    lightest: dict[int, Point] = {}
    for point in points:
        if point.load.mode == "closed" and {arm, off} <= point.arms.keys():
            known = lightest.setdefault(point.context, point)
            lightest[point.context] = min(known, point, key=lambda one: one.load.level)
    return {
        context: _of_rounds(point, arm, off, _ttft, seed) for context, point in lightest.items()
    }


def _ttft(medians: Mapping[str, float | None]) -> float | None:
    return medians.get("ttft")


def _of_rounds(point: Point, arm: str, other: str, seconds: _Seconds, seed: int) -> Estimate:
    sides = [by_number(point.arms[name]) for name in (other, arm)]
    pairs = [
        (seconds(before), seconds(sides[1][number]))
        for number, before in sides[0].items()
        if number in sides[1]
    ]
    known = [(b, c) for b, c in pairs if b and c]
    return paired_ratio(
        [b for b, _ in known], [c for _, c in known], rng=np.random.default_rng(seed)
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    label: str | None
    standing: Standing
    rule: str
    deeper: Estimate | None = None


def _choose(ratios: Mapping[str, Estimate], compare: _Compare, *, low_is_good: bool) -> _Chosen:
    """Take the shallowest draft that is shown to pay, and a deeper one only if that pays more.

    Args:
        ratios: To no speculation, by label, from the shallowest.
        compare: Returns the ratio of a deeper one to a shallower.
        low_is_good: Whether the figures are seconds.
    """
    stands = {label: standing(one, low_is_good=low_is_good) for label, one in ratios.items()}
    measured = [label for label, one in stands.items() if one != "not_measured"]
    if not measured:
        return _Chosen(None, "not_measured", "not_measured")
    winners = [label for label in measured if stands[label] == "faster"]
    if not winners:
        told = {stands[label] for label in measured}
        if told == {"few"}:
            return _Chosen(None, "few", "few")
        word: Standing = "slower" if told == {"slower"} else "unclear"
        return _Chosen(OFF, word, word)
    best, deeper = winners[0], None
    for label in winners[1:]:
        found = compare(label, best)
        if deeper is None:
            deeper = found
        if standing(found, low_is_good=low_is_good) == "faster":
            best, deeper = label, found
    rule = "deeper" if best != winners[0] else "faster"
    return _Chosen(best, "faster", rule, deeper)


def _quotient(one: Estimate, other: Estimate) -> Estimate:
    """Return one ratio ÷ another of the same denominator; its ends are those of the extremes."""
    if not one.value or not other.value:
        return Estimate(None, None, None, one.method, 0)
    low = one.low / other.high if one.low is not None and other.high else None
    high = one.high / other.low if one.high is not None and other.low else None
    return Estimate(one.value / other.value, low, high, one.method, min(one.n, other.n))


def _acceptance(group: Group, workloads: Sequence[str]) -> Mapping[str, float]:
    return dict(_rates(group, workloads))


def _rates(group: Group, workloads: Sequence[str]) -> Iterator[tuple[str, float]]:
    for label in group.labels:
        counts = [one for name in workloads for one in drafted_of(group.heard[label].answers, name)]
        drafted = sum(one.drafted for one in counts)
        if drafted:
            yield label, sum(one.accepted for one in counts) / drafted


def _unmeasured(
    case: str, metric: Metric, concurrency: int | None, acceptance: Mapping[str, float]
) -> Route:
    return Route(
        case,
        None,
        "not_measured",
        "not_measured",
        metric,
        concurrency=concurrency,
        acceptance=acceptance or None,
    )
