"""Step 0 of the decision rule: may anything be decided at all?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalkit.decision.attribution import ran_out
from evalkit.decision.groups import calibration_of, judges_of
from evalkit.decision.metrics import MIN_CLUSTERS
from evalkit.decision.pairing import Answer, Pair, Pairing
from evalkit.policy import Policy
from evalkit.results import MetricName, MetricResult, ReasonCode
from evalkit.stats.judge import MIN_LABELS, MIN_YOUDEN
from evalkit.stats.mcnemar import mcnemar_exact, mcnemar_midp
from evalkit.types import ScoreStatus, Taskset

_DIFFERS = 0.01
_JUDGED_METRICS: Sequence[MetricName] = ("accuracy", "hallucination")


def invalid_because(
    pairing: Pairing, metrics: Sequence[MetricResult], policy: Policy
) -> tuple[ReasonCode, ...]:
    """Return every reason why nothing may be decided; empty when the comparison is valid."""
    if not pairing.pairs:
        return (ReasonCode("NOTHING_PAIRED", values=pairing.counts()),)
    codes: list[ReasonCode] = []
    if pairing.exclusions:
        codes.append(ReasonCode("PAIRING_BROKEN", values=pairing.counts()))
    codes.extend(_insensitive(pairing.pairs))
    codes.extend(_missing(pairing.pairs, policy))
    codes.extend(_truncation(pairing.pairs, policy))
    codes.extend(_few_clusters(metrics))
    return tuple(codes)


def weak_judges(
    tasksets: Sequence[Taskset], policy: Policy, judged: Mapping[str, str] | None = None
) -> tuple[ReasonCode, ...]:
    """Return the judges on which no decision should rest.

    Args:
        tasksets: What was asked.
        policy: With the calibrations.
        judged: Tasksets that a judge did decide, with the judge's mark: one that was never
            calibrated, or another one than was, is as weak as any.
    """
    least = {"least_youden": MIN_YOUDEN, "least_labels": MIN_LABELS}
    codes = []
    for name, _ in judges_of(tasksets, policy):
        found = [calibration_of(name, policy, of) for of in _JUDGED_METRICS]
        # One code a taskset, for the metric that it knows least about.
        worst = min((one for one in found if one is not None), key=lambda one: one.youden)
        if any(one is not None and one.weak for one in found):
            labels = worst.n_right + worst.n_wrong
            told = {"taskset": name, "youden": worst.youden, "labels": labels, **least}
            codes.append(ReasonCode("JUDGE_WEAK", values=told))
    for name, mark in sorted((judged or {}).items()):
        known = policy.judges.get(name)
        if known is None:
            codes.append(ReasonCode("JUDGE_WEAK", values={"taskset": name, "labels": 0, **least}))
        elif known.judge is not None and known.judge != mark:
            told = {"taskset": name, "calibrated": known.judge, "used": mark}
            codes.append(ReasonCode("JUDGE_WEAK", values=told))
    return tuple(codes)


def _insensitive(pairs: Sequence[Pair]) -> list[ReasonCode]:
    """Prompts that nothing can be lost on prove nothing, however many they are."""
    complete = [pair for pair in pairs if pair.complete]
    if complete and not any(pair.baseline.value for pair in complete):
        return [ReasonCode("BASELINE_ZERO", values={"n": len(complete)})]
    return []


def _missing(pairs: Sequence[Pair], policy: Policy) -> list[ReasonCode]:
    n = len(pairs)
    baseline = sum(pair.baseline.missing for pair in pairs)
    candidate = sum(pair.candidate.missing for pair in pairs)
    values = {"baseline": baseline, "candidate": candidate, "n": n}
    codes = []
    if max(baseline, candidate) > policy.max_missing / 100 * n:
        failed = sum(
            answer.score.status is ScoreStatus.ERROR
            for pair in pairs
            for answer in (pair.baseline, pair.candidate)
        )
        unjudged = sum(
            (answer.score.reason or "").startswith("judge:")
            for pair in pairs
            for answer in (pair.baseline, pair.candidate)
        )
        # A scorer that fails is a fault of the taskset, and a judge is one of its own: no
        # endpoint that is compared can mend them.
        if 2 * failed > baseline + candidate:
            codes.append(ReasonCode("SCORERS_FAILED", values={"n": failed}))
        elif 2 * unjudged > baseline + candidate:
            codes.append(ReasonCode("JUDGE_FAILED", values={"n": unjudged}))
        else:
            limit = {**values, "limit": policy.max_missing}
            codes.append(ReasonCode("ERROR_RATE_HIGH", values=limit))
    only_candidate = sum(p.candidate.missing and not p.baseline.missing for p in pairs)
    only_baseline = sum(p.baseline.missing and not p.candidate.missing for p in pairs)
    p_value = mcnemar_exact(only_candidate, only_baseline).pvalue
    if p_value is not None and p_value < _DIFFERS:
        codes.append(ReasonCode("ERROR_RATE_DIFFERS", values={**values, "p": p_value}))
    return codes


def _truncation(pairs: Sequence[Pair], policy: Policy) -> list[ReasonCode]:
    baseline = _truncated([pair.baseline for pair in pairs])
    candidate = _truncated([pair.candidate for pair in pairs])
    values: Mapping[str, float] = {
        "baseline": baseline[0],
        "candidate": candidate[0],
        "n_baseline": baseline[1],
        "n_candidate": candidate[1],
        "limit": policy.max_truncation,
    }
    rate = max(count / n if n else 0.0 for count, n in (baseline, candidate)) * 100
    complete = [pair for pair in pairs if pair.complete]
    gained = sum(ran_out(p.candidate) and not ran_out(p.baseline) for p in complete)
    lost = sum(ran_out(p.baseline) and not ran_out(p.candidate) for p in complete)
    p_value = mcnemar_midp(gained, lost).pvalue
    differs = p_value is not None and p_value < _DIFFERS and rate > policy.truncation_differs
    if rate > policy.max_truncation or differs:
        code = "TRUNCATION_DIFFERS" if differs and rate <= policy.max_truncation else "TRUNCATION"
        return [ReasonCode(code, values={**values, "p": p_value})]
    return []


def _truncated(answers: Sequence[Answer]) -> tuple[int, int]:
    answered = [answer for answer in answers if not answer.missing]
    return sum(map(ran_out, answered)), len(answered)


def _few_clusters(metrics: Sequence[MetricResult]) -> list[ReasonCode]:
    return [
        ReasonCode(
            "FEW_CLUSTERS",
            metric.scope,
            metric.metric,
            {"clusters": metric.difference.n_clusters or metric.n, "needed": MIN_CLUSTERS},
        )
        for metric in metrics
        if metric.gated and (metric.difference.n_clusters or metric.n) < MIN_CLUSTERS
    ]
