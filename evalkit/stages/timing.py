"""How fast an arm answered: read off its completions, a by-product and no benchmark."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalkit.results import ArmTiming
from evalkit.types import Completion


def arm_timing(endpoint: str, completions: Sequence[Completion]) -> ArmTiming:
    """Summarize the clock of a run.

    Wall time is the time in which at least one request was in flight, so that a pause
    between an interrupted run and its continuation does not count.
    """
    answered = [c for c in completions if c.error is None]
    if not answered:
        return ArmTiming(endpoint, None, None, None, None, None)
    wall = busy_seconds([(c.timing.started, c.timing.total) for c in answered])
    counted = [c.usage.completion_tokens for c in answered]
    known = [tokens for tokens in counted if tokens is not None]
    tokens = sum(known) if len(known) == len(counted) else None
    latencies = sorted(c.timing.total for c in answered)
    return ArmTiming(
        endpoint=endpoint,
        wall_seconds=wall,
        completion_tokens=tokens,
        tokens_per_second=tokens / wall if tokens is not None and wall > 0 else None,
        median_latency=_nearest_rank(latencies, 0.5),
        p95_latency=_nearest_rank(latencies, 0.95),
    )


def busy_seconds(spans: Sequence[tuple[float, float]]) -> float:
    """Return the length of the union of spans, each given as start and duration."""
    total = 0.0
    reached = -math.inf
    for start, duration in sorted(spans):
        end = start + duration
        if end > reached:
            total += end - max(start, reached)
            reached = end
    return total


def _nearest_rank(ordered: Sequence[float], share: float) -> float:
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
