"""What a plan reads from the tables of one metric: p-values that alpha is held against.

A plan says how often one may look. Each turns the tables into p-values of its own kind, so
that "at most alpha" means the same under all of them:

- `single`: the score test.
- `two-stage`: the score tests of stage 1 and of the new prompts alone, combined with equal
  weights, a tenth of the level spent on stage 1 (Bauer & Koehne 1994).
- `sequential`: 1 / e-value, which holds at every look at once (Ville 1939).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalkit.decision.tables import Floats, Table, TableName, differences
from evalkit.estimates import Estimate
from evalkit.policy import Policy
from evalkit.stats.clusters import FEW_CLUSTERS
from evalkit.stats.distributions import critical_value, normal_cdf, normal_sf, z_of_tails
from evalkit.stats.engine import (
    PairedSummary,
    engine_degradation,
    engine_interval,
    engine_noninferiority,
    summarize,
)
from evalkit.stats.judge import judged_z
from evalkit.stats.pooling import mover, mover_degradation, mover_noninferiority
from evalkit.stats.sequential import confidence_sequence, log_e_graded
from evalkit.stats.two_stage import combine, two_stage_pvalue


@dataclass(frozen=True, slots=True)
class Part:
    """One table, summarised: its weight and, where a model judged, the judge."""

    summary: PairedSummary
    table: Table


@dataclass(frozen=True, slots=True)
class Reading:
    """What the plan reads under one treatment of missing data.

    Attributes:
        noninferior: Non-inferior when at most alpha; `None` when there is nothing to test.
        degraded: One for each look that the plan corrects for; see `metrics.settle`.
        stages: The z of each stage, for a two-stage plan.
    """

    noninferior: float | None
    degraded: tuple[float, ...]
    stages: tuple[float, ...] = ()


_NOTHING = Reading(None, ())


def parts_of(tables: Sequence[Table], name: TableName) -> list[Part]:
    """Summarise the tables that hold any pair."""
    found = [(table, differences(table, name)) for table in tables]
    return [Part(summarize(d, clusters), table) for table, (d, clusters) in found if len(d)]


def read(tables: Sequence[Table], name: TableName, margin: float, policy: Policy) -> Reading:
    """Test one metric by the plan.

    Args:
        tables: One, or one a family.
        name: How missing answers are read.
        margin: As a fraction.
        policy: The plan and the level.
    """
    if policy.plan == "sequential":
        return _sequential(tables, name, margin)
    if policy.plan == "two-stage":
        return _two_stage(tables, name, margin)
    tails = _tails(parts_of(tables, name), margin)
    return _NOTHING if tails is None else Reading(tails[0], (tails[1],))


def interval(
    tables: Sequence[Table], margin: float, policy: Policy, confidence_level: float
) -> Estimate:
    """Return the difference in goodness over complete pairs, with the plan's interval.

    A sequential plan has an interval that holds at every look. The others have that of all
    pairs together; after two stages it describes, and the combined test decides.
    """
    parts = parts_of(tables, "CC")
    summaries = [part.summary for part in parts]
    if policy.plan == "sequential":
        n, clusters = sum(s.n for s in summaries), sum(s.n_clusters for s in summaries)
        found = confidence_sequence(_bets(tables, "CC"), confidence_level=confidence_level)
        return replace(found, n=n, n_clusters=clusters)
    if any(part.table.judge for part in parts):
        return _judged_interval(parts, margin, confidence_level)
    if len(parts) == 1:
        return engine_interval(summaries[0], confidence_level=confidence_level)
    return mover(summaries, _weights(parts), confidence_level=confidence_level)


def shrinkage(parts: Sequence[Part]) -> float:
    """Return by how much judges shrink a difference on the way to what they report."""
    raised = sum(_raised(parts))
    return 1 / raised if raised > 0 else 0.0


def _weights(parts: Sequence[Part]) -> list[float]:
    total = sum(part.table.weight for part in parts)
    return [part.table.weight / total for part in parts]


def _raised(parts: Sequence[Part]) -> list[float]:
    judges = [part.table.judge for part in parts]
    return [
        weight / (1.0 if judge is None else max(judge.youden, 1e-9))
        for weight, judge in zip(_weights(parts), judges, strict=True)
    ]


def _tails(parts: Sequence[Part], margin: float) -> tuple[float, float] | None:
    """Return the p-values of non-inferiority and of degradation."""
    summaries = [part.summary for part in parts]
    if not parts or not all(summary.usable for summary in summaries):
        return None
    if any(part.table.judge for part in parts):
        judges = [part.table.judge for part in parts]
        if any(judge is not None and judge.youden <= 0 for judge in judges):
            return None
        better, worse = (
            judged_z(summaries, _weights(parts), judges, margin=margin, degraded=degraded)
            for degraded in (False, True)
        )
        return normal_sf(better), normal_cdf(worse)
    if len(parts) == 1:
        tests = (
            engine_noninferiority(summaries[0], margin=margin),
            engine_degradation(summaries[0], margin=margin),
        )
    else:
        weights = _weights(parts)
        tests = (
            mover_noninferiority(summaries, weights, margin=margin),
            mover_degradation(summaries, weights, margin=margin),
        )
    better_p, worse_p = (test.pvalue for test in tests)
    return None if better_p is None or worse_p is None else (better_p, worse_p)


def _two_stage(tables: Sequence[Table], name: TableName, margin: float) -> Reading:
    first = _stage(tables, name, margin, 1)
    if first is None:
        return _NOTHING
    second = _stage(tables, name, margin, 2)
    alone = normal_cdf(first[1])
    if second is None:
        return Reading(two_stage_pvalue(first[0]), (alone,), (first[0],))
    return Reading(
        two_stage_pvalue(first[0], second[0]),
        (alone, normal_cdf(combine(first[1], second[1]))),
        (first[0], second[0]),
    )


def _stage(
    tables: Sequence[Table], name: TableName, margin: float, stage: int
) -> tuple[float, float] | None:
    """Return the z of non-inferiority and of degradation; `None` below ten units."""
    parts = parts_of([table.of_stage(stage) for table in tables], name)
    tails = _tails(parts, margin)
    # A second stage without one of the families would ask another question than the first.
    whole = len(parts) == len(parts_of(tables, name))
    units = sum(part.summary.n_clusters for part in parts)
    if tails is None or not whole or (stage > 1 and units < FEW_CLUSTERS):
        return None
    better, worse = tails
    # Without a judge the two tails belong to one statistic, with one to two.
    if any(part.table.judge for part in parts):
        return z_of_tails(1 - better, better), z_of_tails(worse, 1 - worse)
    z = z_of_tails(worse, better)
    return z, z


def _sequential(tables: Sequence[Table], name: TableName, margin: float) -> Reading:
    bets = _bets(tables, name)
    if not len(bets):
        return _NOTHING
    better = log_e_graded(bets, margin=margin)
    worse = log_e_graded(bets, margin=margin, degraded=True)
    return Reading(float(np.exp(min(0.0, -better))), (float(np.exp(min(0.0, -worse))),))


def _bets(tables: Sequence[Table], name: TableName) -> Floats:
    """Return the independent numbers to bet on, whose mean is the metric's difference.

    Of one table the mean of each unit. Of several the mean over the tables of their units
    in the order in which they were drawn: as many as the smallest has, and a place where a
    unit is not complete is left out in all, so that an answer that comes later moves none.
    """
    columns = [column for table in tables if len(column := _units(table, name))]
    if not columns:
        return np.zeros(0)
    size = min(map(len, columns))
    bets: Floats = np.mean([column[:size] for column in columns], axis=0)
    return bets[~np.isnan(bets)]


def _units(table: Table, name: TableName) -> Floats:
    """Return the mean difference of each unit, NaN where no pair of it is complete."""
    if name == "CC":
        d = table.candidate - table.baseline
    else:
        d, _ = differences(table, name)
    if table.clusters is None:
        return d
    _, codes = np.unique(table.clusters, return_inverse=True)
    known = ~np.isnan(d)
    counts = np.bincount(codes, weights=known)
    sums = np.bincount(codes, weights=np.where(known, d, 0.0))
    means: Floats = np.full(len(counts), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means


def _judged_interval(parts: Sequence[Part], margin: float, confidence_level: float) -> Estimate:
    """Return the interval of the true difference behind what the judges report."""
    summaries, raised = [part.summary for part in parts], _raised(parts)
    factor = sum(raised)
    seen = mover(summaries, raised, confidence_level=confidence_level)
    method = f"{seen.method}, corrected for the judge"
    if seen.value is None or seen.low is None or seen.high is None:
        return replace(seen, method=method)
    spread = (
        sum(
            (weight * margin) ** 2 * sum(part.table.judge.variances)
            for weight, part in zip(raised, parts, strict=True)
            if part.table.judge is not None
        )
        * critical_value(confidence_level) ** 2
    )
    value = factor * seen.value
    low = value - ((factor * (seen.value - seen.low)) ** 2 + spread) ** 0.5
    high = value + ((factor * (seen.high - seen.value)) ** 2 + spread) ** 0.5
    return replace(seen, value=value, low=low, high=high, method=method)
