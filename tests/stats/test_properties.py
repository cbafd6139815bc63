"""What must hold for every method alike: one table of methods, one test a property.

Swapping the arms negates or inverts; the order of samples and the names of clusters change
nothing; an interval holds its estimate; more data at the same rates never widens it; a wider
margin never makes passing harder; and no table of counts makes numpy warn.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from evalkit.stats.bayes import probability_degraded
from evalkit.stats.cluster_checks import cluster_t, durkalski, obuchowski
from evalkit.stats.engine import (
    engine_degradation,
    engine_interval,
    engine_noninferiority,
    from_counts,
    summarize,
)
from evalkit.stats.judge import JudgeCalibration, judge_noninferiority, prediction_powered
from evalkit.stats.mcnemar import mcnemar_asymptotic, mcnemar_exact, mcnemar_midp
from evalkit.stats.paired import degradation, noninferiority, tango, tipping_point, tost
from evalkit.stats.paired_checks import agresti_min, bonett_price, newcombe, unpaired, wald
from evalkit.stats.permutation import sign_flip
from evalkit.stats.pooling import mover, mover_degradation, mover_noninferiority
from evalkit.stats.power import n_floor, power_noninferiority, smallest_provable_margin
from evalkit.stats.rates import (
    clopper_pearson,
    design_effect,
    jeffreys,
    upper_bound,
    wilson,
    wilson_clustered,
)
from evalkit.stats.recovery import (
    recovery,
    recovery_degradation,
    recovery_graded,
    recovery_noninferiority,
    recovery_score,
)
from evalkit.stats.recovery_checks import (
    recovery_bonett_price,
    recovery_fieller,
    recovery_log,
)
from evalkit.stats.repeats import excess_flips, variance_split
from evalkit.stats.resampling import acceleration, bootstrap_exact
from evalkit.stats.sequential import (
    log_e_degraded,
    log_e_graded,
    log_e_noninferior,
    log_mixture_sprt,
    lower_confidence_sequence,
)
from evalkit.stats.three_way import bhapkar, bowker, ratio_difference, stuart_maxwell
from tests.stats.strategies import MARGINS, graded, tables

# Intervals of a paired difference, from the four cells.
DIFFERENCES = {
    "tango": lambda a, b, c, d: tango(b, c, a + b + c + d),
    "engine": lambda a, b, c, d: engine_interval(from_counts(b, c, a + b + c + d)),
    "mover": lambda a, b, c, d: mover([from_counts(b, c, a + b + c + d)]),
    "wald": lambda a, b, c, d: wald(b, c, a + b + c + d),
    "agresti-min": lambda a, b, c, d: agresti_min(b, c, a + b + c + d),
    "bonett-price": lambda a, b, c, d: bonett_price(b, c, a + b + c + d),
    "newcombe": newcombe,
    "unpaired": lambda a, b, c, d: unpaired(a + b, a + c, a + b + c + d),
    "bootstrap": lambda a, b, c, d: bootstrap_exact(b, c, a + b + c + d),
}
# Intervals of recovery. Fieller's and Bonett-Price's are closed forms to compare with.
RATIOS = {
    "score": recovery_score,
    "log": recovery_log,
    "bonett-price": recovery_bonett_price,
    "fieller": recovery_fieller,
}
# Tests against a margin: pass (small p-value) more easily as the margin grows.
PASSES = {
    "tango": noninferiority,
    "engine": lambda b, c, n, margin: engine_noninferiority(from_counts(b, c, n), margin=margin),
    "mover": lambda b, c, n, margin: mover_noninferiority([from_counts(b, c, n)], margin=margin),
    "tost": tost,
}
FAILS = {
    "tango": degradation,
    "engine": lambda b, c, n, margin: engine_degradation(from_counts(b, c, n), margin=margin),
    "mover": lambda b, c, n, margin: mover_degradation([from_counts(b, c, n)], margin=margin),
}
PAIR_OF_MARGINS = st.tuples(MARGINS, MARGINS).map(sorted)
# Adding half a count and the like shrinks toward zero, so the estimate may lie outside.
SHRINKING = {"agresti-min", "bonett-price"}
# What makes these cross-checks unfit to decide: where all pairs agree they have no width.
CERTAIN_WITHOUT_SPREAD = {"bootstrap", "unpaired", "wald"}
FEWER = settings(max_examples=40)


def lattice(name: str, n: int) -> float:
    """How far rounding to whole answers can move a limit."""
    return 2.0 / n if name == "bootstrap" else 1e-9


@pytest.mark.parametrize("name", DIFFERENCES)
@given(cells=tables())
@FEWER
def test_swapping_the_arms_negates_a_difference(name, cells):
    both, gained, lost, neither = cells
    here, there = DIFFERENCES[name](*cells), DIFFERENCES[name](both, lost, gained, neither)
    slack = lattice(name, sum(cells))
    assert here.value == pytest.approx(-there.value, abs=1e-12)
    assert here.low == pytest.approx(-there.high, abs=slack)
    assert here.high == pytest.approx(-there.low, abs=slack)


@pytest.mark.parametrize("name", sorted(DIFFERENCES.keys() - SHRINKING))
@given(cells=tables())
@FEWER
def test_the_interval_holds_the_difference(name, cells):
    estimate = DIFFERENCES[name](*cells)
    assert estimate.low <= estimate.value + 1e-12
    assert estimate.value - 1e-12 <= estimate.high
    if name != "unpaired":  # which is shown as harnesses print it
        assert -1 <= estimate.low <= estimate.high <= 1


@pytest.mark.parametrize("name", DIFFERENCES)
@given(cells=tables(), factor=st.integers(2, 9))
@FEWER
def test_more_pairs_at_the_same_rates_never_widen_a_difference(name, cells, factor):
    small = DIFFERENCES[name](*cells)
    large = DIFFERENCES[name](*(factor * count for count in cells))
    slack = lattice(name, sum(cells))
    assert large.high - large.low <= small.high - small.low + slack


@pytest.mark.parametrize("name", RATIOS)
@given(cells=tables())
@FEWER
def test_swapping_the_arms_inverts_a_ratio(name, cells):
    both, gained, lost, _ = cells
    n = sum(cells)
    here, there = RATIOS[name](both, gained, lost, n), RATIOS[name](both, lost, gained, n)
    if here.value and there.value and None not in (here.high, there.high):
        assert here.value * there.value == pytest.approx(1, rel=1e-9)
        if here.low > 1e-6 and there.low > 1e-6:
            assert here.low * there.high == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("name", RATIOS)
@example(cells=(1601, 0, 0, 0), factor=7)
@given(cells=tables(), factor=st.integers(2, 9))
@FEWER
def test_more_pairs_at_the_same_rates_never_widen_a_ratio(name, cells, factor):
    both, gained, lost, _ = cells
    small = RATIOS[name](both, gained, lost, sum(cells))
    large = RATIOS[name](*(factor * count for count in (both, gained, lost, sum(cells))))
    assume(small.value is not None and small.high is not None)
    assert large.low >= small.low * (1 - 1e-9) - 1e-12
    assert large.high <= small.high * (1 + 1e-9)


@pytest.mark.parametrize("name", PASSES)
@given(cells=tables(), margins=PAIR_OF_MARGINS)
@FEWER
def test_a_wider_margin_never_makes_passing_harder(name, cells, margins):
    _, gained, lost, _ = cells
    strict, loose = (
        PASSES[name](gained, lost, sum(cells), margin=margin).pvalue for margin in margins
    )
    assert loose <= strict + 1e-9


@pytest.mark.parametrize("name", FAILS)
@given(cells=tables(), margins=PAIR_OF_MARGINS)
@FEWER
def test_a_wider_margin_never_makes_damage_easier_to_show(name, cells, margins):
    _, gained, lost, _ = cells
    strict, loose = (
        FAILS[name](gained, lost, sum(cells), margin=margin).pvalue for margin in margins
    )
    assert loose >= strict - 1e-9


@given(cells=tables(), margins=PAIR_OF_MARGINS)
def test_other_evidence_is_monotone_in_the_margin(cells, margins):
    _, gained, lost, _ = cells
    n = sum(cells)
    strict, loose = margins
    assert (
        log_e_noninferior(gained, lost, n, margin=loose)
        >= log_e_noninferior(gained, lost, n, margin=strict) - 1e-9
    )
    assert (
        log_e_degraded(gained, lost, n, margin=loose)
        <= log_e_degraded(gained, lost, n, margin=strict) + 1e-9
    )
    # An integral of two margins: equal to ten digits.
    assert probability_degraded(gained, lost, n, margin=loose) <= (
        probability_degraded(gained, lost, n, margin=strict) + 1e-9
    )
    points = [tipping_point(gained, lost, n, margin=margin) for margin in margins]
    first, second = (math.inf if point is None else point for point in points)
    assert second >= first
    assert n_floor(loose) <= n_floor(strict)


@given(cells=tables(), minima=st.tuples(*[st.sampled_from([0.5, 0.9, 0.98, 0.999, 1.0])] * 2))
def test_a_lower_bar_for_recovery_is_easier(cells, minima):
    both, gained, lost, _ = cells
    n = sum(cells)
    low, high = sorted(minima)
    easy = recovery_noninferiority(both, gained, lost, n, minimum=low).pvalue
    hard = recovery_noninferiority(both, gained, lost, n, minimum=high).pvalue
    if easy is not None and hard is not None:
        assert easy <= hard + 1e-9


@example(cells=(1, 0, 743811, 68))
@given(cells=tables())
def test_one_more_loss_never_helps_by_any_method(cells):
    both, gained, lost, neither = cells
    assume(both > 0)
    n = sum(cells)
    worse = (both - 1, gained, lost + 1, neither)
    for name in sorted(DIFFERENCES.keys() - CERTAIN_WITHOUT_SPREAD):
        assert DIFFERENCES[name](*worse).low <= DIFFERENCES[name](*cells).low + 1e-9, name
    for name in sorted(PASSES.keys() - {"tost"}):
        before = PASSES[name](gained, lost, n, margin=0.02).pvalue
        assert PASSES[name](gained, lost + 1, n, margin=0.02).pvalue >= before - 1e-9, name
    assert log_e_noninferior(gained, lost + 1, n, margin=0.02) <= (
        log_e_noninferior(gained, lost, n, margin=0.02) + 1e-9
    )
    assert probability_degraded(gained, lost + 1, n, margin=0.02) >= (
        # An integral of a density whose logarithm has cancelled eight digits at a million pairs.
        probability_degraded(gained, lost, n, margin=0.02) - 1e-8
    )


def everything(both: int, gained: int, lost: int, neither: int, margin: float) -> list[object]:
    """Call every function of counts."""
    n = both + gained + lost + neither
    ratios = (both, gained, lost, n)
    judge = JudgeCalibration(0.92, 0.88, 200, 150)
    half = (gained + lost) / (2 * n)
    return [
        *(interval(both, gained, lost, neither) for interval in DIFFERENCES.values()),
        *(interval(*ratios) for interval in RATIOS.values()),
        recovery_fieller(*ratios, null_variance=False),
        recovery(*ratios),
        recovery_noninferiority(*ratios, minimum=1 - margin),
        recovery_degradation(*ratios, minimum=1 - margin),
        *(test(gained, lost, n, margin=margin) for test in (*PASSES.values(), *FAILS.values())),
        *(test(gained, lost) for test in (mcnemar_exact, mcnemar_midp, mcnemar_asymptotic)),
        mcnemar_asymptotic(gained, lost, correction=True),
        *(rate(both + gained, n) for rate in (wilson, clopper_pearson, jeffreys, upper_bound)),
        tipping_point(gained, lost, n, margin=margin),
        probability_degraded(gained, lost, n, margin=margin),
        log_e_noninferior(gained, lost, n, margin=margin),
        log_e_degraded(gained, lost, n, margin=margin),
        lower_confidence_sequence(gained, lost, n),
        log_mixture_sprt(gained, lost),
        judge_noninferiority(from_counts(gained, lost, n), judge, margin=margin),
        smallest_provable_margin(n, 2 * half),
        power_noninferiority(half, half, min(n, 5000), margin=margin),
    ]


@given(cells=tables(), margin=MARGINS)
@settings(max_examples=150)
def test_no_table_of_counts_makes_numpy_warn(cells, margin):
    """One to ten million pairs, empty cells included: warnings are errors in these tests."""
    with np.errstate(all="raise", under="ignore"):
        everything(*cells, margin)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 999, 10**7])
@pytest.mark.parametrize("corner", range(4))
def test_nor_does_a_table_with_one_full_cell(n, corner):
    cells = [0] * 4
    cells[corner] = n
    with np.errstate(all="raise", under="ignore"):
        everything(*cells, 0.02)


# Functions of arrays: what a shuffle of the samples must leave alone.
def three_way(d, baseline, clusters):
    candidate = np.clip(baseline + d, 0, 1)
    attempted = np.ones_like(d)
    return ratio_difference((candidate, baseline), (attempted, attempted), clusters)


ARRAYS = {
    "engine": lambda d, base, g: engine_interval(summarize(d, g)),
    "engine unclustered": lambda d, base, g: engine_interval(summarize(d)),
    "cluster t": lambda d, base, g: cluster_t(d, g),
    "durkalski": lambda d, base, g: durkalski(d, g),
    "obuchowski": lambda d, base, g: obuchowski(d, g),
    "wilson": lambda d, base, g: wilson_clustered(base, g),
    "design effect": lambda d, base, g: design_effect(base, g),
    "recovery": lambda d, base, g: recovery_graded(np.clip(base + d, 0, 1), base, g),
    "three-way": three_way,
    "excess flips": lambda d, base, g: excess_flips(np.abs(d) > 0, base > 0.5, g),
    "e-value": lambda d, base, g: log_e_graded(d, margin=0.1),
    "acceleration": lambda d, base, g: acceleration(d),
    "ppi": lambda d, base, g: prediction_powered(d, base[:0], base[:0]),
    "variance split": lambda d, base, g: variance_split(np.stack([d, base], axis=1)),
}


def numbers(result: object) -> list[float | None]:
    names = ("value", "low", "high", "statistic", "pvalue", "within", "between")
    if isinstance(result, float):
        return [result]
    return [getattr(result, name) for name in names if hasattr(result, name)]


@pytest.mark.parametrize("name", ARRAYS)
@given(data=graded(min_size=6), seed=st.integers(0, 99))
@settings(max_examples=40)
def test_the_order_of_samples_and_the_names_of_clusters_change_nothing(name, data, seed):
    d, clusters = np.array(data[0]), np.array(data[1])
    rng = np.random.default_rng(seed)
    base = rng.choice([0.0, 0.5, 1.0], d.size)
    order = rng.permutation(d.size)
    here = numbers(ARRAYS[name](d, base, clusters))
    there = numbers(ARRAYS[name](d[order], base[order], 77 - clusters[order]))
    assert here, "nothing to compare"
    assert [None if x is None else pytest.approx(x, rel=1e-6, abs=1e-9) for x in here] == there


@given(d=st.lists(st.sampled_from([0.0, 0.5, -0.25, 1.0, -1.0]), min_size=1, max_size=12))
def test_the_order_of_signs_that_are_flipped_changes_nothing(d):
    here, there = sign_flip(d), sign_flip(d[::-1])
    assert here.pvalue == pytest.approx(there.pvalue)
    mirrored = sign_flip([-x for x in d], alternative="greater")
    assert sign_flip(d, alternative="less").pvalue == pytest.approx(mirrored.pvalue)


@pytest.mark.parametrize("test", [stuart_maxwell, bhapkar, bowker])
@given(cells=st.lists(st.one_of(st.just(0), st.integers(0, 10**7)), min_size=9, max_size=9))
def test_three_way_tables_never_warn(test, cells):
    with np.errstate(all="raise", under="ignore"):
        p = test(np.array(cells).reshape(3, 3)).pvalue
    assert 0 <= p <= 1
