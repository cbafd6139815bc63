from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.paired import noninferiority
from evalkit.stats.power import (
    n_floor,
    n_mcnemar,
    n_noninferiority,
    n_ratio_noninferiority,
    power_noninferiority,
    smallest_provable_margin,
)

FLIPS = st.floats(0.005, 0.4)
MARGIN = st.floats(0.005, 0.2)


@pytest.mark.parametrize(("p10", "p01"), [(0.03, 0.03), (0.02, 0.05), (0.0, 0.02)])
@pytest.mark.parametrize("n", [60, 200])
def test_exact_power_by_simulation(p10, p01, n):
    draws = np.random.default_rng(1).multinomial(n, [p10, p01, 1 - p10 - p01], 3000)
    passes = [noninferiority(b, c, n, margin=0.05).pvalue <= 0.05 for b, c, _ in draws.tolist()]
    power = power_noninferiority(p10, p01, n, margin=0.05)
    assert np.mean(passes) == pytest.approx(power, abs=4 * math.sqrt(0.25 / 3000))


@given(flips=FLIPS, margin=MARGIN)
def test_more_power_and_narrower_margins_cost_pairs(flips, margin):
    half = flips / 2
    n = n_noninferiority(half, half, margin=margin)
    assert n_noninferiority(half, half, margin=margin, power=0.9) > n
    assert n_noninferiority(half, half, margin=margin, alpha=0.025) > n
    assert n_noninferiority(half, half, margin=margin / 2) > n
    assert n >= n_floor(margin) - 1, "flips never make it easier than no flips"


@given(flips=FLIPS, n=st.integers(100, 10**6))
def test_provable_margin_inverts_the_sample_size(flips, n):
    margin = smallest_provable_margin(n, flips)
    if margin < 1:
        needed = n_noninferiority(flips / 2, flips / 2, margin=margin)
        assert needed == pytest.approx(n, rel=1e-6)


@pytest.mark.parametrize("flips", [0.0, 0.06, 1.0])
@pytest.mark.parametrize("n", [1, 2, 10**7])
def test_provable_margin_of_any_set_is_a_fraction(n, flips):
    assert 0 < smallest_provable_margin(n, flips) <= 1


def test_too_few_pairs_prove_nothing_at_all():
    assert smallest_provable_margin(1, 1.0, power=0.99) == 1.0


def test_floor_is_the_provable_margin_without_flips():
    assert smallest_provable_margin(268, 0.0) == pytest.approx(0.01, abs=1e-4)


def test_planned_n_has_the_planned_power():
    for half in (0.01, 0.03, 0.1):
        n = math.ceil(n_noninferiority(half, half, margin=0.03))
        assert power_noninferiority(half, half, n, margin=0.03) == pytest.approx(0.8, abs=0.05)


def test_power_ends():
    assert power_noninferiority(0, 0, 200, margin=0.02) == pytest.approx(1)
    assert power_noninferiority(0, 0, 50, margin=0.02) == 0
    assert power_noninferiority(0.2, 0, 10**5, margin=0.02) == pytest.approx(1)
    assert power_noninferiority(0.0, 1.0, 100, margin=0.02) == 0


def test_type_one_error_is_near_its_level():
    assert power_noninferiority(0.02, 0.04, 1319, margin=0.02) == pytest.approx(0.049, abs=0.003)


def test_beyond_the_margin_it_is_the_size_to_show_degradation():
    """Around the margin the two questions are nearly mirror images."""
    inside = n_noninferiority(0.03, 0.04, margin=0.02)
    beyond = n_noninferiority(0.025, 0.055, margin=0.02)
    assert beyond == pytest.approx(inside, rel=0.4)


@given(gained=st.integers(0, 60), n=st.integers(1, 60))
def test_shares_of_any_table_are_rates(gained, n):
    """Where all pairs flip, the two shares may add up to a little more than 1."""
    gained = min(gained, n)
    size = n_noninferiority(gained / n, (n - gained) / n, margin=0.0213)
    assert 0 <= size < math.inf


def test_impossible_questions_are_refused():
    with pytest.raises(ValueError, match="equals the margin"):
        n_noninferiority(0.0, 0.25, margin=0.25)
    with pytest.raises(ValueError, match="do not differ"):
        n_mcnemar(0.1, 0.1)
    with pytest.raises(ValueError, match="not above the minimum"):
        n_ratio_noninferiority(0.4, 0.8, 0.1, minimum=0.9)
    with pytest.raises(ValueError, match="do not make a table"):
        n_ratio_noninferiority(0.4, 0.4, 0.5, minimum=0.9)
    with pytest.raises(ValueError, match="rates"):
        n_noninferiority(0.7, 0.7, margin=0.02)
    with pytest.raises(ValueError, match="alpha and power"):
        n_noninferiority(0.1, 0.1, margin=0.02, power=80)
    with pytest.raises(ValueError, match="margin"):
        n_floor(2)
    with pytest.raises(ValueError, match="at least 1"):
        smallest_provable_margin(0, 0.1)
