from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.passk import (
    pass_at_k,
    pass_difference,
    pass_rate,
    pass_scores,
    usual_tries,
)
from evalkit.stats.rates import wilson_clustered


@given(data=st.data())
def test_pass_at_k_by_enumeration(data):
    n = data.draw(st.integers(1, 8))
    correct, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations(range(n), k))
    expected = np.mean([min(draw) < correct for draw in draws])
    assert pass_at_k(n, correct, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("case", [(5, 6, 1), (5, -1, 1), (5, 2, 6), (5, 2, 0)])
def test_impossible_pass_at_k_is_refused(case):
    with pytest.raises(ValueError, match="needs"):
        pass_at_k(*case)


@pytest.mark.parametrize(("n", "correct", "k"), [(200, 13, 1), (200, 13, 10), (200, 13, 100)])
def test_pass_at_k_is_the_product_that_the_paper_computes(n, correct, k):
    """Chen et al. 2021, figure 3: 1 - prod(1 - k / arange(n - c + 1, n + 1))."""
    product = 1 - np.prod(1 - k / np.arange(n - correct + 1, n + 1))
    assert pass_at_k(n, correct, k) == pytest.approx(product, abs=1e-12)


def test_pass_at_k_is_unbiased():
    """Over all outcomes of n tries that each succeed with chance p, the mean is 1 - (1-p)^k."""
    n, k, p = 7, 3, 0.3
    mean = sum(comb(n, c) * p**c * (1 - p) ** (n - c) * pass_at_k(n, c, k) for c in range(n + 1))
    assert mean == pytest.approx(1 - (1 - p) ** k, abs=1e-12)
    # What it replaces, 1 - (1 - c/n)^k, is not.
    naive = sum(
        comb(n, c) * p**c * (1 - p) ** (n - c) * (1 - (1 - c / n) ** k) for c in range(n + 1)
    )
    assert naive < 1 - (1 - p) ** k - 0.02


@given(st.lists(st.tuples(st.integers(3, 12), st.integers(0, 12)), min_size=1, max_size=30))
def test_scores_are_those_of_each_prompt(prompts):
    rows = [(n, min(c, n)) for n, c in prompts]
    found = pass_scores([n for n, _ in rows], [c for _, c in rows], 3)
    assert found.tolist() == [pass_at_k(n, c, 3) for n, c in rows]


def test_one_try_is_the_mean_accuracy_and_more_tries_never_hurt():
    rng = np.random.default_rng(1)
    right = rng.binomial(8, rng.random(60))
    rates = [pass_rate(pass_scores([8] * 60, right, k)).value for k in range(1, 9)]
    assert rates[0] == pytest.approx(right.mean() / 8)
    assert rates == sorted(rates)
    assert rates[-1] == pytest.approx((right > 0).mean())


def test_the_interval_covers_the_truth_with_prompts_as_units():
    """Rates by prompt from Beta(0.4, 0.6): the truth of pass@2 is known."""
    rng, k, n, prompts = np.random.default_rng(2), 2, 6, 80
    a, b = 0.4, 0.6
    truth = 1 - b * (b + 1) / ((a + b) * (a + b + 1))
    covered = 0
    for _ in range(400):
        right = rng.binomial(n, rng.beta(a, b, prompts))
        estimate = pass_rate(pass_scores([n] * prompts, right, k))
        covered += estimate.low <= truth <= estimate.high
    assert covered / 400 >= 0.94
    # With answers as units the interval would be far too narrow.
    answers = np.repeat(rng.random(prompts) < truth, n).astype(float)
    own = wilson_clustered(answers, np.arange(answers.size))
    whole = wilson_clustered(answers, np.repeat(np.arange(prompts), n))
    assert whole.high - whole.low > 2 * (own.high - own.low)


def test_the_difference_is_paired_and_turns_with_its_arms():
    rng = np.random.default_rng(3)
    right = rng.binomial(5, 0.5, 100)
    worse = np.maximum(right - rng.binomial(1, 0.3, 100), 0)
    before, after = (pass_scores([5] * 100, c, 2) for c in (right, worse))
    lost, won = pass_difference(after, before), pass_difference(before, after)
    assert lost.value == pytest.approx(float(after.mean() - before.mean()))
    assert lost.high < 0 < won.low
    assert (lost.low, lost.high) == pytest.approx((-won.high, -won.low))
    assert pass_difference(before, before).value == 0
    with pytest.raises(ValueError, match="prompts"):
        pass_difference(before, after[1:])


def test_prompts_of_one_cluster_are_one_unit():
    scores = pass_scores([4] * 40, [0, 4] * 20, 1)
    pairs = np.repeat(np.arange(20), 2)
    same = pass_scores([4] * 40, np.repeat([0, 4] * 10, 2), 1)
    assert pass_rate(same, pairs).low < pass_rate(scores).low
    assert pass_rate(same, pairs).n_clusters == 20


def test_usual_tries_end_with_all_of_them():
    assert usual_tries(7) == (1, 2, 3, 5, 7)
    assert usual_tries(10) == (1, 2, 3, 5, 10)
    assert usual_tries(1) == ()
