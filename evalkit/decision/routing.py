"""The mix of both arms: some families to the candidate, the others kept on the baseline.

In a family that the baseline keeps the mix is the baseline, so its difference is zero by
construction and carries no noise. What is left to prove is that the routed families do not
lose more than the pooled margins allow, at their weight in the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.decision.groups import ALL_AT_ONCE, group_tables
from evalkit.decision.metrics import MetricPlan, measure
from evalkit.decision.pairing import Pair
from evalkit.estimates import Estimate
from evalkit.policy import Policy
from evalkit.results import POOLED, CandidateResult, MetricName, MetricResult, ScopeResult
from evalkit.stats.multiplicity import holm
from evalkit.tasksets.drawing import Drawing

# A margin must stay below 1; a share so small that it would not cannot lose too much.
_LARGEST_MARGIN = 0.999


@dataclass(frozen=True, slots=True)
class Route:
    """Which families go where, and what was shown about it.

    Attributes:
        routed: Families that are themselves non-inferior; empty when none is.
        kept: The others.
        mix: Pooled accuracy of the mix against the baseline; `None` without routed families.
        proven: Whether every pooled metric of the mix is non-inferior at its margin.
    """

    routed: tuple[str, ...]
    kept: tuple[str, ...]
    mix: MetricResult | None
    proven: bool


def find_route(
    result: CandidateResult,
    by_family: Mapping[str, Sequence[Pair]],
    abstaining: frozenset[str],
    *,
    avoid: frozenset[str],
    policy: Policy,
    drawing: Drawing = ALL_AT_ONCE,
) -> Route | None:
    """Route what may be routed, and test the mix with the gate's own tests.

    A family is routed when it has the whole of its own proof, accuracy and hallucination,
    with and without the missing answers, after Holm over the families: they are chosen
    among several, so the level of one does not do. The mix is chosen after the answers were
    seen; fresh prompts are the confirmation.

    Args:
        result: With families and their tests.
        by_family: All pairs.
        abstaining: Tasksets in which abstaining was possible.
        avoid: Families with a loss; without one there is nothing to route around.
        policy: Level and pooled margins.
        drawing: In which stage and order the prompts were asked.
    """
    if not avoid:
        return None
    scopes = [scope for scope in result.families if by_family[scope.scope]]
    proofs = [_proof(scope) for scope in scopes]
    adjusted = holm(proofs)
    routed = tuple(
        scope.scope
        for scope, p_value in zip(scopes, adjusted, strict=True)
        if p_value <= policy.alpha and _noninferior(scope) and scope.scope not in avoid
    )
    kept = tuple(scope.scope for scope in scopes if scope.scope not in routed)
    if not routed:
        return Route((), kept, None, False)
    metrics = _mix(routed, by_family, abstaining, policy, drawing)
    return Route(routed, kept, metrics[0], all(metric.noninferior for metric in metrics))


def _mix(
    routed: Sequence[str],
    by_family: Mapping[str, Sequence[Pair]],
    abstaining: frozenset[str],
    policy: Policy,
    drawing: Drawing,
) -> list[MetricResult]:
    """Test the mix: accuracy first, then the other pooled metrics."""
    asked = {family: pairs for family, pairs in by_family.items() if pairs}
    can_abstain = {
        family: [pair for pair in pairs if pair.sample.taskset in abstaining]
        for family, pairs in asked.items()
    }
    can_abstain = {family: pairs for family, pairs in can_abstain.items() if pairs}
    margins = policy.margins
    groups = [asked[family] for family in routed]
    every = [pair for group in groups for pair in group]
    total = sum(len(pairs) for pairs in asked.values())
    tests = [
        _scaled("accuracy", margins.accuracy, groups, len(groups) / len(asked), policy, drawing),
        _scaled("degenerate", margins.degenerate, [every], len(every) / total, policy, drawing),
    ]
    groups = [can_abstain[family] for family in routed if family in can_abstain]
    if groups:
        share = len(groups) / len(can_abstain)
        margin = margins.hallucination
        tests.append(_scaled("hallucination", margin, groups, share, policy, drawing))
    return tests


def _scaled(
    metric: MetricName,
    margin: float,
    groups: Sequence[Sequence[Pair]],
    share: float,
    policy: Policy,
    drawing: Drawing,
) -> MetricResult:
    """Test the routed part at the margin that it may use up, and say it for the whole."""
    tables = group_tables(groups, metric, policy, drawing)
    own = min(margin / 100 / share, _LARGEST_MARGIN)
    found = measure(MetricPlan(metric, POOLED, own, True), tables, policy)
    return replace(
        found,
        margin=margin / 100,
        difference=_times(found.difference, share),
        difference_90=_times(found.difference_90, share),
    )


def _times(estimate: Estimate, share: float) -> Estimate:
    value, low, high = (
        None if end is None else end * share
        for end in (estimate.value, estimate.low, estimate.high)
    )
    return replace(estimate, value=value, low=low, high=high)


def _proof(scope: ScopeResult) -> float:
    """The largest p-value that a family's non-inferiority rests on; 1 where one is lacking."""
    pvalues = [
        p_value
        for metric in (scope.accuracy, scope.hallucination)
        if metric is not None
        for p_value in (metric.p_noninferior, metric.p_noninferior_worst)
    ]
    return max(1.0 if p_value is None else p_value for p_value in pvalues)


def _noninferior(scope: ScopeResult) -> bool:
    rise = scope.hallucination
    return scope.accuracy.noninferior and (rise is None or rise.noninferior)
