from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.recovery import (
    fieller_limits,
    recovery,
    recovery_degradation,
    recovery_graded,
    recovery_noninferiority,
    recovery_score,
)
from evalkit.stats.recovery_checks import (
    recovery_bonett_price,
    recovery_fieller,
    recovery_log,
)
from tests.stats.strategies import LEVELS, tables


def nothing(estimate):
    return (estimate.value, estimate.low, estimate.high) == (None, None, None)


@given(cells=tables(), level=LEVELS)
def test_interval_holds_the_ratio_and_is_finite(cells, level):
    both, gained, lost, _ = cells
    estimate = recovery_score(both, gained, lost, sum(cells), confidence_level=level)
    numbers = (estimate.low, estimate.value, estimate.high)
    assert all(v is None or (math.isfinite(v) and v >= 0) for v in numbers)
    if both + lost:
        assert estimate.low <= estimate.value <= estimate.high
    else:
        assert estimate.value is None
        assert estimate.high is None
        assert "unbounded" in estimate.warnings


@given(cells=tables())
def test_swapping_the_arms_inverts(cells):
    both, gained, lost, _ = cells
    n = sum(cells)
    if both + gained and both + lost:
        here = recovery_score(both, gained, lost, n)
        there = recovery_score(both, lost, gained, n)
        assert here.low * there.high == pytest.approx(1, rel=1e-4)


@given(cells=tables(), factor=st.integers(2, 9))
def test_more_data_at_the_same_rates_never_widens(cells, factor):
    both, gained, lost, _ = cells
    if both + lost:
        small = recovery_score(both, gained, lost, sum(cells))
        large = recovery_score(*(factor * k for k in (both, gained, lost, sum(cells))))
        assert small.low <= large.low * (1 + 1e-9) + 1e-12
        assert large.high <= small.high * (1 + 1e-9)


@given(cells=tables())
def test_the_test_reads_the_interval(cells):
    both, gained, lost, _ = cells
    n = sum(cells)
    low = recovery_score(both, gained, lost, n, confidence_level=0.90).low
    if low is not None and abs(low - 0.98) > 1e-6:
        passes = recovery_noninferiority(both, gained, lost, n, minimum=0.98).pvalue <= 0.05
        assert passes == (low > 0.98)


def test_one_is_mcnemar():
    """Recovery of 100% and a difference of zero are one hypothesis."""
    z = recovery_noninferiority(500, 20, 35, 700, minimum=1).statistic
    assert z == pytest.approx((20 - 35) / math.sqrt(55))


def test_sides_are_complements():
    up = recovery_noninferiority(500, 20, 35, 700, minimum=0.95)
    down = recovery_degradation(500, 20, 35, 700, minimum=0.95)
    assert up.pvalue + down.pvalue == pytest.approx(1)
    assert down.alternative == "less"


@pytest.mark.parametrize(
    ("cells", "refused"),
    [
        ((29, 5, 0, 100), True),  # 29 correct baseline answers
        ((30, 5, 0, 100), False),
        ((90, 5, 9, 1000), True),  # 9.9%
        ((91, 5, 9, 1000), False),
    ],
)
def test_refusal_near_a_zero_baseline(cells, refused):
    estimate = recovery(*cells)
    assert nothing(estimate) == refused
    assert estimate.warnings == (("baseline_too_low",) if refused else ())


def test_no_pairs_is_no_number():
    assert recovery(0, 0, 0, 0).warnings == ("no_data",)
    assert recovery_score(0, 0, 0, 0).warnings == ("no_data",)
    assert recovery_score(0, 0, 0, 9).warnings == ("unbounded",)
    assert recovery_noninferiority(0, 0, 0, 9, minimum=0.9).pvalue is None
    assert recovery_degradation(0, 0, 0, 9, minimum=0.9).pvalue is None


def test_what_is_no_table_is_refused():
    with pytest.raises(ValueError, match="counts"):
        recovery_score(5, 5, 5, 14)
    with pytest.raises(ValueError, match="minimum"):
        recovery_noninferiority(5, 5, 5, 20, minimum=98)


@given(cells=tables())
def test_cross_checks_hold_the_ratio_or_say_why_not(cells):
    both, gained, lost, _ = cells
    for interval in (
        recovery_log,
        recovery_bonett_price,
        recovery_fieller,
        lambda *c: recovery_fieller(*c, null_variance=False),
    ):
        estimate = interval(both, gained, lost, sum(cells))
        if estimate.value is None:
            assert estimate.warnings == ("unbounded",)
        else:
            assert estimate.low <= estimate.value * (1 + 1e-9)
            assert estimate.high >= estimate.value * (1 - 1e-9)
            assert math.isfinite(estimate.high)


def test_fieller_without_bound():
    assert fieller_limits(1.0, 0.1, 0.01, 0.01, 0.0, 2.0) is None


def test_graded_agrees_with_counts():
    candidate = np.repeat([1.0, 1.0, 0.0, 0.0], [1240, 30, 21, 28])
    baseline = np.repeat([1.0, 0.0, 1.0, 0.0], [1240, 30, 21, 28])
    graded, counts = recovery_graded(candidate, baseline), recovery_score(1240, 30, 21, 1319)
    assert graded.value == pytest.approx(counts.value)
    assert (graded.low, graded.high) == pytest.approx((counts.low, counts.high), abs=7e-4)


def test_graded_repeats_add_no_certainty():
    rng = np.random.default_rng(2)
    candidate, baseline = rng.random((2, 100))
    once = recovery_graded(candidate, baseline)
    prompts = np.repeat(np.arange(100), 4)
    repeated = recovery_graded(np.repeat(candidate, 4), np.repeat(baseline, 4), prompts)
    assert (repeated.low, repeated.high) == pytest.approx((once.low, once.high), rel=1e-9)
    assert repeated.n_clusters == 100


def test_graded_agreement_is_not_certainty():
    scores = np.tile([1.0, 0.5], 100)
    estimate = recovery_graded(scores, scores)
    assert estimate.low < 0.99 < 1.01 < estimate.high


def test_graded_refusals():
    ones = np.ones(40)
    assert recovery_graded(np.array([]), np.array([])).warnings == ("no_data",)
    assert recovery_graded(ones, ones * 0.01).warnings == ("baseline_too_low",)
    assert recovery_graded(ones, ones, np.zeros(40)).warnings == ("few_clusters",)
    lumpy = np.repeat([1.0, 0.0], [40, 160])  # one cluster of five holds everything
    assert recovery_graded(lumpy, lumpy, np.arange(200) // 40).warnings == ("unbounded",)
    with pytest.raises(ValueError, match="length"):
        recovery_graded(ones, np.ones(3))
