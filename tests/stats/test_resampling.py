from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import example, given, settings

from evalkit.stats.resampling import (
    acceleration,
    bca_interval,
    bootstrap_counts,
    bootstrap_exact,
    bootstrap_law,
    bootstrap_means,
)
from tests.stats.strategies import tables


@given(cells=tables())
@example(cells=(0, 0, 5965436, 0))
@settings(max_examples=60)
def test_the_law_is_a_law_with_the_right_moments(cells):
    _, gained, lost, _ = cells
    n = sum(cells)
    support, mass = bootstrap_law(gained, lost, n)
    assert mass.sum() == pytest.approx(1)
    p, q = gained / n, lost / n
    centred = support - (gained - lost)
    assert centred @ mass == pytest.approx(0, abs=1e-6 * (1 + n**0.5))
    # Far from the mean a mass of rounding size stands under squares of that distance.
    spread = n * (p + q - (p - q) ** 2)
    assert centred**2 @ mass == pytest.approx(spread, rel=1e-6, abs=1e-6 + 1e-12 * n)


def test_the_law_by_convolution():
    support, mass = bootstrap_law(2, 3, 9)
    one = np.array([3 / 9, 4 / 9, 2 / 9])
    exact = np.ones(1)
    for _ in range(9):
        exact = np.convolve(exact, one)
    inside = (support >= -9) & (support <= 9)
    assert mass[inside] == pytest.approx(exact, abs=1e-12)


def test_the_exact_interval_is_the_limit_of_draws():
    draws = bootstrap_counts(60, 90, 1319, rng=np.random.default_rng(1), n_resamples=200_000)
    low, high = np.quantile(draws, (0.025, 0.975), method="inverted_cdf")
    exact = bootstrap_exact(60, 90, 1319)
    assert (exact.low, exact.high) == pytest.approx((low, high), abs=1.01 / 1319)


def test_million_pairs_in_a_blink():
    """The acceptance of section 5: 10,000 resamples of 1M pairs, counting included."""
    d = np.random.default_rng(0).choice(np.array([0, 1, -1], np.int8), 10**6, p=[0.94, 0.03, 0.03])
    seconds = []
    for _ in range(3):  # the best of three, since a busy machine slows the others
        start = time.process_time()
        gained, lost = np.count_nonzero(d > 0), np.count_nonzero(d < 0)
        bootstrap_counts(gained, lost, d.size, rng=np.random.default_rng(0))
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.05


GRADED = np.random.default_rng(5).normal(0, 0.2, 30_000).clip(-1, 1)


@pytest.mark.parametrize("n", [200, 3000, 30_000])
def test_graded_means_have_the_right_spread(n):
    """Few values, many drawn directly, many on a lattice: the same law."""
    d = np.round(GRADED[:n], 2) if n == 200 else GRADED[:n]
    resamples = 2000 if n < 10_000 else 4000
    means = bootstrap_means(d, rng=np.random.default_rng(2), n_resamples=resamples)
    assert means.shape == (resamples,)
    error = d.std() / n**0.5
    assert means.mean() == pytest.approx(d.mean(), abs=4 * error / resamples**0.5)
    assert means.std() == pytest.approx(error, rel=0.06)


def test_clusters_are_drawn_whole():
    d = np.repeat(GRADED[:60], 5)
    means = bootstrap_means(d, np.arange(300) // 5, rng=np.random.default_rng(3), n_resamples=4000)
    assert means.std() == pytest.approx(GRADED[:60].std() / 60**0.5, rel=0.06)
    apart = bootstrap_means(d, np.arange(300), rng=np.random.default_rng(3), n_resamples=4000)
    assert means.std() > 2 * apart.std()


def test_the_seed_decides():
    draws = [bootstrap_means(GRADED[:50], rng=np.random.default_rng(4)) for _ in range(2)]
    assert np.array_equal(*draws)


def test_bca_leans_towards_the_tail():
    d = np.repeat([1.0, -1.0, 0.0], [2, 20, 378])
    means = bootstrap_means(d, rng=np.random.default_rng(6))
    bca = bca_interval(d, means)
    assert acceleration(d) < 0
    assert bca.low < np.quantile(means, 0.025)
    assert bca.low <= bca.value <= bca.high


def test_without_spread_there_is_no_bca():
    estimate = bca_interval(np.zeros(50), np.zeros(100))
    assert (estimate.low, estimate.high) == (0, 0)
    above = bca_interval(np.zeros(50), np.ones(100))
    assert (above.low, above.warnings) == (None, ("degenerate",))
    assert acceleration(np.zeros(5)) == 0


def test_no_data():
    assert bootstrap_exact(0, 0, 0).warnings == ("no_data",)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="no differences"):
        bootstrap_means([], rng=rng)
    for counts in ((0, 0, 0), (3, 3, 5)):
        with pytest.raises(ValueError, match="n >= 1"):
            bootstrap_counts(*counts, rng=rng)
