from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.mcnemar import mcnemar_exact
from evalkit.stats.permutation import sign_flip

VALUES = st.sampled_from([0.0, 0.25, -0.25, 0.5, -0.5, 1.0, -1.0])


@given(d=st.lists(VALUES, min_size=1, max_size=8))
def test_by_flipping_every_sign(d):
    sums = [
        sum(s * abs(x) for s, x in zip(signs, d, strict=True))
        for signs in product((-1, 1), repeat=len(d))
    ]
    lower = np.mean([s <= sum(d) + 1e-9 for s in sums])
    upper = np.mean([s >= sum(d) - 1e-9 for s in sums])
    assert sign_flip(d, alternative="less").pvalue == pytest.approx(lower)
    assert sign_flip(d, alternative="greater").pvalue == pytest.approx(upper)
    both = min(1.0, 2 * min(lower, upper))
    assert sign_flip(d, alternative="two-sided").pvalue == pytest.approx(both)


@given(gained=st.integers(0, 200), lost=st.integers(0, 200))
def test_binary_pairs_are_exact_mcnemar(gained, lost):
    d = [1.0] * gained + [-1.0] * lost + [0.0] * 10
    p = sign_flip(d, alternative="two-sided").pvalue
    assert p == pytest.approx(mcnemar_exact(gained, lost).pvalue, rel=1e-9)


def test_random_flips_agree_with_the_normal_limit():
    d = np.random.default_rng(1).choice([-0.5, -0.25, 0.25, 0.5, 1.0, -1.0], 400)
    from scipy.stats import norm

    expected = norm.cdf(d.sum() / np.sqrt(d @ d))
    result = sign_flip(d, rng=np.random.default_rng(2), n_resamples=20_000)
    assert result.pvalue == pytest.approx(expected, abs=0.015)
    assert result.pvalue > 0


def test_random_flips_never_give_zero():
    """The data are one of the permutations, so 99 flips can show 1% at best."""
    d = -np.linspace(0.1, 0.9, 40)
    result = sign_flip(d, rng=np.random.default_rng(2), n_resamples=99)
    assert result.pvalue == 0.01


def test_random_flips_need_a_generator():
    d = np.linspace(0.1, 0.9, 30)
    with pytest.raises(ValueError, match="rng"):
        sign_flip(d)
    with pytest.raises(ValueError, match="alternative"):
        sign_flip(d, alternative="worse")


def test_nothing_differs():
    assert sign_flip([0.0, 0.0]).pvalue == 1
    assert sign_flip([]).statistic is None
