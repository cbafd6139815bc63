"""How many further prompts a decision needs under each plan (STATISTICS.md, rule 2, step 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evalkit.decision.evidence import Part, Reading, shrinkage
from evalkit.decision.needed import prompts_needed
from evalkit.policy import Policy
from evalkit.results import MetricResult, PromptsNeeded, ReasonCode
from evalkit.stats.distributions import normal_sf
from evalkit.stats.sequential import log_e_graded
from evalkit.stats.two_stage import needed_of_stage_two
from evalkit.tasksets.drawing import Drawing
from evalkit.types import Taskset

# A second stage that asks less than this of its prompts would decide on next to nothing.
_LARGEST_LEVEL = 0.4
_SMALLEST_LEVEL = 1e-9
_CAP = 10**9


def needed_by_plan(
    parts: Sequence[Part], found: Reading, *, margin: float, policy: Policy
) -> PromptsNeeded:
    """Return the sizes that one undecided metric needs.

    Args:
        parts: The summary of each pooled family, or of one alone; complete pairs.
        found: What the plan read of them.
        margin: As a fraction; judges make it smaller.
        policy: The plan, its level and power.
    """
    summaries = [part.summary for part in parts]
    seen = margin * shrinkage(parts)
    if not 0 < seen < 1:
        seen = margin
    needed = prompts_needed(summaries, margin=seen, policy=policy)
    n = sum(summary.n for summary in summaries)
    if policy.plan == "sequential":
        return _sequential(parts, needed, margin, policy)
    if policy.plan == "two-stage" and len(found.stages) == 1:
        level = normal_sf(needed_of_stage_two(found.stages[0], alpha=policy.alpha))
        level = min(_LARGEST_LEVEL, max(_SMALLEST_LEVEL, level))
        second = prompts_needed(
            summaries, margin=seen, policy=policy.model_copy(update={"alpha": level})
        )
        more = second.equal_models or second.floor
        return replace(needed, equal_models=_sum(n, second.equal_models), more=more)
    return needed


def stage_two_due(
    metrics: Sequence[MetricResult], tasksets: Sequence[Taskset], policy: Policy, drawing: Drawing
) -> ReasonCode | None:
    """Return how many prompts to ask in stage 2; `None` where the plan has none left.

    Args:
        metrics: Settled, after stage 1.
        tasksets: As they were drawn for stage 1.
        policy: The plan.
        drawing: What has been drawn.
    """
    if policy.plan != "two-stage" or drawing.stages:
        return None
    shares = [
        metric.prompts_needed.more / metric.n
        for metric in metrics
        if metric.gated and not metric.noninferior and metric.prompts_needed and metric.n
    ]
    largest = max((len(taskset.samples) for taskset in tasksets), default=0)
    share = max(shares, default=0.0)
    values: dict[str, int] = {"each": max(1, math.ceil(share * largest))}
    values["more"] = sum(math.ceil(share * len(taskset.samples)) for taskset in tasksets)
    if drawing.left is not None:
        values["left"] = drawing.left
    return ReasonCode("STAGE_2_DUE", values=values)


def _sequential(
    parts: Sequence[Part], needed: PromptsNeeded, margin: float, policy: Policy
) -> PromptsNeeded:
    """Return the size at which the evidence of equal models is expected to suffice.

    On the scale of pairs; an even chance that it suffices there, not the wanted power.
    """
    n = sum(part.summary.n for part in parts)
    flips = sum(part.summary.gains + part.summary.losses for part in parts)
    size = _expected_size(min(1.0, (flips + 1) / (n + 2)), margin, policy.alpha, len(parts))
    if size is None:
        return replace(needed, equal_models=None, more=needed.more)
    size = max(size, needed.floor)
    return replace(needed, equal_models=size, more=max(0, size - n))


def _expected_size(flips: float, margin: float, alpha: float, families: int) -> int | None:
    # A round of several families is their mean: its flips are smaller and rarer to cancel.
    step = 1 / families
    share = min(1.0, flips * families)
    values = np.array([step, 0.0, -step])
    threshold = math.log(1 / alpha)

    def enough(rounds: float) -> bool:
        weights = rounds * np.array([share / 2, 1 - share, share / 2])
        return log_e_graded(values, weights, margin=margin) >= threshold

    high = 1.0
    while not enough(high):
        high *= 2
        if high * families > _CAP:
            return None
    low = high / 2
    while high - low > 1:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return math.ceil(high) * families


def _sum(n: int, more: int | None) -> int | None:
    return None if more is None else n + more
