"""One metric in one scope: its difference, its tests, and what it would need to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalkit.decision.evidence import interval, parts_of, read
from evalkit.decision.further import needed_by_plan
from evalkit.decision.missing import imputed, tipping_point
from evalkit.decision.tables import Table, TableName, binary_cells
from evalkit.estimates import Cells, Estimate
from evalkit.policy import Policy
from evalkit.results import MetricName, MetricResult, MetricState, MissingData
from evalkit.stats.multiplicity import holm

MIN_CLUSTERS = 10
_BOUNDS: tuple[TableName, TableName] = ("WORST", "BEST")


@dataclass(frozen=True, slots=True)
class MetricPlan:
    """What is asked of one metric: margin as a fraction, and whether it gates."""

    metric: MetricName
    scope: str
    margin: float
    gated: bool


def measure(plan: MetricPlan, tables: Sequence[Table], policy: Policy) -> MetricResult:
    """Estimate and test one metric.

    Args:
        plan: Metric, scope and margin.
        tables: One table, or one a family, pooled with equal weights (MOVER).
        policy: Levels and power.

    Returns:
        The result before Holm: `degraded` is still `False`; see `settle`.
    """
    parts = parts_of(tables, "CC")
    n = sum(part.summary.n for part in parts)
    n_missing = sum(len(table.baseline) for table in tables) - n
    if not parts:
        return _nothing(plan, n_missing)
    complete = read(tables, "CC", plan.margin, policy)
    worst, best = complete, complete
    if n_missing:
        worst, best = (read(tables, name, plan.margin, policy) for name in _BOUNDS)
    enough = sum(part.summary.n_clusters for part in parts) >= MIN_CLUSTERS
    passes = _below(complete.noninferior, policy.alpha)
    noninferior = enough and passes and _below(worst.noninferior, policy.alpha)
    result = MetricResult(
        metric=plan.metric,
        scope=plan.scope,
        n=n,
        margin=plan.margin,
        difference=_signed(plan.metric, interval(tables, plan.margin, policy, 0.95)),
        difference_90=_signed(
            plan.metric, interval(tables, plan.margin, policy, 1 - 2 * policy.alpha)
        ),
        cells=_cells(plan.metric, tables),
        p_noninferior=complete.noninferior,
        p_noninferior_worst=worst.noninferior,
        p_degraded=best.degraded[-1] if best.degraded else None,
        p_degraded_adjusted=None,
        gated=plan.gated,
        noninferior=noninferior,
        degraded=False,
        state=MetricState.TOO_FEW,
        n_missing=n_missing,
        p_degraded_looks=best.degraded,
        stage_statistics=complete.stages,
        missing=_missing(plan, tables, policy) if n_missing else None,
    )
    if noninferior:
        return result
    needed = needed_by_plan(parts, complete, margin=plan.margin, policy=policy)
    code = "MISSING_SENSITIVE" if enough and passes else _power_code(n, needed.floor)
    needed = replace(needed, repeats=max(table.repeats for table in tables))
    return replace(result, prompts_needed=needed, code=code)


def settle(results: Sequence[MetricResult], policy: Policy) -> list[MetricResult]:
    """Apply Holm over all metrics, then name each state (STATISTICS.md, rule 2, step 1)."""
    looks = [_looks(result) if _decidable(result) else () for result in results]
    lowest = [1.0] * len(results)
    for look in range(max(map(len, looks), default=0)):
        tested = [index for index, found in enumerate(looks) if look < len(found)]
        adjusted = holm([looks[index][look] for index in tested])
        for index, p_value in zip(tested, adjusted, strict=True):
            lowest[index] = min(lowest[index], p_value)
    # Each of two stages has half of the level.
    stages = 2 if policy.plan == "two-stage" else 1
    settled = []
    for result, found, p_value in zip(results, looks, lowest, strict=True):
        corrected = min(1.0, stages * p_value) if found else None
        degraded = corrected is not None and corrected <= policy.alpha
        marked = replace(result, p_degraded_adjusted=corrected, degraded=degraded)
        settled.append(replace(marked, state=_state(marked)))
    return settled


def _looks(result: MetricResult) -> tuple[float, ...]:
    if result.p_degraded_looks or result.p_degraded is None:
        return result.p_degraded_looks
    return (result.p_degraded,)


def _decidable(result: MetricResult) -> bool:
    units = result.difference.n_clusters or result.difference.n
    return units >= MIN_CLUSTERS


def _state(result: MetricResult) -> MetricState:
    if not _decidable(result) or result.difference.low is None or result.difference.high is None:
        return MetricState.TOO_FEW
    low, high = result.difference.low, result.difference.high
    if result.metric != "accuracy":
        low, high = -high, -low
    if result.degraded:
        return MetricState.INFERIOR
    if result.noninferior:
        if low > 0:
            return MetricState.SUPERIOR
        return MetricState.NONINFERIOR_WORSE if high < 0 else MetricState.NONINFERIOR
    return MetricState.INCONCLUSIVE_WORSE if high < 0 else MetricState.INCONCLUSIVE


def _missing(plan: MetricPlan, tables: Sequence[Table], policy: Policy) -> MissingData:
    """Say what the missing answers could do, in the metric's own sign."""
    level = 1 - 2 * policy.alpha
    worst, best, itt = (
        _signed(plan.metric, interval(imputed(tables, name), plan.margin, policy, level))
        for name in (*_BOUNDS, "ITT")
    )
    return MissingData(worst, best, itt, tipping_point(tables, plan.margin, policy))


def _signed(metric: MetricName, estimate: Estimate) -> Estimate:
    """Turn a difference in goodness into a difference of the metric itself."""
    if metric == "accuracy":
        return estimate
    return replace(
        estimate,
        value=_negated(estimate.value),
        low=_negated(estimate.high),
        high=_negated(estimate.low),
    )


def _negated(value: float | None) -> float | None:
    # Adding zero turns -0.0 into 0.0, which would print as a loss of nothing.
    return None if value is None else -value + 0.0


def _cells(metric: MetricName, tables: Sequence[Table]) -> Cells | None:
    counted = [binary_cells(table) for table in tables]
    if any(cells is None for cells in counted):
        return None
    known = [cells for cells in counted if cells is not None]
    total = Cells(
        both=sum(c.both for c in known),
        gained=sum(c.gained for c in known),
        lost=sum(c.lost for c in known),
        neither=sum(c.neither for c in known),
    )
    if metric == "accuracy":
        return total
    # Goodness is the event's absence, so what goodness lost the event gained.
    return Cells(both=total.neither, gained=total.lost, lost=total.gained, neither=total.both)


def _below(pvalue: float | None, alpha: float) -> bool:
    return pvalue is not None and pvalue <= alpha


def _power_code(n: int, floor: int) -> str:
    return "UNPROVABLE_N" if n < floor else "UNDERPOWERED"


def _nothing(plan: MetricPlan, n_missing: int) -> MetricResult:
    none = Estimate(None, None, None, "none", 0, warnings=("no_complete_pair",))
    return MetricResult(
        metric=plan.metric,
        scope=plan.scope,
        n=0,
        margin=plan.margin,
        difference=none,
        difference_90=none,
        cells=None,
        p_noninferior=None,
        p_noninferior_worst=None,
        p_degraded=None,
        p_degraded_adjusted=None,
        gated=plan.gated,
        noninferior=False,
        degraded=False,
        state=MetricState.TOO_FEW,
        code="NOTHING_PAIRED",
        n_missing=n_missing,
    )
