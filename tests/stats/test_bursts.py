"""Bursts of failures: found where there are some, rarely where chance alone is at work."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.stats.bursts import bursts

ASKED = [200] * 60


@pytest.mark.parametrize("rate", [0.0005, 0.01, 0.2])
def test_steady_failures_are_rarely_a_burst(rate: float) -> None:
    rng = np.random.default_rng(5)
    runs = [bursts(list(rng.binomial(ASKED, rate)), ASKED, alpha=0.01) for _ in range(400)]
    assert sum(map(bool, runs)) <= 10


def test_a_burst_is_found_in_its_place() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        failed = rng.binomial(ASKED, 0.01)
        failed[[20, 21]] += 15
        (found,) = bursts(list(failed), ASKED, alpha=0.01)
        assert (found.first, found.last) == (20, 21)


def test_nothing_is_made_of_nothing() -> None:
    assert bursts([0] * 20, [5] * 20, alpha=0.01) == ()
    assert bursts([2] + [0] * 19, [5] * 20, alpha=0.01) == ()
    assert bursts([0] * 20, [0] * 20, alpha=0.01) == ()
