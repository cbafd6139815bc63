"""Values published with the R package `contingencytables` 3.0.0 (tests directory).

The package belongs to Fagerland, Lydersen & Laake, Statistical Analysis of Contingency
Tables (2017). Only values are taken. It prints four decimals; the six decimals asserted
here agree with them and with a second computation. Numbers in ids are golden rows.
"""

from __future__ import annotations

import pytest

from evalkit.stats.mcnemar import mcnemar_asymptotic, mcnemar_exact, mcnemar_midp
from evalkit.stats.paired import tango
from evalkit.stats.paired_checks import agresti_min, bonett_price, newcombe, wald
from evalkit.stats.rates import clopper_pearson, jeffreys, wilson
from evalkit.stats.recovery import recovery_score
from evalkit.stats.recovery_checks import recovery_bonett_price, recovery_log
from evalkit.stats.three_way import bhapkar, bowker, stuart_maxwell

# Complete response before and after stem cell transplantation (Cavo et al. 2012).
CAVO = (59, 6, 16, 161)
SIX = {"abs": 1e-6}
FOUR = {"abs": 5e-5 + 1e-12}


def limits(estimate):
    return estimate.low, estimate.high


@pytest.mark.parametrize(
    ("function", "successes", "n", "six", "four"),
    [
        pytest.param(wilson, 13, 16, (0.569911, 0.934084), (0.5699, 0.9341), id="row1"),
        pytest.param(clopper_pearson, 13, 16, (0.543543, 0.959526), (0.5435, 0.9595), id="row2"),
        pytest.param(jeffreys, 13, 16, (0.579215, 0.944187), (0.5792, 0.9442), id="row3"),
        pytest.param(clopper_pearson, 0, 10, (0, 0.308497), (0, 0.3085), id="row4-none"),
        pytest.param(clopper_pearson, 10, 10, (0.691503, 1), (0.6915, 1), id="row4-all"),
    ],
)
def test_single_rate(function, successes, n, six, four):
    assert limits(function(successes, n)) == pytest.approx(six, **SIX)
    assert limits(function(successes, n)) == pytest.approx(four, **FOUR)


@pytest.mark.parametrize(
    ("cells", "six", "four"),
    [
        pytest.param((6, 16, 161), (-0.124023, -0.005433), (-0.1240, -0.0054), id="row8"),
        pytest.param((3, 0, 3), (-0.122994, 1), (-0.1230, 1), id="row12-all-gained"),
        pytest.param((0, 3, 3), (-1, 0.122994), (-1, 0.1230), id="row12-all-lost"),
    ],
)
def test_tango(cells, six, four):
    assert limits(tango(*cells)) == pytest.approx(six, **SIX)
    assert limits(tango(*cells)) == pytest.approx(four, **FOUR)


@pytest.mark.parametrize(
    ("function", "pvalue"),
    [
        pytest.param(mcnemar_exact, 0.052479, id="row20-exact"),
        pytest.param(mcnemar_midp, 0.034690, id="row20-midp"),
        pytest.param(mcnemar_asymptotic, 0.033006, id="row20-asymptotic"),
        pytest.param(
            lambda b, c: mcnemar_asymptotic(b, c, correction=True), 0.055009, id="row20-corrected"
        ),
    ],
)
def test_mcnemar(function, pvalue):
    assert function(6, 16).pvalue == pytest.approx(pvalue, **SIX)


@pytest.mark.parametrize(
    ("function", "six", "four"),
    [
        pytest.param(recovery_score, (0.747579, 0.987615), (0.7476, 0.9876), id="row24-score"),
        pytest.param(recovery_log, (0.759750, 0.988630), (0.7597, 0.9886), id="row25-log"),
        pytest.param(
            recovery_bonett_price, (0.757903, 0.991039), (0.7579, 0.9910), id="row25-bonett-price"
        ),
    ],
)
def test_ratio(function, six, four):
    estimate = function(*CAVO)
    assert estimate.value == pytest.approx(0.866667, **SIX)
    assert limits(estimate) == pytest.approx(six, **SIX)
    assert limits(estimate) == pytest.approx(four, **FOUR)


@pytest.mark.parametrize(
    ("function", "cells", "six", "four"),
    [
        pytest.param(wald, (6, 16, 161), (-0.118400, -0.005824), (-0.1184, -0.0058), id="row9"),
        pytest.param(
            agresti_min,
            (6, 16, 161),
            (-0.118242, -0.004457),
            (-0.1182, -0.0045),
            id="row10-agresti-min",
        ),
        pytest.param(
            bonett_price,
            (6, 16, 161),
            (-0.119499, -0.003201),
            (-0.1195, -0.0032),
            id="row10-bonett-price",
        ),
        pytest.param(
            newcombe, (59, 6, 16, 80), (-0.118621, -0.004625), (-0.1186, -0.0046), id="row11"
        ),
        pytest.param(
            newcombe, (1, 0, 0, 1), (-0.573419, 0.573419), (-0.5734, 0.5734), id="row11-two-pairs"
        ),
    ],
)
def test_other_intervals_of_the_difference(function, cells, six, four):
    assert limits(function(*cells)) == pytest.approx(six, **SIX)
    assert limits(function(*cells)) == pytest.approx(four, **FOUR)


# Pretherapy and posttherapy state of 100 patients, three ordered categories.
THERAPY = [[35, 5, 0], [15, 20, 5], [10, 5, 5]]


@pytest.mark.parametrize(
    ("function", "statistic"),
    [
        pytest.param(stuart_maxwell, 14.000000, id="row55-stuart"),
        pytest.param(bhapkar, 16.279070, id="row55-bhapkar"),
        pytest.param(bowker, 15.000000, id="row55-bowker"),
    ],
)
def test_three_way(function, statistic):
    assert function(THERAPY).statistic == pytest.approx(statistic, **SIX)


def test_stuart_pvalue_row55():
    assert stuart_maxwell(THERAPY).pvalue == pytest.approx(0.000912, **SIX)
