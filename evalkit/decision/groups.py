"""From groups of pairs to the tables of one metric: stages, order and judges included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evalkit.decision.pairing import Pair
from evalkit.decision.tables import Table, build_table
from evalkit.policy import Policy
from evalkit.results import MetricName
from evalkit.stats.judge import JudgeCalibration
from evalkit.tasksets.drawing import Drawing
from evalkit.types import Taskset

ALL_AT_ONCE = Drawing()


def group_tables(
    groups: Sequence[Sequence[Pair]], metric: MetricName, policy: Policy, drawing: Drawing
) -> list[Table]:
    """Return a table for each group, of equal weight; more where judges score a part of it.

    Degenerate output is read off by programs, whoever judges the answers.
    """
    return [
        replace(_table(part, metric, policy, drawing), weight=len(part) / len(group), judge=judge)
        for group in groups
        if group
        for part, judge in _by_judge(group, metric, policy)
    ]


def calibration_of(
    taskset: str, policy: Policy, metric: MetricName = "accuracy"
) -> JudgeCalibration | None:
    """Return the calibration of the judge of a taskset; `None` where programs score."""
    judge = policy.judges.get(taskset)
    if judge is None:
        return None
    if metric == "hallucination" and (false := judge.hallucination) is not None:
        return JudgeCalibration(false.sensitivity, false.specificity, false.n_false, false.n_other)
    return JudgeCalibration(judge.sensitivity, judge.specificity, judge.n_right, judge.n_wrong)


def judges_of(
    tasksets: Sequence[Taskset], policy: Policy
) -> Iterator[tuple[str, JudgeCalibration]]:
    """Yield the name and the judge of each taskset that has one."""
    for taskset in tasksets:
        judge = calibration_of(taskset.name, policy)
        if judge is not None:
            yield taskset.name, judge


def _by_judge(
    group: Sequence[Pair], metric: MetricName, policy: Policy
) -> Iterator[tuple[Sequence[Pair], JudgeCalibration | None]]:
    if metric == "degenerate" or not policy.judges:
        yield group, None
        return
    parts: dict[str | None, list[Pair]] = {}
    for pair in group:
        name = pair.sample.taskset
        parts.setdefault(name if name in policy.judges else None, []).append(pair)
    for judged, part in parts.items():
        yield part, None if judged is None else calibration_of(judged, policy, metric)


def _table(pairs: Sequence[Pair], metric: MetricName, policy: Policy, drawing: Drawing) -> Table:
    if policy.plan == "sequential":
        places = drawing.places
        pairs = sorted(
            pairs,
            key=lambda p: (
                places.get((p.sample.taskset, p.sample.id), 0),
                p.sample.taskset,
                p.sample.id,
                p.epoch,
            ),
        )
    table = build_table(pairs, metric)
    if policy.plan != "two-stage" or not drawing.stages:
        return table
    stages = [drawing.stages.get((p.sample.taskset, p.sample.id), 1) for p in pairs]
    return replace(table, stages=np.array(stages, dtype=np.int64))
