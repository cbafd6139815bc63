"""One metric in one scope: its difference, its tests, and what it would need to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalkit.decision.needed import prompts_needed
from evalkit.decision.tables import Table, TableName, binary_cells, differences
from evalkit.estimates import Cells, Estimate
from evalkit.policy import Policy
from evalkit.results import MetricName, MetricResult, MetricState
from evalkit.stats.engine import (
    PairedSummary,
    engine_degradation,
    engine_interval,
    engine_noninferiority,
    summarize,
)
from evalkit.stats.multiplicity import holm
from evalkit.stats.pooling import mover, mover_degradation, mover_noninferiority

MIN_CLUSTERS = 10


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
    parts = _summaries(tables, "CC")
    n = sum(part.n for part in parts)
    n_missing = sum(len(table.baseline) for table in tables) - n
    cells = _cells(plan.metric, tables)
    if not parts:
        return _nothing(plan, n_missing)
    worst, best = _summaries(tables, "WORST"), _summaries(tables, "BEST")
    enough = sum(part.n_clusters for part in parts) >= MIN_CLUSTERS
    p_ni = _noninferiority(parts, plan.margin)
    p_worst = _noninferiority(worst, plan.margin)
    p_degraded = _degradation(best, plan.margin)
    passes = _below(p_ni, policy.alpha)
    noninferior = enough and passes and _below(p_worst, policy.alpha)
    result = MetricResult(
        metric=plan.metric,
        scope=plan.scope,
        n=n,
        margin=plan.margin,
        difference=_signed(plan.metric, _interval(parts, 0.95)),
        difference_90=_signed(plan.metric, _interval(parts, 1 - 2 * policy.alpha)),
        cells=cells,
        p_noninferior=p_ni,
        p_noninferior_worst=p_worst,
        p_degraded=p_degraded,
        p_degraded_adjusted=None,
        gated=plan.gated,
        noninferior=noninferior,
        degraded=False,
        state=MetricState.TOO_FEW,
        n_missing=n_missing,
    )
    if noninferior:
        return result
    needed = prompts_needed(parts, margin=plan.margin, policy=policy)
    code = "MISSING_SENSITIVE" if enough and passes else _power_code(n, needed.floor)
    return replace(result, prompts_needed=needed, code=code)


def settle(results: Sequence[MetricResult], policy: Policy) -> list[MetricResult]:
    """Apply Holm over all metrics, then name each state (STATISTICS.md, rule 2, step 1)."""
    tested = [
        (index, result.p_degraded)
        for index, result in enumerate(results)
        if result.p_degraded is not None and _decidable(result)
    ]
    adjusted = dict(zip([index for index, _ in tested], holm([p for _, p in tested]), strict=True))
    settled = []
    for index, result in enumerate(results):
        p_value = adjusted.get(index)
        degraded = p_value is not None and p_value <= policy.alpha
        marked = replace(result, p_degraded_adjusted=p_value, degraded=degraded)
        settled.append(replace(marked, state=_state(marked)))
    return settled


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


def _summaries(tables: Sequence[Table], name: TableName) -> list[PairedSummary]:
    parts = [differences(table, name) for table in tables]
    return [summarize(d, clusters) for d, clusters in parts if len(d)]


def _interval(parts: Sequence[PairedSummary], confidence_level: float) -> Estimate:
    if len(parts) == 1:
        return engine_interval(parts[0], confidence_level=confidence_level)
    return mover(parts, confidence_level=confidence_level)


def _noninferiority(parts: Sequence[PairedSummary], margin: float) -> float | None:
    if len(parts) == 1:
        return engine_noninferiority(parts[0], margin=margin).pvalue
    return mover_noninferiority(parts, margin=margin).pvalue


def _degradation(parts: Sequence[PairedSummary], margin: float) -> float | None:
    if len(parts) == 1:
        return engine_degradation(parts[0], margin=margin).pvalue
    return mover_degradation(parts, margin=margin).pvalue


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
