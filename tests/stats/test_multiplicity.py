from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.multiplicity import benjamini_hochberg, fixed_sequence, holm

PVALUES = st.lists(st.floats(0, 1), max_size=12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@given(pvalues=PVALUES, data=st.data())
def test_adjusting_keeps_order_and_never_helps(adjust, pvalues, data):
    adjusted = adjust(pvalues)
    assert all(p <= q <= 1 for p, q in zip(pvalues, adjusted, strict=True))
    order = data.draw(st.permutations(range(len(pvalues))))
    assert adjust([pvalues[i] for i in order]) == [adjusted[i] for i in order]


@given(pvalues=PVALUES)
def test_holm_is_stricter_and_never_more_than_bonferroni(pvalues):
    for p, strict, loose in zip(pvalues, holm(pvalues), benjamini_hochberg(pvalues), strict=True):
        assert loose <= strict + 1e-12
        assert strict <= min(1, len(pvalues) * max(pvalues)) + 1e-12
        assert strict >= p


@given(pvalues=PVALUES, alpha=st.sampled_from([0.01, 0.05, 0.5]))
def test_sequence_stops_at_the_first_failure(pvalues, alpha):
    passed = fixed_sequence(pvalues, alpha)
    assert all(p <= alpha for p in pvalues[:passed])
    assert passed == len(pvalues) or pvalues[passed] > alpha


@pytest.mark.parametrize("function", [holm, benjamini_hochberg, fixed_sequence])
@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_what_is_no_probability_is_refused(function, bad):
    with pytest.raises(ValueError, match="p-values"):
        function([0.2, bad])


def test_alpha_in_percent_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        fixed_sequence([0.01], 5)
