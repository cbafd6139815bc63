"""The goals of the statistics, on a tenth of the benchmark's size."""

from __future__ import annotations

import pytest

from tests.bench import statistics


def test_the_statistics_meet_their_goals() -> None:
    table = statistics.measure(10_000)
    assert len(table.rows) == 4


def test_a_goal_that_is_missed_by_far_is_an_error() -> None:
    with pytest.raises(SystemExit, match="goal is 1e-09"):
        statistics.told("work", 1e-9, lambda: sum(range(10_000)))
