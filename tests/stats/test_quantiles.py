"""Quantiles of latencies: values, coverage, and honesty where there is little data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.quantiles import median_of, quantile

SHARES = (0.5, 0.9, 0.99)
TIMES = st.lists(st.floats(0.001, 1e3, allow_nan=False), min_size=1, max_size=80)


@given(TIMES, st.sampled_from(SHARES))
def test_value_is_numpys_and_lies_within_what_bounds_it(times: list[float], share: float) -> None:
    found = quantile(times, share, [place % 3 for place in range(len(times))])
    assert found.value == pytest.approx(np.quantile(times, share))
    assert found.low is None or found.low <= found.value
    assert found.high is None or found.high >= found.value
    assert (found.low is None or found.high is None) == ("unbounded" in found.warnings)


@given(TIMES, st.floats(0.01, 100))
def test_a_quantile_is_of_the_scale_of_its_values(times: list[float], factor: float) -> None:
    one, other = quantile(times, 0.9), quantile([t * factor for t in times], 0.9)
    assert other.value == pytest.approx(one.value * factor)
    assert (one.high is None) == (other.high is None)


def test_a_tail_that_the_data_cannot_bound_has_no_upper_end() -> None:
    assert quantile(range(12), 0.99).high is None
    assert quantile(range(12), 0.5, [i % 6 for i in range(12)]).high is not None
    assert quantile(range(2000), 0.99).high is not None
    assert quantile([], 0.5).value is None


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_intervals_cover_with_rounds_that_differ(share: float) -> None:
    """Rounds shift by as much as requests within them vary; 95% is promised."""
    rng = np.random.default_rng(5)
    truth = np.quantile(rng.normal(size=(200_000, 2)).sum(axis=1), share)
    clusters = np.repeat(np.arange(20), 10)
    hits = alone = 0
    for _ in range(400):
        times = rng.normal(size=(20, 1)) + rng.normal(size=(20, 10))
        found = quantile(times.ravel(), share, clusters)
        naive = quantile(times.ravel(), share)
        hits += (found.low or -9.0) <= truth <= (found.high or 9.0)
        alone += (naive.low or -9.0) <= truth <= (naive.high or 9.0)
    assert hits / 400 >= 0.92
    assert alone < hits - 50


def test_independent_values_have_the_exact_interval_of_the_median() -> None:
    six = quantile([3.0, 1.0, 2.0, 6.0, 5.0, 4.0], 0.5, range(6))
    assert (six.low, six.value, six.high) == (1.0, 3.5, 6.0)
    assert quantile([1.0, 2.0, 3.0, 4.0, 5.0], 0.5).low is None
    for n in (6, 9, 25, 60):
        values = [float(place) for place in range(n)]
        one, other = quantile(values, 0.5), median_of(values)
        assert (one.low, one.high) == (other.low, other.high)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_exact_intervals_cover(share: float) -> None:
    rng = np.random.default_rng(9)
    draws = rng.exponential(size=(2000, 40))
    truth = -np.log(1 - share)
    found = [quantile(row, share) for row in draws]
    low = sum(e.low is not None and e.low > truth for e in found) / 2000
    high = sum(e.high is not None and e.high < truth for e in found) / 2000
    assert low <= 0.025 + 0.01
    assert high <= 0.025 + 0.01
    assert low + high > 0.005


def test_median_of_few() -> None:
    assert median_of([]).value is None
    assert median_of([2.0]).low is None
    five = median_of([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (five.low, five.high, five.warnings) == (1.0, 5.0, ("few_repeats",))
    nine = median_of([float(v) for v in range(1, 10)])
    # P(2nd <= median <= 8th of nine) = 1 - 2·10/512.
    assert (nine.low, nine.value, nine.high) == (2.0, 5.0, 8.0)
