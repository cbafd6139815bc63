from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.rates import (
    clopper_pearson,
    design_effect,
    jeffreys,
    upper_bound,
    wilson,
    wilson_clustered,
)
from tests.stats.strategies import LEVELS, SIZES

INTERVALS = [wilson, clopper_pearson, jeffreys]


@st.composite
def counts(draw):
    n = draw(SIZES)
    return draw(st.one_of(st.integers(0, min(n, 3)), st.integers(0, n))), n


@pytest.mark.parametrize("interval", INTERVALS)
@given(count=counts(), level=LEVELS)
def test_limits_are_fractions_around_the_rate(interval, count, level):
    estimate = interval(*count, confidence_level=level)
    assert 0 <= estimate.low <= estimate.high <= 1
    if interval is not jeffreys:  # a posterior interval need not hold the observed rate
        assert estimate.low <= estimate.value <= estimate.high


@pytest.mark.parametrize("interval", INTERVALS)
@given(count=counts())
def test_swapping_success_and_failure_mirrors(interval, count):
    x, n = count
    here, there = interval(x, n), interval(n - x, n)
    assert here.low == pytest.approx(1 - there.high, abs=1e-9)


@given(count=counts(), factor=st.integers(2, 9))
def test_more_data_at_the_same_rate_never_widens(count, factor):
    x, n = count
    small, large = wilson(x, n), wilson(factor * x, factor * n)
    assert small.low - 1e-12 <= large.low
    assert large.high <= small.high + 1e-12


@given(count=counts())
def test_the_guarantee_is_wider_than_the_default_where_it_counts(count):
    """The exact upper limit of a rare event lies above Jeffreys'."""
    assert clopper_pearson(*count).high >= jeffreys(*count).high - 1e-12


@pytest.mark.parametrize("interval", [*INTERVALS, upper_bound])
def test_no_data_is_no_number(interval):
    estimate = interval(0, 0)
    assert (estimate.value, estimate.low, estimate.high) == (None, None, None)
    assert estimate.warnings == ("no_data",)


@pytest.mark.parametrize("interval", [*INTERVALS, upper_bound])
@pytest.mark.parametrize("count", [(-1, 5), (6, 5), (float("nan"), 5), (1, float("inf"))])
def test_what_is_no_count_is_refused(interval, count):
    with pytest.raises(ValueError, match="successes"):
        interval(*count)


@pytest.mark.parametrize("interval", [*INTERVALS, upper_bound])
@pytest.mark.parametrize("level", [0, 1, 95])
def test_a_level_in_percent_is_refused(interval, level):
    with pytest.raises(ValueError, match="confidence_level"):
        interval(3, 5, confidence_level=level)


def test_upper_bound_covers_as_it_says():
    """At the bound itself, so few events would be seen exactly 5% of the time."""
    from scipy.stats import binom

    for x, n in ((0, 40), (3, 40), (39, 40)):
        assert binom.cdf(x, n, upper_bound(x, n).high) == pytest.approx(0.05)
    assert upper_bound(40, 40).high == 1


def test_design_effect_divides_the_counts():
    assert wilson(30, 100, deff=2).low == pytest.approx(wilson(15, 50).low)
    assert wilson(30, 100, deff=2).value == 0.3


def test_clusters_widen_through_t():
    plain, few = clopper_pearson(30, 100), clopper_pearson(30, 100, n_clusters=5)
    assert few.low < plain.low < plain.high < few.high
    assert few.warnings == ("few_clusters",)


def test_repeats_of_one_prompt_add_no_certainty():
    """Each of 40 answers copied five times: the interval of 40, but for t instead of z."""
    scores = np.array([1.0] * 28 + [0.0] * 12)
    repeated, prompts = np.repeat(scores, 5), np.repeat(np.arange(40), 5)
    assert design_effect(repeated, prompts) == pytest.approx(5, rel=0.03)
    clustered = wilson_clustered(repeated, prompts)
    single = wilson(28, 40)
    assert clustered.value == single.value
    assert clustered.high - clustered.low == pytest.approx(single.high - single.low, rel=0.05)
    pooled = wilson(28 * 5, 200)
    assert clustered.high - clustered.low > 1.8 * (pooled.high - pooled.low)


def test_clusters_of_one_are_no_clusters():
    scores = np.array([1.0, 0.0, 1.0])
    estimate = wilson_clustered(scores, ["a", "b", "c"])
    assert (estimate.low, estimate.high) == (wilson(2, 3).low, wilson(2, 3).high)


def test_equal_scores_count_once_a_cluster():
    estimate = wilson_clustered(np.ones(60), np.repeat(np.arange(12), 5))
    assert estimate.high == 1
    assert 0 < estimate.low < wilson(60, 60).low


def test_one_cluster_has_no_interval():
    estimate = wilson_clustered(np.array([1.0, 0.0]), [7, 7])
    assert (estimate.value, estimate.low, estimate.high) == (0.5, None, None)
    assert estimate.warnings == ("few_clusters",)
    assert design_effect(np.array([1.0, 0.0]), [7, 7]) == 2
    with pytest.raises(ValueError, match="n_clusters"):
        wilson(1, 2, n_clusters=1)


def test_no_scores_is_no_number():
    assert wilson_clustered(np.array([]), []).value is None


def test_bad_design_effect_and_labels_are_refused():
    with pytest.raises(ValueError, match="deff"):
        wilson(1, 2, deff=0)
    with pytest.raises(ValueError, match="shape"):
        wilson_clustered(np.array([1.0, 0.0]), [1])
