from __future__ import annotations

import numpy as np
import pytest

from evalkit.stats.clusters import cluster_variance
from evalkit.stats.engine import engine_interval, summarize
from evalkit.stats.repeats import (
    VarianceSplit,
    best_epochs,
    difference_split,
    excess_flips,
    variance_split,
)


def test_split_is_the_clustered_variance_of_the_mean():
    rng = np.random.default_rng(3)
    scores = rng.random((40, 1)) + rng.random((40, 5))
    split = variance_split(scores)
    clustered = cluster_variance(scores.ravel(), np.repeat(np.arange(40), 5), 40)
    assert split.variance_of_mean == pytest.approx(clustered)


def test_split_finds_what_was_put_in():
    rng = np.random.default_rng(4)
    scores = rng.normal(0, 0.3, (4000, 1)) + rng.normal(0, 0.6, (4000, 8))
    split = variance_split(scores)
    assert split.within == pytest.approx(0.36, rel=0.05)
    assert split.between == pytest.approx(0.09, rel=0.10)


def test_sampling_noise_alone_leaves_nothing_between():
    scores = np.random.default_rng(5).random((50, 6))
    a, b = (np.tile(scores.mean(axis=1, keepdims=True), 6) for _ in range(2))
    noisy = a + np.random.default_rng(6).normal(0, 0.1, a.shape)
    split = difference_split(noisy, b)
    assert split.within == pytest.approx(0.01, rel=0.3)
    assert split.between < 0.001
    assert best_epochs(VarianceSplit(0.1, 0.0, 9, 9), prompt_cost=1, sample_cost=1) is None


def test_best_epochs_is_the_best():
    split = VarianceSplit(0.2, 0.05, 100, 4)
    best = best_epochs(split, prompt_cost=3, sample_cost=1)

    def price(k):
        return (split.between + split.within / k) * (3 + k)

    assert price(best) <= min(price(best * 0.9), price(best * 1.1))
    assert best_epochs(split, prompt_cost=0, sample_cost=1) == 1
    with pytest.raises(ValueError, match="costs"):
        best_epochs(split, prompt_cost=1, sample_cost=0)


def test_excess_flips_is_the_paired_difference():
    rng = np.random.default_rng(7)
    candidate, repeat = rng.random(300) < 0.12, rng.random(300) < 0.05
    estimate = excess_flips(candidate, repeat)
    expected = engine_interval(summarize(candidate.astype(float) - repeat))
    assert estimate == expected
    assert estimate.value == pytest.approx(candidate.mean() - repeat.mean())


@pytest.mark.parametrize("scores", [[[1, 0]], [[1], [0]], [1, 0]])
def test_what_is_no_table_of_repeats_is_refused(scores):
    with pytest.raises(ValueError, match="shape"):
        variance_split(scores)


def test_arms_of_different_shape_are_refused():
    with pytest.raises(ValueError, match="shape"):
        difference_split(np.ones((3, 2)), np.ones((2, 3)))
