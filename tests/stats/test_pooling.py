from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.stats.distributions import normal_sf
from evalkit.stats.engine import (
    engine_interval,
    engine_noninferiority,
    from_counts,
    summarize,
)
from evalkit.stats.paired import tango_z
from evalkit.stats.pooling import mover, mover_degradation, mover_noninferiority, mover_z
from tests.stats.strategies import MARGINS, graded, tables

PARTS = [from_counts(5, 9, 200), from_counts(20, 35, 1319), from_counts(3, 6, 100)]


@st.composite
def families(draw):
    cells = draw(st.lists(tables(), min_size=1, max_size=4))
    return [from_counts(gained, lost, sum(c)) for c in cells for _, gained, lost, _ in [c]]


@given(cells=tables(), margin=MARGINS)
def test_one_family_is_its_own_test(cells, margin):
    _, gained, lost, _ = cells
    n = sum(cells)
    z = tango_z(gained, lost, n, -margin)
    if abs(z) < 30:
        assert mover_z([from_counts(gained, lost, n)], None, -margin) == pytest.approx(z, abs=1e-6)


@given(data=graded(min_size=8))
def test_one_clustered_family_is_its_own_test(data):
    """Also where t replaces the normal: the p-values are the same."""
    summary = summarize(*data)
    if summary.usable:
        alone = engine_noninferiority(summary, margin=0.3).pvalue
        assert mover_noninferiority([summary], margin=0.3).pvalue == pytest.approx(alone, abs=1e-6)


@given(parts=families())
@settings(max_examples=50)
def test_interval_holds_the_estimate_and_mirrors(parts):
    here = mover(parts)
    assert here.low <= here.value <= here.high
    assert here.low < here.high, "no families give certainty"
    swapped = [from_counts(int(p.losses), int(p.gains), p.n) for p in parts]
    assert mover(swapped).low == pytest.approx(-here.high, abs=1e-9)


@given(parts=families(), margin=MARGINS)
@settings(max_examples=50)
def test_the_test_reads_the_interval(parts, margin):
    low = mover(parts, confidence_level=0.90).low
    if abs(low + margin) > 1e-6:
        passes = mover_noninferiority(parts, margin=margin).pvalue <= 0.05
        assert passes == (low > -margin)


@given(parts=families(), margin=MARGINS)
@settings(max_examples=50)
def test_sides_are_complements(parts, margin):
    up = mover_noninferiority(parts, margin=margin).pvalue
    assert up + mover_degradation(parts, margin=margin).pvalue == pytest.approx(1)


def test_z_of_a_limit_is_the_critical_value():
    for level, z in ((0.90, 1.6448536), (0.95, 1.9599640)):
        estimate = mover(PARTS, confidence_level=level)
        assert mover_z(PARTS, None, estimate.low) == pytest.approx(z, abs=1e-6)
        assert mover_z(PARTS, None, estimate.high) == pytest.approx(-z, abs=1e-6)
    assert mover_z(PARTS, None, mover(PARTS).value) == 0


def test_order_of_families_does_not_matter():
    assert mover(PARTS[::-1]).low == pytest.approx(mover(PARTS).low)


def test_weights():
    by_size = mover(PARTS, weights=[200, 1319, 100])
    assert by_size.value == pytest.approx((28 - 50) / 1619)
    assert by_size.high - by_size.low < mover(PARTS).high - mover(PARTS).low
    alone = mover(PARTS, weights=[0, 1, 0])
    assert alone.low == pytest.approx(engine_interval(PARTS[1]).low)
    for weights in ([1, 1], [1, -1, 1], [0, 0, 0], [1, 1, float("inf")]):
        with pytest.raises(ValueError, match="weights"):
            mover(PARTS, weights=weights)


def test_clustered_families_pool_wider():
    d = np.repeat([1.0, -1.0, 0.0, 0.0], 25)
    clustered = summarize(d, np.arange(100) // 5)
    both = mover([clustered, PARTS[0]])
    apart = mover([summarize(d), PARTS[0]])
    assert both.high - both.low > apart.high - apart.low
    assert both.n_clusters == 20 + 200


def test_a_far_difference_stays_a_number():
    parts = [from_counts(0, 0, 10**7)] * 2
    assert mover_z(parts, None, -0.3) == pytest.approx(37)
    assert mover_noninferiority(parts, margin=0.3).pvalue == normal_sf(37.0)


def test_unusable_families_make_no_number():
    single = summarize([1.0, 0.0, 0.0], [1, 1, 1])
    assert mover([single, PARTS[0]]).low is None
    assert mover([single, PARTS[0]]).value is not None
    assert "few_clusters" in mover([single, PARTS[0]]).warnings
    assert mover_noninferiority([single, PARTS[0]], margin=0.02).pvalue is None
    empty = summarize([])
    assert mover([empty, PARTS[0]]).value is None
    assert mover([]).warnings == ("no_data",)
    for parts in ([], [single]):
        with pytest.raises(ValueError, match="every part"):
            mover_z(parts, None, 0.0)
    with pytest.raises(ValueError, match="margin"):
        mover_noninferiority(PARTS, margin=2)
