"""Agreement with statsmodels and scipy on many tables, not only on published ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import (
    binomtest,
    bootstrap,
    chi2,
    false_discovery_control,
    permutation_test,
    power_divergence,
)
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import SquareTable
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import _confint_riskratio_paired_nam, proportion_confint

from evalkit.stats.cluster_checks import cluster_t
from evalkit.stats.mcnemar import mcnemar_asymptotic, mcnemar_exact
from evalkit.stats.multiplicity import benjamini_hochberg, holm
from evalkit.stats.permutation import sign_flip
from evalkit.stats.rates import clopper_pearson, jeffreys, upper_bound, wilson
from evalkit.stats.recovery import recovery_graded, recovery_score
from evalkit.stats.recovery_checks import recovery_fieller
from evalkit.stats.resampling import bca_interval, bootstrap_counts
from evalkit.stats.three_way import bhapkar, bowker, stuart_maxwell

COUNTS = [(0, 7), (1, 7), (3, 40), (40, 40), (499, 1000), (9_990_000, 10_000_000)]
FLIPS = [(0, 1), (0, 9), (5, 5), (6, 16), (150, 86), (2000, 2100)]


def limits(estimate):
    return pytest.approx((estimate.low, estimate.high), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_rates(successes, n, level):
    alpha = 1 - level
    assert proportion_confint(successes, n, alpha, "wilson") == limits(
        wilson(successes, n, confidence_level=level)
    )
    assert proportion_confint(successes, n, alpha, "beta") == limits(
        clopper_pearson(successes, n, confidence_level=level)
    )
    low, high = proportion_confint(successes, n, alpha, "jeffreys")
    # statsmodels does not cut the interval at 0 and n successes; the rule says to.
    expected = (0.0 if successes == 0 else low, 1.0 if successes == n else high)
    assert expected == limits(jeffreys(successes, n, confidence_level=level))


@pytest.mark.parametrize(("successes", "n"), COUNTS[:-1])
def test_one_sided_bound(successes, n):
    expected = binomtest(successes, n, alternative="less").proportion_ci(0.95, "exact").high
    assert upper_bound(successes, n).high == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("gained", "lost"), FLIPS)
def test_mcnemar(gained, lost):
    table = [[1, gained], [lost, 1]]
    assert mcnemar_exact(gained, lost).pvalue == pytest.approx(sm_mcnemar(table).pvalue, rel=1e-9)
    for correction in (False, True):
        theirs = sm_mcnemar(table, exact=False, correction=correction)
        ours = mcnemar_asymptotic(gained, lost, correction=correction)
        if gained != lost:  # with equal flips statsmodels' correction goes below zero
            assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-9)
            assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-9)


TABLES = [(59, 6, 16, 80), (1, 1, 7, 12), (20, 12, 2, 16), (1240, 30, 21, 28), (5, 3, 1, 0)]


@pytest.mark.parametrize("cells", TABLES)
def test_ratio(cells):
    both, gained, lost, _ = cells
    theirs = _confint_riskratio_paired_nam(np.reshape(cells, (2, 2))).confint
    ours = recovery_score(both, gained, lost, sum(cells))
    assert theirs == pytest.approx([ours.low, ours.high], abs=1e-6)


def test_graded_ratio_of_binary_scores_is_fieller():
    """With many clusters of one, t is normal and the sample variance the binomial one."""
    cells = (12400, 300, 210, 280)
    candidate = np.repeat([1.0, 1.0, 0.0, 0.0], cells)
    baseline = np.repeat([1.0, 0.0, 1.0, 0.0], cells)
    graded = recovery_graded(candidate, baseline)
    counts = recovery_fieller(*cells[:3], sum(cells), null_variance=False)
    assert (graded.low, graded.high) == pytest.approx((counts.low, counts.high), abs=2e-6)


def test_clustered_interval_is_that_of_ols():
    rng = np.random.default_rng(7)
    clusters = np.sort(rng.integers(0, 25, 200))
    d = rng.integers(-1, 2, 200).astype(float)
    fit = OLS(d, np.ones(200)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    estimate = cluster_t(d, clusters)
    # statsmodels has the further factor (n - 1) / (n - k), which is 1 for a constant.
    assert (estimate.low, estimate.high) == pytest.approx(tuple(fit.conf_int()[0]), rel=1e-9)


def test_three_way_tables():
    rng = np.random.default_rng(11)
    for _ in range(20):
        table = rng.integers(1, 40, (3, 3))
        theirs = SquareTable(table, shift_zeros=False)
        assert stuart_maxwell(table).pvalue == pytest.approx(theirs.homogeneity().pvalue, rel=1e-9)
        assert bhapkar(table).statistic == pytest.approx(
            theirs.homogeneity("bhapkar").statistic, rel=1e-9
        )
        assert bowker(table).statistic == pytest.approx(theirs.symmetry().statistic, rel=1e-9)


def test_adjusted_pvalues():
    rng = np.random.default_rng(13)
    for size in (1, 2, 17, 60):
        p = rng.random(size) ** 3
        assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
        assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p))


def test_sign_flip_by_enumeration():
    rng = np.random.default_rng(17)
    d = rng.choice([-1, -0.5, -0.25, 0, 0.25, 0.5, 1], 12)
    for alternative in ("less", "greater", "two-sided"):
        theirs = permutation_test(
            (d,), np.mean, permutation_type="samples", alternative=alternative
        )
        ours = sign_flip(d, alternative=alternative).pvalue
        assert ours == pytest.approx(theirs.pvalue, abs=1e-9)


def test_bca_closed_form():
    """scipy's jackknife and our closed form see the same replicates."""
    d = np.repeat([1.0, -1.0, 0.0], [20, 35, 345])
    theirs = bootstrap((d,), np.mean, n_resamples=4000, rng=np.random.default_rng(3), batch=500)
    replicates = theirs.bootstrap_distribution
    ours = bca_interval(d, replicates)
    expected = theirs.confidence_interval
    assert (ours.low, ours.high) == pytest.approx((expected.low, expected.high), abs=1 / 400)


def test_multinomial_replicates_have_the_law_of_resampling():
    """Counts of three cells against pairs drawn one by one: same law, by chi-square."""
    rng = np.random.default_rng(5)
    d = np.repeat([1.0, -1.0, 0.0], [3, 5, 52])
    drawn = np.rint(d[rng.integers(0, 60, (6000, 60))].sum(axis=1)).astype(int)
    fast = np.rint(60 * bootstrap_counts(3, 5, 60, rng=rng, n_resamples=6000)).astype(int)
    edges = range(-8, 5)
    observed = np.array([[np.sum(np.clip(x, -8, 4) == e) for e in edges] for x in (drawn, fast)])
    expected = observed.sum(axis=0) / 2
    statistic = power_divergence(observed, expected, axis=0).statistic.sum()
    assert chi2.sf(statistic, len(edges) - 1) > 1e-3
