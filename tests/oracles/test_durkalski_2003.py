"""Psychiatrists' agreement, clustered pairs (Donner & Petryshen 1989).

Published statistics as listed with the R package clust.bin.pair: McNemar 11.85, Durkalski
2003 7.542, Obuchowski 1998 7.19. The other numbers come from a second computation
(statsmodels' OLS with clustered covariance where that applies).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from evalkit.stats.cluster_checks import cluster_t, durkalski, obuchowski
from evalkit.stats.clusters import cluster_variance
from evalkit.stats.engine import engine_interval, summarize
from evalkit.stats.mcnemar import mcnemar_asymptotic
from evalkit.stats.paired import tango

# Cells of each of 29 psychiatrists: both, first only, second only, neither.
BOTH = "11322000001112212102101000010"
FIRST = "01110333100100000031120000000"
SECOND = "42321302242432131200021220011"
NEITHER = "22011023130032203210302012210"
SIX = {"abs": 1e-6}


@pytest.fixture(scope="module")
def pairs():
    differences, clusters = [], []
    for number, cells in enumerate(zip(BOTH, FIRST, SECOND, NEITHER, strict=True)):
        for value, count in zip((0.0, 1.0, -1.0, 0.0), map(int, cells), strict=True):
            differences += [value] * count
            clusters += [number] * count
    return np.array(differences), np.array(clusters)


def test_shape_of_the_data(pairs):
    differences, clusters = pairs
    assert len(differences) == 135
    assert len(set(clusters)) == 29


def test_mcnemar_row56(pairs):
    differences, _ = pairs
    gained, lost = int((differences > 0).sum()), int((differences < 0).sum())
    assert mcnemar_asymptotic(gained, lost).statistic == pytest.approx(11.845070, **SIX)


def test_durkalski_row56(pairs):
    assert durkalski(*pairs).statistic == pytest.approx(7.542266, **SIX)
    assert round(durkalski(*pairs).statistic, 3) == 7.542


def test_obuchowski_row56(pairs):
    assert obuchowski(*pairs).statistic == pytest.approx(7.185841, **SIX)
    assert round(obuchowski(*pairs).statistic, 2) == 7.19


def test_standard_errors_row57(pairs):
    differences, clusters = pairs
    corrected = cluster_variance(differences, clusters, 29)
    miller = cluster_variance(differences, clusters, 29, correction=False)
    assert math.sqrt(corrected) == pytest.approx(0.067291, **SIX)
    assert math.sqrt(miller) == pytest.approx(0.066120, **SIX)


def test_cluster_t_row57(pairs):
    estimate = cluster_t(*pairs)
    assert estimate.value == pytest.approx(-0.214815, **SIX)
    assert (estimate.low, estimate.high) == pytest.approx((-0.352654, -0.076976), **SIX)


def test_engine_row58(pairs):
    summary = summarize(*pairs)
    assert 1 / summary.r == pytest.approx(1.264662, **SIX)
    estimate = engine_interval(summary)
    assert (estimate.low, estimate.high) == pytest.approx((-0.347700, -0.073122), **SIX)


def test_naive_tango_row58(pairs):
    differences, _ = pairs
    estimate = tango(int((differences > 0).sum()), int((differences < 0).sum()), 135)
    assert (estimate.low, estimate.high) == pytest.approx((-0.328481, -0.094818), **SIX)
