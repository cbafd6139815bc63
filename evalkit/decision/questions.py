"""What the gate will test over a prompt set: one question a metric and scope."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.decision.sizes import smoothed_flips
from evalkit.policy import Policy
from evalkit.results import POOLED, CandidateResult, Comparison, MetricName, MetricResult


@dataclass(frozen=True, slots=True)
class PromptSet:
    """The size of one taskset.

    Attributes:
        prompts: Prompts that are asked.
        independent: Units among them; fewer where prompts share a passage or an entity.
        margin: Of its family, a fraction.
    """

    family: str
    prompts: int
    independent: int
    margin: float
    may_abstain: bool


@dataclass(frozen=True, slots=True)
class Part:
    """One family's share of a question: independent pairs, and the share that flips."""

    n: int
    flip_rate: float


@dataclass(frozen=True, slots=True)
class Question:
    """One metric in one scope, as the gate will test it. Margin as a fraction."""

    metric: MetricName
    scope: str
    margin: float
    gated: bool
    parts: tuple[Part, ...]

    @property
    def n(self) -> int:
        """Independent pairs."""
        return sum(part.n for part in self.parts)

    @property
    def flip_rate(self) -> float:
        """Share of pairs that flip, with equal weights as in the pooled score."""
        return math.fsum(part.flip_rate for part in self.parts) / len(self.parts)

    def with_flip_rate(self, rate: float) -> Question:
        """Return the question with one flip rate for every part."""
        return replace(self, parts=tuple(replace(part, flip_rate=rate) for part in self.parts))

    def with_flips(self, factor: float) -> Question:
        """Return the question with every part's flip rate times a factor, at most 1."""
        parts = (replace(p, flip_rate=min(1.0, factor * p.flip_rate)) for p in self.parts)
        return replace(self, parts=tuple(parts))


def questions_of_sets(
    sets: Sequence[PromptSet],
    policy: Policy,
    *,
    accuracy_flips: Mapping[str, float],
    hallucination_flips: Mapping[str, float],
    degenerate_flips: float,
) -> tuple[Question, ...]:
    """List what the gate will test over these prompts.

    Args:
        sets: At least one.
        policy: Margins, and from which size on a family gates.
        accuracy_flips: Share of pairs that flip, by family.
        hallucination_flips: The same for hallucination, by family.
        degenerate_flips: The same for degenerate output, over all answers.
    """
    families = list(dict.fromkeys(one.family for one in sets))
    abstaining = [one for one in sets if one.may_abstain]

    def parts(of: Sequence[PromptSet], flips: Mapping[str, float]) -> tuple[Part, ...]:
        grouped = {f: [one for one in of if one.family == f] for f in families}
        return tuple(
            Part(sum(one.independent for one in group), flips[family])
            for family, group in grouped.items()
            if group
        )

    margins = policy.margins
    accuracy = parts(sets, accuracy_flips)
    questions = [Question("accuracy", POOLED, margins.accuracy / 100, True, accuracy)]
    if abstaining:
        pooled = parts(abstaining, hallucination_flips)
        questions.append(
            Question("hallucination", POOLED, margins.hallucination / 100, True, pooled)
        )
    everything = (Part(sum(part.n for part in accuracy), degenerate_flips),)
    questions.append(Question("degenerate", POOLED, margins.degenerate / 100, True, everything))
    for family in families:
        own = [one for one in sets if one.family == family]
        margin, gated = _family_margin(family, own, policy)
        questions.append(Question("accuracy", family, margin, gated, parts(own, accuracy_flips)))
        can_abstain = parts([one for one in own if one.may_abstain], hallucination_flips)
        if can_abstain:
            questions.append(Question("hallucination", family, margin, gated, can_abstain))
    return tuple(questions)


def questions_of_comparison(comparison: Comparison) -> tuple[Question, ...]:
    """List what the gate tested, with the flips that it found.

    The flips are smoothed as in `needed`: none seen does not mean that there are none.
    With several candidates each question takes the one that flips most.
    """
    most: dict[tuple[MetricName, str], Question] = {}
    for result in comparison.results:
        for question in _questions_of_candidate(result):
            key = question.metric, question.scope
            if key not in most or question.flip_rate > most[key].flip_rate:
                most[key] = question
    return tuple(most.values())


def _family_margin(family: str, own: Sequence[PromptSet], policy: Policy) -> tuple[float, bool]:
    critical = {name.value: margin for name, margin in policy.margins.families.items()}
    if family in critical:
        return critical[family] / 100, True
    prompts = sum(one.prompts for one in own)
    return min(one.margin for one in own), prompts >= policy.guard_min_pairs


def _questions_of_candidate(result: CandidateResult) -> list[Question]:
    families = [scope for scope in result.families if scope.accuracy.n]
    by_metric: dict[MetricName, list[MetricResult]] = {
        "accuracy": [scope.accuracy for scope in families],
        "hallucination": [
            scope.hallucination
            for scope in families
            if scope.hallucination is not None and scope.hallucination.n
        ],
    }
    by_transition = {scope.scope: scope.flips for scope in families}

    def part(metric: MetricResult, share: float) -> Part:
        # Graded values have no cells; their flips are read from the outcomes.
        cells = metric.cells or by_transition.get(metric.scope)
        flips, n = (cells.gained + cells.lost, cells.n) if cells is not None else (0, 0)
        rate = smoothed_flips(flips, n, share)
        return Part(metric.difference.n_clusters or metric.n, rate)

    def question(metric: MetricResult, of: Sequence[MetricResult]) -> Question:
        n = sum(one.n for one in of)
        parts = tuple(part(one, one.n / n) for one in of)
        return Question(metric.metric, metric.scope, metric.margin, metric.gated, parts)

    if not families:
        return []
    questions = [question(result.pooled.accuracy, by_metric["accuracy"])]
    if result.pooled.hallucination is not None and by_metric["hallucination"]:
        questions.append(question(result.pooled.hallucination, by_metric["hallucination"]))
    questions.append(question(result.degenerate, [result.degenerate]))
    for scope in families:
        questions.append(question(scope.accuracy, [scope.accuracy]))
        if scope.hallucination is not None and scope.hallucination.n:
            questions.append(question(scope.hallucination, [scope.hallucination]))
    return questions
