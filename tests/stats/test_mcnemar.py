from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.mcnemar import mcnemar_asymptotic, mcnemar_exact, mcnemar_midp

COUNT = st.one_of(st.integers(0, 30), st.integers(0, 10**6))
TESTS = [
    mcnemar_exact,
    mcnemar_midp,
    mcnemar_asymptotic,
    lambda b, c: mcnemar_asymptotic(b, c, correction=True),
]


@pytest.mark.parametrize("test", TESTS)
@given(gained=COUNT, lost=COUNT)
def test_symmetric_and_a_probability(test, gained, lost):
    assert 0 <= test(gained, lost).pvalue <= 1
    assert test(gained, lost).pvalue == test(lost, gained).pvalue


@given(gained=COUNT, lost=COUNT)
def test_mid_p_is_smaller(gained, lost):
    assert mcnemar_midp(gained, lost).pvalue <= mcnemar_exact(gained, lost).pvalue + 1e-12


@given(flips=st.integers(1, 12))
def test_mid_p_by_summing(flips):
    """Every table at least as lopsided, with half the weight for those equally so."""
    from math import comb

    for smaller in range(flips // 2 + 1):
        weights = [comb(flips, k) / 2**flips for k in range(flips + 1)]
        more = sum(w for k, w in enumerate(weights) if min(k, flips - k) < smaller)
        equal = sum(w for k, w in enumerate(weights) if min(k, flips - k) == smaller)
        assert mcnemar_midp(smaller, flips - smaller).pvalue == pytest.approx(more + equal / 2)
        assert mcnemar_exact(smaller, flips - smaller).pvalue == pytest.approx(more + equal)


@pytest.mark.parametrize("test", TESTS)
def test_no_flips_prove_nothing(test):
    assert test(0, 0).pvalue == 1
    assert test(0, 0).warnings == ("no_flips",)


@pytest.mark.parametrize("test", TESTS)
def test_negative_counts_are_refused(test):
    with pytest.raises(ValueError, match="negative"):
        test(-1, 3)
