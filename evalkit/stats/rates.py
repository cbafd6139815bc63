"""Intervals for one rate: accuracy, hallucination rate, truncation rate."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv

from evalkit.estimates import Estimate
from evalkit.stats.clusters import cluster_codes, cluster_variance
from evalkit.stats.distributions import critical_value

NO_DATA = "no_data"


def wilson(
    successes: float,
    n: float,
    *,
    confidence_level: float = 0.95,
    deff: float = 1.0,
    n_clusters: int | None = None,
) -> Estimate:
    """Wilson's score interval for a binomial rate: the default.

    Args:
        successes: Count, 0 to n; fractions are allowed (mean of repeats).
        n: Number of samples.
        confidence_level: Two-sided.
        deff: Design effect; counts are divided by it (Kott & Carr 1997).
        n_clusters: Independent units; when given, t with n_clusters - 1 replaces z.

    Returns:
        Fractions. With n = 0 there is no number, and the warning `no_data`.

    Raises:
        ValueError: For counts that are not counts.

    Source: Wilson 1927; Brown, Cai & DasGupta 2001.

    >>> e = wilson(13, 16)
    >>> round(e.low, 6), round(e.high, 6)
    (0.569911, 0.934084)
    """
    _check(successes, n, deff)
    if n == 0:
        return _no_data("Wilson score", confidence_level)
    critical = _critical(confidence_level, n_clusters)
    low, high = wilson_limits(successes / deff, n / deff, critical)
    return _estimate("Wilson score", successes / n, low, high, n, confidence_level, n_clusters)


def wilson_limits(successes: float, n: float, critical: float) -> tuple[float, float]:
    """Wilson's limits at a critical value; n > 0."""
    p, z2 = successes / n, critical**2
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    low = 0.0 if successes == 0 else min(p, max(0.0, centre - half))
    high = 1.0 if successes == n else max(p, min(1.0, centre + half))
    return low, high


def clopper_pearson(
    successes: float,
    n: float,
    *,
    confidence_level: float = 0.95,
    deff: float = 1.0,
    n_clusters: int | None = None,
) -> Estimate:
    """The exact interval of Clopper and Pearson: a guarantee, wider than needed.

    With clusters the effective n is n / deff * (z / t)^2 (Korn & Graubard 1998).
    Arguments, result and errors are those of `wilson`.

    Source: Clopper & Pearson 1934.

    >>> round(clopper_pearson(0, 10).high, 6)
    0.308497
    """
    _check(successes, n, deff)
    if n == 0:
        return _no_data("Clopper-Pearson", confidence_level)
    tail = (1 - confidence_level) / 2
    p = successes / n
    ratio = critical_value(confidence_level) / _critical(confidence_level, n_clusters)
    effective = n / deff * ratio**2
    x = p * effective
    low = 0.0 if successes == 0 else float(betaincinv(x, effective - x + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(x + 1, effective - x, 1 - tail))
    return _estimate("Clopper-Pearson", p, low, high, n, confidence_level, n_clusters)


def jeffreys(successes: float, n: float, *, confidence_level: float = 0.95) -> Estimate:
    """The equal-tailed interval of the posterior under Jeffreys' prior.

    The lower limit is 0 when there is no success, the upper 1 when there is no failure.

    Source: Brown, Cai & DasGupta 2001.

    >>> e = jeffreys(13, 16)
    >>> round(e.low, 6), round(e.high, 6)
    (0.579215, 0.944187)
    """
    _check(successes, n, 1.0)
    if n == 0:
        return _no_data("Jeffreys", confidence_level)
    critical_value(confidence_level)
    tail = (1 - confidence_level) / 2
    a, b = successes + 0.5, n - successes + 0.5
    low = 0.0 if successes == 0 else float(betaincinv(a, b, tail))
    high = 1.0 if successes == n else float(betaincinv(a, b, 1 - tail))
    return _estimate("Jeffreys", successes / n, low, high, n, confidence_level, None)


def upper_bound(successes: float, n: float, *, confidence_level: float = 0.95) -> Estimate:
    """One-sided exact upper bound: "the rate is below this".

    Without any success this is 1 - alpha^(1/n), about 3/n at 95% (the rule of three,
    Hanley & Lippman-Hand 1983).

    >>> round(upper_bound(0, 300).high, 6)
    0.009936
    """
    _check(successes, n, 1.0)
    if n == 0:
        return _no_data("Clopper-Pearson, one-sided", confidence_level)
    critical_value(confidence_level)
    p = successes / n
    if successes == n:
        high = 1.0
    elif successes == 0:
        high = -math.expm1(math.log1p(-confidence_level) / n)
    else:
        high = float(betaincinv(successes + 1, n - successes, confidence_level))
    return _estimate("Clopper-Pearson, one-sided", p, 0.0, high, n, confidence_level, None)


def most_by_chance(n: int, rate: float, *, alpha: float = 0.05) -> int:
    """Return the least k that a count of n at this rate exceeds in at most `alpha` of cases.

    Raises:
        ValueError: When n is not positive or the rate is no share.

    >>> most_by_chance(31, 0.1), most_by_chance(31, 0.0)
    (6, 0)
    """
    if n < 1 or not 0 <= rate <= 1:
        raise ValueError(f"no binomial has n = {n} and a rate of {rate}")
    counts = np.arange(n)
    exceeded = betainc(counts + 1, n - counts, rate)
    return int((exceeded > alpha).sum())


def design_effect(values: NDArray[np.float64], clusters: ArrayLike) -> float:
    """How many times wider clustering makes the variance of a mean; at least 1.

    Args:
        values: Scores in [0, 1], shape (n,).
        clusters: Cluster label of each score, shape (n,).

    Where all scores are equal nothing is known of the variance, and each cluster
    counts as one sample.
    """
    codes, n_clusters = cluster_codes(clusters, values.size)
    if n_clusters < 2:
        return float(values.size)
    iid = float(np.var(values, ddof=1)) / values.size
    if iid <= 0:
        return values.size / n_clusters
    return max(1.0, cluster_variance(values, codes, n_clusters) / iid)


def wilson_clustered(
    values: NDArray[np.float64], clusters: ArrayLike, *, confidence_level: float = 0.95
) -> Estimate:
    """Wilson's interval for the mean of scores that come in clusters.

    Args:
        values: Scores in [0, 1], shape (n,).
        clusters: Cluster label of each score, shape (n,): the prompt for repeats.
        confidence_level: Two-sided.

    Returns:
        As `wilson`. A single cluster has no interval, and the warning `few_clusters`.
    """
    if values.size == 0:
        return _no_data("Wilson score", confidence_level)
    _, n_clusters = cluster_codes(clusters, values.size)
    total = float(values.sum())
    if n_clusters < 2:
        return Estimate(
            total / values.size,
            None,
            None,
            "Wilson score",
            values.size,
            confidence_level,
            n_clusters,
            ("few_clusters",),
        )
    if n_clusters == values.size:
        return wilson(total, values.size, confidence_level=confidence_level)
    return wilson(
        total,
        values.size,
        confidence_level=confidence_level,
        deff=design_effect(values, clusters),
        n_clusters=n_clusters,
    )


def _check(successes: float, n: float, deff: float) -> None:
    if not 0 <= successes <= n or not math.isfinite(n):
        raise ValueError(f"successes must lie in [0, n], got {successes} of {n}")
    if not deff > 0:
        raise ValueError(f"deff must be positive, got {deff}")


def _critical(confidence_level: float, n_clusters: int | None) -> float:
    if n_clusters is None:
        return critical_value(confidence_level)
    if n_clusters < 2:
        raise ValueError(f"n_clusters must be at least 2, got {n_clusters}")
    return critical_value(confidence_level, n_clusters - 1)


def _no_data(method: str, confidence_level: float) -> Estimate:
    return Estimate(None, None, None, method, 0, confidence_level, warnings=(NO_DATA,))


def _estimate(
    method: str,
    value: float,
    low: float,
    high: float,
    n: float,
    confidence_level: float,
    n_clusters: int | None,
) -> Estimate:
    warnings = ("few_clusters",) if n_clusters is not None and n_clusters < 10 else ()
    return Estimate(value, low, high, method, round(n), confidence_level, n_clusters, warnings)
