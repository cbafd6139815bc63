"""Reading the clock off a run's completions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stages.timing import arm_timing, busy_seconds
from evalkit.types import Timing, Usage
from tests.builders import completion, sample


def test_a_pause_between_two_sessions_does_not_count() -> None:
    assert busy_seconds([(0, 2), (1, 2), (1000, 3)]) == 6.0
    assert busy_seconds([]) == 0.0
    assert busy_seconds([(0, 10), (2, 1)]) == 10.0


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e3)), max_size=30))
def test_busy_time_is_within_its_bounds(spans: list[tuple[float, float]]) -> None:
    busy = busy_seconds(spans)
    assert busy <= sum(duration for _, duration in spans) + 1e-6
    assert busy >= max((duration for _, duration in spans), default=0.0) - 1e-6


def test_rates_come_from_tokens_and_busy_time() -> None:
    one = replace(completion(sample("1")), timing=Timing(10.0, 2.0), usage=Usage(5, 30))
    two = replace(completion(sample("2")), timing=Timing(11.0, 3.0), usage=Usage(5, 50))
    failed = completion(sample("3"), error="Timeout")
    timing = arm_timing("a", [one, two, failed])
    assert timing.wall_seconds == 4.0
    assert timing.tokens_per_second == pytest.approx(20.0)
    assert (timing.median_latency, timing.p95_latency) == (2.0, 3.0)


def test_unknown_token_counts_are_not_zero() -> None:
    one = replace(completion(sample("1")), usage=Usage(None, None))
    timing = arm_timing("a", [one, completion(sample("2"))])
    assert timing.completion_tokens is None
    assert timing.tokens_per_second is None
    assert arm_timing("a", []).wall_seconds is None
