"""Paired ratios: symmetric, robust, and wide enough with few rounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.ratios import paired_ratio

SPEEDS = st.lists(st.tuples(st.floats(0.1, 1e3), st.floats(0.1, 1e3)), min_size=2, max_size=12)


def ratio(pairs: list[tuple[float, float]], seed: int = 0):  # type: ignore[no-untyped-def]
    one, other = zip(*pairs, strict=True)
    return paired_ratio(one, other, rng=np.random.default_rng(seed), n_resamples=500)


@given(SPEEDS)
def test_swapping_the_arms_inverts_everything(pairs: list[tuple[float, float]]) -> None:
    there, back = ratio(pairs), ratio([(c, b) for b, c in pairs])
    assert there.value == pytest.approx(1 / back.value)
    assert there.low == pytest.approx(1 / back.high, rel=0.35)
    assert there.low <= there.value <= there.high


def test_drift_that_hits_both_arms_cancels() -> None:
    drift = [1.0, 1.5, 2.0, 0.7, 1.1, 3.0]
    found = ratio([(d, 2 * d) for d in drift])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, 2.0, 2.0))


@pytest.mark.parametrize("rounds", [6, 12])
def test_few_rounds_are_covered_as_promised(rounds: int) -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(300):
        noise = np.exp(rng.normal(0, 0.2, size=(2, rounds)))
        found = paired_ratio(noise[0], 1.5 * noise[1], rng=rng, n_resamples=1000)
        hits += found.low <= 1.5 <= found.high
    assert hits / 300 >= 0.93


def test_one_pair_has_no_interval_and_no_pair_no_value() -> None:
    assert ratio([(2.0, 4.0)]).value == 2.0
    assert ratio([(2.0, 4.0)]).low is None
    assert paired_ratio([], [], rng=np.random.default_rng(0)).value is None
    assert "few_repeats" in ratio([(1.0, 2.0)] * 5).warnings
    with pytest.raises(ValueError, match="positive"):
        ratio([(0.0, 1.0)])
    with pytest.raises(ValueError, match="pairs"):
        paired_ratio([1.0], [1.0, 2.0], rng=np.random.default_rng(0))
