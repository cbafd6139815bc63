from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.engine import (
    engine_degradation,
    engine_interval,
    engine_noninferiority,
    engine_z,
    from_counts,
    summarize,
)
from evalkit.stats.paired import noninferiority, tango
from tests.stats.strategies import graded, tables


@given(cells=tables())
def test_counts_are_plain_tango(cells):
    _, gained, lost, _ = cells
    n = sum(cells)
    summary, plain = from_counts(gained, lost, n), tango(gained, lost, n)
    estimate = engine_interval(summary)
    assert (estimate.value, estimate.low, estimate.high) == (plain.value, plain.low, plain.high)
    ours = engine_noninferiority(summary, margin=0.02).pvalue
    assert ours == noninferiority(gained, lost, n, margin=0.02).pvalue


@given(d=st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=50))
def test_binary_pairs_are_plain_tango(d):
    summary = summarize(d)
    assert summary == from_counts(d.count(1), d.count(-1), len(d))
    assert summarize(d, clusters=range(len(d))) == summary, "clusters of one are no clusters"


@given(data=graded())
def test_interval_holds_the_estimate(data):
    d, clusters = data
    for summary in (summarize(d), summarize(d, clusters)):
        estimate = engine_interval(summary)
        assert estimate.value == pytest.approx(np.mean(d))
        if summary.usable:
            assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1
            assert estimate.low < estimate.high, "no data give certainty"
        else:
            assert estimate.low is None


@given(data=graded(), seed=st.integers(0, 99))
def test_order_does_not_matter(data, seed):
    d, clusters = np.array(data[0]), np.array(data[1])
    order = np.random.default_rng(seed).permutation(d.size)
    here, there = summarize(d, clusters), summarize(d[order], clusters[order])
    assert here.r == pytest.approx(there.r)
    assert (here.gains, here.losses) == pytest.approx((there.gains, there.losses))


@given(data=graded())
def test_names_of_clusters_do_not_matter(data):
    d, clusters = data
    names = [f"passage {9 - c}" for c in clusters]
    assert summarize(d, names).r == pytest.approx(summarize(d, clusters).r)


@given(data=graded())
def test_swapping_the_arms_negates(data):
    d, clusters = data
    here = engine_interval(summarize(d, clusters))
    there = engine_interval(summarize([-x for x in d], clusters))
    if here.low is not None:
        assert (here.low, here.high) == pytest.approx((-there.high, -there.low), abs=1e-9)


@given(data=graded(min_size=10))
def test_repeating_every_answer_adds_no_certainty(data):
    """Five copies of each pair, clustered by pair, tell what the pairs tell."""
    d, _ = data
    once = summarize(d, sparse_cap=False)
    copies = summarize(np.repeat(d, 5), np.repeat(np.arange(len(d)), 5), sparse_cap=False)
    assert copies.n_clusters == once.n
    z_once, z_copies = engine_z(once, -0.3), engine_z(copies, -0.3)
    assert z_copies == pytest.approx(z_once, rel=1.2 / len(d), abs=1e-9)


@given(data=graded(), factor=st.integers(2, 4))
def test_more_clusters_alike_never_widen(data, factor):
    d, clusters = data
    small = engine_interval(summarize(d, clusters))
    more = [c + 1000 * k for k in range(factor) for c in clusters]
    large = engine_interval(summarize(d * factor, more))
    if small.low is not None:
        assert large.high - large.low <= small.high - small.low + 1e-9


@given(data=graded())
def test_sides_are_complements_and_wider_margins_easier(data):
    d, clusters = data
    summary = summarize(d, clusters)
    ni = engine_noninferiority(summary, margin=0.1).pvalue
    if ni is None:
        assert not summary.usable
    else:
        assert ni + engine_degradation(summary, margin=0.1).pvalue == pytest.approx(1)
        assert engine_noninferiority(summary, margin=0.2).pvalue <= ni + 1e-12


def test_clusters_that_agree_cost_certainty():
    d = np.repeat([1.0, -1.0, 0.0, 0.0], 25)
    together = engine_interval(summarize(d, np.arange(100) // 5))
    apart = engine_interval(summarize(d))
    assert together.high - together.low > 1.8 * (apart.high - apart.low)
    assert together.n == 100
    assert together.n_clusters == 20


def test_fence_for_sparse_graded_data():
    d = [0.01] * 6 + [-0.02] * 5 + [0.0] * 39
    assert summarize(d, sparse_cap=False).r > 1
    assert summarize(d).r == 1
    assert summarize(d).warnings == ("sparse_graded",)
    assert summarize(d * 4).r > 1, "with enough differing pairs the fence opens"


@pytest.mark.parametrize(("nonzero", "capped"), [(19, True), (20, False)])
def test_the_fence_opens_at_twenty_differing_pairs(nonzero, capped):
    summary = summarize([0.01, -0.02] * 9 + [0.01] * (nonzero - 18) + [0.0] * 40)
    assert (summary.r == 1) == capped


@pytest.mark.parametrize("groups", [1, 2, 9])
def test_fence_for_few_clusters(groups):
    d = np.tile([1.0, 0.0, 0.0, -1.0], 25)
    summary = summarize(d, np.arange(100) % groups)
    assert "few_clusters" in summary.warnings
    estimate = engine_interval(summary)
    assert (estimate.low is None) == (groups == 1)
    if groups == 1:
        with pytest.raises(ValueError, match="single cluster"):
            engine_z(summary, 0.0)


def test_constant_differences_are_not_certain():
    """Without spread each cluster counts as one pair."""
    estimate = engine_interval(summarize([0.1] * 60))
    assert estimate.low < 0.05 < 0.2 < estimate.high
    clustered = engine_interval(summarize([0.1] * 60, np.arange(60) // 5))
    assert clustered.high - clustered.low > estimate.high - estimate.low


def test_no_pairs_is_no_number():
    summary = summarize([])
    assert summary.warnings == ("no_data",)
    assert engine_interval(summary).value is None
    assert engine_noninferiority(summary, margin=0.02).pvalue is None


@pytest.mark.parametrize("d", [[2.0], [float("nan")], [[0.0]]])
def test_what_is_no_difference_is_refused(d):
    with pytest.raises(ValueError, match="differences"):
        summarize(d)


def test_bad_counts_margins_and_labels_are_refused():
    with pytest.raises(ValueError, match="counts"):
        from_counts(3, 3, 5)
    with pytest.raises(ValueError, match="margin"):
        engine_noninferiority(from_counts(1, 1, 5), margin=2)
    with pytest.raises(ValueError, match="shape"):
        summarize([0.0, 1.0], [1])
