"""Plain rates of each arm and each scope: what a reader looks at beside the tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from evalkit.decision.attribution import transition
from evalkit.decision.pairing import Answer, Pair
from evalkit.decision.tables import Codes, build_table, differences
from evalkit.estimates import Cells, Estimate, TestResult
from evalkit.results import ArmSummary, MetricResult, ScopeResult
from evalkit.stats.cluster_checks import obuchowski
from evalkit.stats.mcnemar import mcnemar_exact, mcnemar_midp
from evalkit.stats.rates import wilson_clustered
from evalkit.stats.recovery import recovery, recovery_graded
from evalkit.types import Outcome, ScoreStatus


def arm_summary(
    answers: Sequence[Answer],
    units: Sequence[Hashable],
    *,
    missing: int,
    may_abstain: Sequence[bool],
) -> ArmSummary:
    """Summarize one arm.

    Args:
        answers: The arm's answers in complete pairs.
        units: Names the independent unit of each: repeats of a prompt are of one.
        missing: How many of its requests have no answer.
        may_abstain: Whether abstaining was possible, for each answer.
    """
    outcomes = Counter([answer.outcome for answer in answers])
    statuses = Counter([answer.score.status for answer in answers])
    flags = Counter([flag.value for answer in answers for flag in answer.score.flags])
    counted = [answer.completion.usage.completion_tokens for answer in answers]
    tokens = [tokens for tokens in counted if tokens is not None]
    n = len(answers)
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(unit, len(numbers)) for unit in units], dtype=np.int64)
    values = np.array([answer.value or 0.0 for answer in answers], dtype=np.float64)
    rates = _hallucination_rates(answers, codes, np.array(may_abstain, dtype=np.bool_))
    return ArmSummary(
        n=n,
        correct=outcomes[Outcome.CORRECT],
        incorrect=outcomes[Outcome.INCORRECT],
        abstained=outcomes[Outcome.ABSTAINED],
        accuracy=wilson_clustered(values, codes),
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
    counts = Counter(transition(pair) for pair in complete)
    flips = Cells(
        both=counts["both_right"],
        gained=counts["improvement"],
        lost=counts["regression"],
        neither=counts["both_wrong"],
    )
    units = [pair.unit for pair in complete]
    abstaining = [pair.sample.taskset in hallucination_tasksets for pair in complete]
    ratio, exact, midp = _paired(complete, flips)
    return ScopeResult(
        scope=scope,
        baseline=arm_summary(
            [pair.baseline for pair in complete],
            units,
            missing=sum(pair.baseline.missing for pair in pairs),
            may_abstain=abstaining,
        ),
        candidate=arm_summary(
            [pair.candidate for pair in complete],
            units,
            missing=sum(pair.candidate.missing for pair in pairs),
            may_abstain=abstaining,
        ),
        flips=flips,
        recovery=ratio,
        mcnemar_exact=exact,
        mcnemar_midp=midp,
        accuracy=accuracy,
        hallucination=hallucination,
        identical_texts=sum(pair.same_text for pair in complete),
        transitions=_transitions(
            [pair for pair, may in zip(complete, abstaining, strict=True) if may]
        ),
    )


def _transitions(pairs: Sequence[Pair]) -> tuple[tuple[int, ...], ...] | None:
    counts = Counter((pair.baseline.outcome, pair.candidate.outcome) for pair in pairs)
    order = (Outcome.CORRECT, Outcome.INCORRECT, Outcome.ABSTAINED)
    return tuple(tuple(counts[old, new] for new in order) for old in order) if pairs else None


def _paired(complete: Sequence[Pair], flips: Cells) -> tuple[Estimate, TestResult, TestResult]:
    """Return recovery and McNemar's two tests; of prompts, where they were asked repeatedly."""
    if not any(pair.epoch for pair in complete):
        return (
            recovery(flips.both, flips.gained, flips.lost, flips.n),
            mcnemar_exact(flips.gained, flips.lost),
            mcnemar_midp(flips.gained, flips.lost),
        )
    # Repeats are not independent: Fieller with the prompt as unit, and Obuchowski's McNemar.
    table = build_table(complete, "accuracy")
    d, clusters = differences(table, "CC")
    units = np.arange(d.size) if clusters is None else clusters
    test = obuchowski(d, units)
    return recovery_graded(table.candidate, table.baseline, units), test, test


def _hallucination_rates(
    answers: Sequence[Answer], codes: Codes, may_abstain: NDArray[np.bool_]
) -> tuple[Estimate | None, Estimate | None, Estimate | None]:
    """Return I / n, N / n and I / (C + I); `None` where abstaining was never possible."""
    if not may_abstain.any():
        return None, None, None
    wrong = np.array([answer.outcome is Outcome.INCORRECT for answer in answers], np.float64)
    silent = np.array([answer.outcome is Outcome.ABSTAINED for answer in answers], np.float64)
    attempted = may_abstain & (silent == 0)
    return (
        wilson_clustered(wrong[may_abstain], codes[may_abstain]),
        wilson_clustered(silent[may_abstain], codes[may_abstain]),
        wilson_clustered(wrong[attempted], codes[attempted]),
    )
