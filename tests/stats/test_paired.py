from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.distributions import critical_value
from evalkit.stats.mcnemar import mcnemar_asymptotic
from evalkit.stats.paired import (
    degradation,
    noninferiority,
    tango,
    tango_z,
    tipping_point,
    tost,
)
from evalkit.stats.paired_checks import agresti_min, bonett_price, newcombe, unpaired, wald
from tests.stats.strategies import LEVELS, MARGINS, tables


@given(cells=tables(), level=LEVELS)
def test_interval_holds_the_estimate(cells, level):
    _, gained, lost, _ = cells
    estimate = tango(gained, lost, sum(cells), confidence_level=level)
    assert -1 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low < estimate.high, "no table gives certainty"


@given(cells=tables(), level=LEVELS)
def test_limits_are_where_the_test_turns(cells, level):
    _, gained, lost, _ = cells
    n = sum(cells)
    estimate = tango(gained, lost, n, confidence_level=level)
    critical = critical_value(level)
    if estimate.low > -1 + 1e-9:
        assert tango_z(gained, lost, n, estimate.low) == pytest.approx(critical, abs=1e-4)
    if estimate.high < 1 - 1e-9:
        assert tango_z(gained, lost, n, estimate.high) == pytest.approx(-critical, abs=1e-4)


@given(cells=tables())
def test_swapping_the_arms_negates(cells):
    _, gained, lost, _ = cells
    here, there = tango(gained, lost, sum(cells)), tango(lost, gained, sum(cells))
    assert (here.low, here.high) == pytest.approx((-there.high, -there.low), abs=1e-9)


@given(cells=tables(), factor=st.integers(2, 9))
def test_more_data_at_the_same_rates_never_widens(cells, factor):
    _, gained, lost, _ = cells
    small = tango(gained, lost, sum(cells))
    large = tango(factor * gained, factor * lost, factor * sum(cells))
    assert small.low - 1e-9 <= large.low
    assert large.high <= small.high + 1e-9


@given(cells=tables(), margins=st.tuples(MARGINS, MARGINS))
def test_a_wider_margin_is_easier(cells, margins):
    _, gained, lost, _ = cells
    strict, loose = sorted(margins)
    p_strict = noninferiority(gained, lost, sum(cells), margin=strict).pvalue
    p_loose = noninferiority(gained, lost, sum(cells), margin=loose).pvalue
    assert p_loose <= p_strict + 1e-12


@given(cells=tables(), margin=MARGINS)
def test_one_more_loss_never_helps(cells, margin):
    both, gained, lost, neither = cells
    n = sum(cells)
    if both + neither:
        before = noninferiority(gained, lost, n, margin=margin).pvalue
        after = noninferiority(gained, lost + 1, n, margin=margin).pvalue
        assert after >= before - 1e-12


@given(cells=tables(), margin=MARGINS)
def test_noninferiority_and_degradation_are_complements(cells, margin):
    _, gained, lost, _ = cells
    ni = noninferiority(gained, lost, sum(cells), margin=margin)
    deg = degradation(gained, lost, sum(cells), margin=margin)
    assert ni.pvalue + deg.pvalue == pytest.approx(1)
    assert ni.statistic == deg.statistic


@given(cells=tables(), margin=MARGINS)
def test_the_test_reads_the_ninety_percent_interval(cells, margin):
    _, gained, lost, _ = cells
    low = tango(gained, lost, sum(cells), confidence_level=0.90).low
    if abs(low + margin) > 1e-9:
        passes = noninferiority(gained, lost, sum(cells), margin=margin).pvalue <= 0.05
        assert passes == (low > -margin)


@given(cells=tables(), margin=MARGINS)
def test_equivalence_needs_both_sides(cells, margin):
    _, gained, lost, _ = cells
    n = sum(cells)
    sides = [
        noninferiority(*flips, n, margin=margin).pvalue
        for flips in ((gained, lost), (lost, gained))
    ]
    assert tost(gained, lost, n, margin=margin).pvalue == pytest.approx(max(sides), abs=1e-12)


@given(cells=tables())
def test_at_zero_it_is_mcnemar(cells):
    _, gained, lost, _ = cells
    z = tango_z(gained, lost, sum(cells), 0.0)
    assert z**2 == pytest.approx(mcnemar_asymptotic(gained, lost).statistic, rel=1e-6)


@pytest.mark.parametrize(
    ("gained", "lost", "n"), [(-1, 0, 5), (3, 3, 5), (0, 0, float("inf")), (float("nan"), 0, 5)]
)
def test_what_is_no_table_is_refused(gained, lost, n):
    with pytest.raises(ValueError, match="counts"):
        tango(gained, lost, n)
    with pytest.raises(ValueError, match="counts"):
        noninferiority(gained, lost, n, margin=0.02)


@pytest.mark.parametrize("margin", [0, 1, 2, -0.02, float("nan")])
def test_a_margin_in_points_is_refused(margin):
    for test in (noninferiority, degradation, tost):
        with pytest.raises(ValueError, match="margin"):
            test(1, 2, 50, margin=margin)


def test_no_pairs_is_no_number():
    assert tango(0, 0, 0).value is None
    assert tango(0, 0, 0).warnings == ("no_data",)
    for test in (noninferiority, degradation, tost):
        assert test(0, 0, 0, margin=0.02).pvalue is None
        assert test(0, 0, 0, margin=0.02).warnings == ("no_data",)
    with pytest.raises(ValueError, match="at least 1"):
        tango_z(0, 0, 0, 0)
    with pytest.raises(ValueError, match="delta0"):
        tango_z(0, 0, 5, 1)


def test_at_the_very_edge_there_is_still_an_answer():
    edge = -0.9999999999999999
    assert tango_z(0, 6, 7, edge) == float("inf")
    assert tango_z(6, 0, 7, -edge) < -1e6


def test_tipping_point_ends():
    assert tipping_point(0, 60, 1000, margin=0.02) == 0, "not shown to begin with"
    assert tipping_point(5, 0, 5, margin=0.5) is None, "no pair is left to turn"


@given(cells=tables(), margin=MARGINS)
def test_tipping_point_is_the_first_that_fails(cells, margin):
    _, gained, lost, _ = cells
    n = sum(cells)
    extra = tipping_point(gained, lost, n, margin=margin)
    if extra is not None:
        assert noninferiority(gained, lost + extra, n, margin=margin).pvalue > 0.05 - 1e-9
    if extra:
        assert noninferiority(gained, lost + extra - 1, n, margin=margin).pvalue <= 0.05 + 1e-9


@given(cells=tables())
def test_cross_checks_stay_in_range_and_mirror(cells):
    both, gained, lost, neither = cells
    n = sum(cells)
    for interval in (wald, agresti_min, bonett_price):
        here, there = interval(gained, lost, n), interval(lost, gained, n)
        assert -1 <= here.low <= here.high <= 1
        assert here.low == pytest.approx(-there.high, abs=1e-12)
    here, there = newcombe(*cells), newcombe(both, lost, gained, neither)
    assert here.low == pytest.approx(-there.high, abs=1e-12)
    assert here.low <= here.value <= here.high


def test_cross_checks_agree_on_much_data():
    """With 100,000 pairs every method tells the same."""
    exact = tango(2000, 2500, 100_000)
    for estimate in (
        wald(2000, 2500, 100_000),
        agresti_min(2000, 2500, 100_000),
        bonett_price(2000, 2500, 100_000),
        newcombe(80_000, 2000, 2500, 15_500),
    ):
        assert (estimate.low, estimate.high) == pytest.approx((exact.low, exact.high), abs=2e-4)


def test_wald_is_certain_without_flips_and_tango_is_not():
    assert wald(0, 0, 50).low == wald(0, 0, 50).high == 0
    assert tango(0, 0, 50).high > 0.05


def test_cross_checks_without_data():
    for estimate in (wald(0, 0, 0), newcombe(0, 0, 0, 0), unpaired(0, 0, 0)):
        assert estimate.value is None
        assert estimate.warnings == ("no_data",)
    with pytest.raises(ValueError, match="counts"):
        wald(3, 3, 5)
