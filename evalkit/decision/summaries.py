"""Plain rates of each arm and each scope: what a reader looks at beside the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evalkit.decision.attribution import transition
from evalkit.decision.pairing import Answer, Pair
from evalkit.estimates import Cells, Estimate
from evalkit.results import ArmSummary, MetricResult, ScopeResult
from evalkit.stats.mcnemar import mcnemar_exact, mcnemar_midp
from evalkit.stats.rates import wilson
from evalkit.stats.recovery import recovery
from evalkit.types import Outcome, ScoreStatus


def arm_summary(
    answers: Sequence[Answer], *, missing: int, hallucination: Sequence[Answer]
) -> ArmSummary:
    """Summarize one arm.

    Args:
        answers: The arm's answers in complete pairs.
        missing: How many of its requests have no answer.
        hallucination: Those of `answers` where abstaining was possible.
    """
    outcomes = Counter([answer.outcome for answer in answers])
    statuses = Counter([answer.score.status for answer in answers])
    flags = Counter([flag.value for answer in answers for flag in answer.score.flags])
    counted = [answer.completion.usage.completion_tokens for answer in answers]
    tokens = [tokens for tokens in counted if tokens is not None]
    n = len(answers)
    correct = sum([answer.value or 0.0 for answer in answers])
    rates = _hallucination_rates(hallucination)
    return ArmSummary(
        n=n,
        correct=outcomes[Outcome.CORRECT],
        incorrect=outcomes[Outcome.INCORRECT],
        abstained=outcomes[Outcome.ABSTAINED],
        accuracy=wilson(correct, n),
        hallucination=rates[0],
        abstention=rates[1],
        hallucination_attempted=rates[2],
        flags=dict(sorted(flags.items())),
        unscored=statuses[ScoreStatus.UNSCORED],
        missing=missing,
        mean_completion_tokens=sum(tokens) / len(tokens) if tokens else None,
    )


def scope_result(
    scope: str,
    pairs: Sequence[Pair],
    *,
    hallucination_tasksets: frozenset[str],
    accuracy: MetricResult,
    hallucination: MetricResult | None,
) -> ScopeResult:
    """Put everything about one scope together."""
    complete = [pair for pair in pairs if pair.complete]
    may_abstain = [pair for pair in complete if pair.sample.taskset in hallucination_tasksets]
    counts = Counter(transition(pair) for pair in complete)
    flips = Cells(
        both=counts["both_right"],
        gained=counts["improvement"],
        lost=counts["regression"],
        neither=counts["both_wrong"],
    )
    return ScopeResult(
        scope=scope,
        baseline=arm_summary(
            [pair.baseline for pair in complete],
            missing=sum(pair.baseline.missing for pair in pairs),
            hallucination=[pair.baseline for pair in may_abstain],
        ),
        candidate=arm_summary(
            [pair.candidate for pair in complete],
            missing=sum(pair.candidate.missing for pair in pairs),
            hallucination=[pair.candidate for pair in may_abstain],
        ),
        flips=flips,
        recovery=recovery(flips.both, flips.gained, flips.lost, flips.n),
        mcnemar_exact=mcnemar_exact(flips.gained, flips.lost),
        mcnemar_midp=mcnemar_midp(flips.gained, flips.lost),
        accuracy=accuracy,
        hallucination=hallucination,
        identical_texts=sum(pair.same_text for pair in complete),
    )


def _hallucination_rates(
    answers: Sequence[Answer],
) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """Return I / n, N / n and I / (C + I); `None` where abstaining was never possible."""
    if not answers:
        return None, None, None
    counts = Counter(answer.outcome for answer in answers)
    wrong, attempted = (
        counts[Outcome.INCORRECT],
        counts[Outcome.CORRECT] + counts[Outcome.INCORRECT],
    )
    n = len(answers)
    return wilson(wrong, n), wilson(counts[Outcome.ABSTAINED], n), wilson(wrong, attempted)
