"""One candidate against the baseline, from pairs to a result with a verdict of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.decision.attribution import causes_by_family, ran_out
from evalkit.decision.further import stage_two_due
from evalkit.decision.groups import ALL_AT_ONCE, group_tables, judges_of
from evalkit.decision.lengths import length_curves
from evalkit.decision.metrics import MIN_CLUSTERS, MetricPlan, measure, settle
from evalkit.decision.missing import find_reruns
from evalkit.decision.noise import flips_high, measure_noise
from evalkit.decision.pairing import Answer, Key, Pair, Pairing
from evalkit.decision.remedies import find_remedies, lossy_families
from evalkit.decision.routing import find_route
from evalkit.decision.samples import sample_views
from evalkit.decision.slices import find_slices
from evalkit.decision.summaries import scope_result
from evalkit.decision.tables import Table, is_degenerate
from evalkit.decision.validity import invalid_because, weak_judges
from evalkit.decision.verdict import decide, with_flips
from evalkit.noisefloor import NoiseFloor
from evalkit.policy import Policy
from evalkit.results import (
    POOLED,
    CandidateResult,
    MetricName,
    MetricResult,
    ReasonCode,
    ScopeResult,
    Threat,
    Verdict,
    VerdictState,
)
from evalkit.tasksets.drawing import Drawing
from evalkit.types import ScoreStatus, Taskset


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rule says of a pairing: every metric, settled, and the verdict."""

    metrics: tuple[MetricResult, ...]
    verdict: Verdict


def decide_pairs(
    pairing: Pairing,
    tasksets: Sequence[Taskset],
    policy: Policy,
    *,
    confounders: Sequence[ReasonCode] = (),
    drawing: Drawing = ALL_AT_ONCE,
    judged: Mapping[str, str] | None = None,
) -> Decision:
    """Test every metric and decide: the whole rule, and nothing that is only for readers.

    Args:
        pairing: The candidate's answers joined to the baseline's.
        tasksets: What was asked, in the order of the report.
        policy: Fixed before the run.
        confounders: Reasons found elsewhere why nothing may be decided: arms that differ in
            more than the quantization, a look beyond the plan.
        drawing: In which stage and order the prompts were asked.
        judged: Tasksets that a judge decided, with the mark of the judge.
    """
    abstaining = _abstaining(tasksets)
    by_family = _by_family(pairing.pairs, tasksets)
    plans = _plans(by_family, abstaining, tasksets, policy)
    metrics = settle(
        [
            measure(plan, _tables(plan, by_family, abstaining, policy, drawing), policy)
            for plan in plans
        ],
        policy,
    )
    invalid = (
        *confounders,
        *invalid_because(pairing, metrics, policy),
        *weak_judges(tasksets, policy, judged),
    )
    verdict = decide(metrics, invalid)
    due = stage_two_due(metrics, tasksets, policy, drawing)
    if due is not None and verdict.state is VerdictState.INCONCLUSIVE:
        verdict = replace(verdict, codes=(*verdict.codes, due))
    return Decision(tuple(metrics), verdict)


def compare_pairs(
    endpoint: str,
    pairing: Pairing,
    tasksets: Sequence[Taskset],
    policy: Policy,
    *,
    confounders: Sequence[ReasonCode] = (),
    drawing: Drawing = ALL_AT_ONCE,
    temperature: float = 0.0,
    repeats: Mapping[Key, Answer] | None = None,
    judged: Mapping[str, str] | None = None,
) -> CandidateResult:
    """Estimate, test and decide.

    Args:
        endpoint: Name of the candidate.
        pairing: Its answers joined to the baseline's.
        tasksets: What was asked, in the order of the report.
        policy: Fixed before the run.
        confounders: As for `decide_pairs`.
        drawing: As for `decide_pairs`.
        temperature: That both arms were sampled at: remedies depend on it.
        repeats: What the baseline answered when it was asked again (see `noise`).
        judged: As for `decide_pairs`.
    """
    abstaining = _abstaining(tasksets)
    by_family = _by_family(pairing.pairs, tasksets)
    decision = decide_pairs(
        pairing, tasksets, policy, confounders=confounders, drawing=drawing, judged=judged
    )
    by_judge = {*policy.judges, *(judged or ())}
    found: dict[tuple[MetricName, str], MetricResult] = {
        (result.metric, result.scope): result for result in decision.metrics
    }

    def scope(name: str, pairs: Sequence[Pair]) -> ScopeResult:
        return scope_result(
            name,
            pairs,
            hallucination_tasksets=abstaining,
            accuracy=found["accuracy", name],
            hallucination=found.get(("hallucination", name)),
        )

    views, left_out = sample_views(pairing.pairs, judged=by_judge)
    result = CandidateResult(
        endpoint=endpoint,
        verdict=decision.verdict,
        pooled=scope(POOLED, pairing.pairs),
        families=tuple(scope(family, pairs) for family, pairs in by_family.items()),
        degenerate=found["degenerate", POOLED],
        exclusions=pairing.counts(),
        threats=(*_threats(pairing), *_judged(tasksets, policy)),
        causes=causes_by_family(pairing.pairs, by_judge),
        samples=views,
        samples_left_out=left_out,
        reruns=find_reruns(pairing.pairs),
    )
    noise = measure_noise(pairing.pairs, repeats or {}, temperature=temperature)
    if noise is not None:
        result = _with_noise(result, noise, policy)
    if result.verdict.state is not VerdictState.INVALID:
        result = replace(
            result, slices=find_slices(pairing.pairs), lengths=length_curves(pairing.pairs)
        )
    route = find_route(
        result,
        by_family,
        abstaining,
        avoid=lossy_families(result),
        policy=policy,
        drawing=drawing,
    )
    remedies = find_remedies(result, policy=policy, temperature=temperature, route=route)
    return replace(result, remedies=remedies)


def _abstaining(tasksets: Sequence[Taskset]) -> frozenset[str]:
    return frozenset(t.name for t in tasksets if t.measures_hallucination)


def _by_family(pairs: Sequence[Pair], tasksets: Sequence[Taskset]) -> dict[str, list[Pair]]:
    families: dict[str, list[Pair]] = {taskset.family.value: [] for taskset in tasksets}
    for pair in pairs:
        families[pair.sample.family.value].append(pair)
    return families


def _plans(
    by_family: Mapping[str, Sequence[Pair]],
    abstaining: frozenset[str],
    tasksets: Sequence[Taskset],
    policy: Policy,
) -> list[MetricPlan]:
    margins = policy.margins
    plans = [MetricPlan("accuracy", POOLED, margins.accuracy / 100, True)]
    if any(_may_abstain(pairs, abstaining) for pairs in by_family.values()):
        plans.append(MetricPlan("hallucination", POOLED, margins.hallucination / 100, True))
    plans.append(MetricPlan("degenerate", POOLED, margins.degenerate / 100, True))
    critical = {family.value: margin for family, margin in margins.families.items()}
    for family, pairs in by_family.items():
        own = min(t.margin for t in tasksets if t.family.value == family)
        margin = critical.get(family, own) / 100
        prompts = {(p.sample.taskset, p.sample.id) for p in pairs if p.complete}
        gated = family in critical or len(prompts) >= policy.guard_min_pairs
        plans.append(MetricPlan("accuracy", family, margin, gated))
        if _may_abstain(pairs, abstaining):
            plans.append(MetricPlan("hallucination", family, margin, gated))
    return plans


def _may_abstain(pairs: Sequence[Pair], abstaining: frozenset[str]) -> list[Pair]:
    return [pair for pair in pairs if pair.sample.taskset in abstaining]


def _tables(
    plan: MetricPlan,
    by_family: Mapping[str, Sequence[Pair]],
    abstaining: frozenset[str],
    policy: Policy,
    drawing: Drawing,
) -> list[Table]:
    groups = list(by_family.values()) if plan.scope == POOLED else [by_family[plan.scope]]
    if plan.metric == "degenerate":
        # A share of all answers: its floor of prompts counts them all, so it is not averaged.
        groups = [[pair for pairs in groups for pair in pairs]]
    if plan.metric == "hallucination":
        groups = [_may_abstain(pairs, abstaining) for pairs in groups]
    return group_tables(groups, plan.metric, policy, drawing)


def _judged(tasksets: Sequence[Taskset], policy: Policy) -> Iterator[Threat]:
    """Say where a model judged, so that the margins were tightened by its errors."""
    for name, judge in judges_of(tasksets, policy):
        values = {
            "taskset": name,
            "sensitivity": judge.sensitivity,
            "specificity": judge.specificity,
            "youden": judge.youden,
            "labels": judge.n_right + judge.n_wrong,
        }
        yield Threat("JUDGED", "fail" if judge.weak else "warn", values)


def _threats(pairing: Pairing) -> tuple[Threat, ...]:
    """List what could make the verdict wrong, good news included."""
    pairs = pairing.pairs
    complete = [pair for pair in pairs if pair.complete]
    identical = sum(pair.same_text for pair in complete)
    excluded = len(pairing.exclusions)
    arms = [pair.baseline for pair in pairs], [pair.candidate for pair in pairs]
    return (
        Threat(
            "COVERAGE",
            "ok" if len(complete) == len(pairs) else "warn",
            {"complete": len(complete), "planned": len(pairs) + excluded},
        ),
        Threat("EXCLUSIONS", "fail" if excluded else "ok", {"n": excluded, **pairing.counts()}),
        _two_sided("MISSING", *arms, lambda answer: answer.missing),
        _two_sided("TRUNCATED", *arms, ran_out),
        _two_sided("DEGENERATE", *arms, is_degenerate),
        _two_sided("UNSCORED", *arms, _scores_as(ScoreStatus.UNSCORED)),
        _two_sided("SCORER_ERRORS", *arms, _scores_as(ScoreStatus.ERROR)),
        Threat(
            "IDENTICAL_TEXTS",
            "warn" if complete and identical == len(complete) else "ok",
            {"identical": identical, "n": len(complete)},
        ),
        Threat("MISSING_REASONS", "ok", _reasons(pairs)),
        Threat("NOISE_FLOOR", "warn"),
    )


def _with_noise(result: CandidateResult, noise: NoiseFloor, policy: Policy) -> CandidateResult:
    """Put the measured noise floor in the place of the one that was not measured."""
    flips, high = noise.pooled.repeat_flips, flips_high(noise, policy)
    values = {
        "n": flips.n,
        "rate": flips.value,
        "low_rate": flips.low,
        "high_rate": flips.high,
        "same_rate": noise.pooled.same_text.value,
    }
    few = flips.n < MIN_CLUSTERS
    measured = Threat("NOISE_FLOOR", "warn" if high or few else "ok", values)
    verdict = result.verdict
    if high:
        verdict = with_flips(verdict, noise.pooled.excess, policy.excess_flips / 100)
    return replace(
        result,
        noise=noise,
        verdict=verdict,
        threats=tuple(measured if t.code == "NOISE_FLOOR" else t for t in result.threats),
    )


def _scores_as(status: ScoreStatus) -> Callable[[Answer], bool]:
    return lambda answer: answer.score.status is status


def _two_sided(
    code: str,
    baseline: Sequence[Answer],
    candidate: Sequence[Answer],
    holds: Callable[[Answer], bool],
) -> Threat:
    before, after = sum(map(holds, baseline)), sum(map(holds, candidate))
    return Threat(
        code,
        "warn" if before or after else "ok",
        {"baseline": before, "candidate": after, "n": len(baseline)},
    )


def _reasons(pairs: Sequence[Pair]) -> dict[str, int]:
    reasons = Counter(
        answer.score.reason or "unknown"
        for pair in pairs
        for answer in (pair.baseline, pair.candidate)
        if answer.missing
    )
    return dict(sorted(reasons.items()))
