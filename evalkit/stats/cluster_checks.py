"""Other treatments of clustered pairs: cross-checks of `engine`, never the gate."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.estimates import Estimate, TestResult
from evalkit.stats.clusters import FEW_CLUSTERS, cluster_codes, cluster_sums, cluster_variance
from evalkit.stats.distributions import critical_value, normal_sf


def cluster_t(
    differences: ArrayLike, clusters: ArrayLike, *, confidence_level: float = 0.95
) -> Estimate:
    """Mean difference with its CR1 standard error and Student's t.

    Args:
        differences: Candidate minus baseline, shape (n,).
        clusters: Label of each pair's cluster, shape (n,).
        confidence_level: Two-sided.

    Source: Liang & Zeger 1986; Miller 2024.

    >>> e = cluster_t([1.0, 0, 0, -1, 0, 1], [0, 0, 1, 1, 2, 2])
    >>> round(e.low, 6), round(e.high, 6)
    (-1.267551, 1.600884)
    """
    d = np.asarray(differences, dtype=np.float64)
    codes, groups = cluster_codes(clusters, d.size)
    method = "CR1, t"
    if groups < 2:
        return Estimate(None, None, None, method, d.size, confidence_level, groups, ("no_data",))
    half = critical_value(confidence_level, groups - 1) * math.sqrt(
        cluster_variance(d, codes, groups)
    )
    mean = float(d.mean())
    warnings = ("few_clusters",) if groups < FEW_CLUSTERS else ()
    return Estimate(
        mean, mean - half, mean + half, method, d.size, confidence_level, groups, warnings
    )


def durkalski(differences: ArrayLike, clusters: ArrayLike) -> TestResult:
    """McNemar's test for clustered pairs, each cluster weighing the same.

    Args:
        differences: Candidate minus baseline, shape (n,).
        clusters: Label of each pair's cluster, shape (n,).

    Source: Durkalski et al. 2003.

    >>> round(durkalski([1, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]).statistic, 6)
    1.8
    """
    d, codes, groups = _prepare(differences, clusters)
    means = cluster_sums(d, codes, groups) / np.bincount(codes, minlength=groups)
    return _chi_square(float(means.sum()), float(means @ means), "Durkalski", d.size)


def obuchowski(differences: ArrayLike, clusters: ArrayLike) -> TestResult:
    """McNemar's test for clustered pairs, each pair weighing the same.

    Source: Obuchowski 1998.

    >>> round(obuchowski([1, 0, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2]).statistic, 6)
    1.2
    """
    d, codes, groups = _prepare(differences, clusters)
    sums = cluster_sums(d, codes, groups)
    factor = groups / (groups - 1) if groups > 1 else 1.0
    return _chi_square(float(d.sum()), factor * float(sums @ sums), "Obuchowski", d.size)


def _prepare(
    differences: ArrayLike, clusters: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.intp], int]:
    d = np.asarray(differences, dtype=np.float64)
    codes, groups = cluster_codes(clusters, d.size)
    return d, codes, groups


def _chi_square(total: float, variance: float, method: str, n: int) -> TestResult:
    if variance <= 0:
        return TestResult(0.0, 1.0, method, n, "two-sided", ("no_flips",))
    z = total / math.sqrt(variance)
    return TestResult(z**2, 2 * normal_sf(abs(z)), method, n, "two-sided")
