from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.engine import engine_interval, summarize
from evalkit.stats.mcnemar import mcnemar_asymptotic
from evalkit.stats.paired import tango
from evalkit.stats.three_way import bhapkar, bowker, ratio_difference, stuart_maxwell

CELLS = st.lists(
    st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 10**6)), min_size=9, max_size=9
)
TESTS = [stuart_maxwell, bhapkar, bowker]


@pytest.mark.parametrize("test", TESTS)
@given(cells=CELLS)
def test_any_table_gives_a_probability_that_ignores_direction(test, cells):
    table = np.reshape(cells, (3, 3))
    here, there = test(table), test(table.T)
    assert 0 <= here.pvalue <= 1
    assert here.pvalue == pytest.approx(there.pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
@given(cells=CELLS, order=st.permutations(range(3)))
def test_names_of_outcomes_do_not_matter(test, cells, order):
    table = np.reshape(cells, (3, 3))
    shuffled = table[np.ix_(order, order)]
    assert test(table).pvalue == pytest.approx(test(shuffled).pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("test", [stuart_maxwell, bowker])
@given(gained=st.integers(0, 500), lost=st.integers(0, 500))
def test_two_outcomes_are_mcnemar(test, gained, lost):
    expected = mcnemar_asymptotic(gained, lost)
    assert test([[7, gained], [lost, 9]]).pvalue == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize("test", [stuart_maxwell, bowker])
def test_an_outcome_that_never_occurs_changes_nothing(test):
    with_zeros = [[7, 12, 0], [2, 9, 0], [0, 0, 0]]
    expected = mcnemar_asymptotic(12, 2)
    assert test(with_zeros).pvalue == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("test", TESTS)
def test_no_change_proves_nothing(test):
    assert test(np.diag([5, 6, 7])).pvalue == 1
    assert test(np.diag([5, 6, 7])).warnings == ("no_flips",)


def test_all_in_one_direction_has_no_bound():
    result = bhapkar([[0, 9], [0, 0]])
    assert (result.statistic, result.pvalue) == (None, 0.0)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("table", [[[1, 2, 3]], [[1, -2], [3, 4]], [1, 2]])
def test_what_is_no_table_is_refused(test, table):
    with pytest.raises(ValueError, match="square"):
        test(table)


def test_denominators_of_one_are_the_plain_difference():
    a, b = np.repeat([1.0, 0.0, 0.0], [6, 16, 139]), np.repeat([0.0, 1.0, 0.0], [6, 16, 139])
    ones = np.ones(161)
    estimate, plain = ratio_difference((a, b), (ones, ones)), tango(6, 16, 161)
    assert (estimate.low, estimate.high) == pytest.approx((plain.low, plain.high))


def test_accuracy_among_attempted_covers():
    """Abstaining more is not losing: the share of right answers among attempts is equal."""
    rng, hits = np.random.default_rng(10), 0
    for _ in range(400):
        attempted = [rng.random(300) < share for share in (0.6, 0.9)]
        correct = [a & (rng.random(300) < 0.8) for a in attempted]
        estimate = ratio_difference(
            tuple(c.astype(float) for c in correct), tuple(a.astype(float) for a in attempted)
        )
        hits += estimate.low <= 0 <= estimate.high
    assert hits / 400 == pytest.approx(0.95, abs=0.035)


def test_clusters_reach_the_engine():
    rng = np.random.default_rng(11)
    a, ones = (rng.random((2, 40)) < 0.7).astype(float).repeat(5, axis=1), np.ones(200)
    prompts = np.repeat(np.arange(40), 5)
    estimate = ratio_difference((a[0], a[1]), (ones, ones), prompts)
    expected = engine_interval(summarize(a[0] - a[1], prompts))
    assert (estimate.low, estimate.high) == pytest.approx((expected.low, expected.high))


def test_one_cluster_has_no_interval():
    a, b, ones = np.array([1.0, 0.0]), np.array([1.0, 1.0]), np.ones(2)
    estimate = ratio_difference((a, b), (ones, ones), [3, 3])
    assert (estimate.value, estimate.low, estimate.high) == (-0.5, None, None)


def test_nothing_attempted_is_no_number():
    zeros, ones = np.zeros(9), np.ones(9)
    assert ratio_difference((zeros, ones), (zeros, ones)).warnings == ("no_data",)
    empty = np.array([])
    assert ratio_difference((empty, empty), (empty, empty)).value is None
