"""Bootstrap of paired differences, without the loops.

Binary pairs need counts only: resampling n pairs is one multinomial draw of three cells,
and the law of infinitely many resamples is a power of a characteristic function. These
are cross-checks of the score interval: with few flips the bootstrap is too narrow.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.estimates import Estimate
from evalkit.stats.clusters import cluster_codes, cluster_sums
from evalkit.stats.distributions import critical_value, normal_cdf, normal_quantile

_DISTINCT = 1000
_LATTICE = 1025
_CHUNK = 2_000_000


def bootstrap_exact(gained: int, lost: int, n: int, *, confidence_level: float = 0.95) -> Estimate:
    """Percentile interval of the ideal bootstrap (infinitely many resamples): no seed.

    Args:
        gained: Pairs that only the candidate has right.
        lost: Pairs that only the baseline has right.
        n: All pairs.
        confidence_level: Two-sided.

    >>> e = bootstrap_exact(20, 35, 1319)
    >>> round(e.low, 6), round(e.high, 6)
    (-0.022745, -0.000758)
    """
    method = "bootstrap percentile, exact law"
    if n == 0:
        return Estimate(None, None, None, method, 0, confidence_level, warnings=("no_data",))
    critical_value(confidence_level)
    support, mass = bootstrap_law(gained, lost, n)
    cumulative = np.cumsum(mass)
    tail = (1 - confidence_level) / 2
    low, high = (
        float(support[min(int(np.searchsorted(cumulative, q)), support.size - 1)]) / n
        for q in (tail, 1 - tail)
    )
    return Estimate((gained - lost) / n, low, high, method, n, confidence_level)


def bootstrap_law(gained: int, lost: int, n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Law of gains minus losses in a resample of n pairs.

    Returns:
        Support (whole numbers around the observed difference, wide enough that less than
        1e-30 is outside) and probabilities, of the same shape.
    """
    _check(gained, lost, n)
    p, q, centre = gained / n, lost / n, gained - lost
    sd = math.sqrt(max(0.0, n * (p + q - (p - q) ** 2)))
    points = 1 << math.ceil(math.log2(24 * sd + 64))
    t = 2 * math.pi * np.arange(points // 2 + 1) / points
    step = p * np.exp(1j * t) + q * np.exp(-1j * t) + (1 - p - q)
    size, angle = np.abs(step), np.angle(step)
    log_size = np.log(np.maximum(size, 1e-300))
    turned = np.exp(n * log_size + 1j * (n * angle - t * (centre - points // 2)))
    mass = np.maximum(np.fft.irfft(np.conj(turned), points), 0.0)
    support = np.arange(points, dtype=np.int64) + (centre - points // 2)
    return support, mass / mass.sum()


def bootstrap_counts(
    gained: int, lost: int, n: int, *, rng: np.random.Generator, n_resamples: int = 10_000
) -> NDArray[np.float64]:
    """Resampled differences of binary pairs, as fractions, shape (n_resamples,).

    >>> replicates = bootstrap_counts(20, 35, 1319, rng=np.random.default_rng(0))
    >>> bool(abs(replicates.mean() + 15 / 1319) < 0.0005)
    True
    """
    _check(gained, lost, n)
    shares = np.array([gained, lost, n - gained - lost], dtype=np.float64) / n
    cells = rng.multinomial(n, shares, size=n_resamples)
    return (cells[:, 0] - cells[:, 1]) / n


def bootstrap_means(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    rng: np.random.Generator,
    n_resamples: int = 10_000,
) -> NDArray[np.float64]:
    """Resampled means of graded or clustered differences, shape (n_resamples,).

    Few distinct values: one multinomial draw over them. Clusters: whole clusters are
    drawn. Many values: they are drawn directly, or, beyond 20,000 pairs, after splitting
    each between its two neighbours on a lattice, which keeps the mean exactly and adds
    less than a quarter of the squared step to the variance.

    Args:
        differences: Candidate minus baseline, shape (n,), n at least 1.
        clusters: Label of the unit that is drawn whole, shape (n,).
        rng: Source of randomness.
        n_resamples: How many.
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.size == 0:
        raise ValueError("no differences to resample")
    if clusters is not None:
        codes, groups = cluster_codes(clusters, d.size)
        if groups < d.size:
            sizes = np.bincount(codes, minlength=groups).astype(np.float64)
            return _draw_ratio(cluster_sums(d, codes, groups), sizes, rng, n_resamples)
    values, occurrences = np.unique(d, return_counts=True)
    counts = occurrences.astype(np.float64)
    if values.size > _DISTINCT:
        if d.size <= 20 * _DISTINCT:
            return _draw_ratio(d, np.ones_like(d), rng, n_resamples)
        values, counts = _on_lattice(d)
    shares = counts / counts.sum()
    draws = rng.multinomial(d.size, shares, size=n_resamples)
    return draws @ values / d.size


def bca_interval(
    differences: ArrayLike, replicates: NDArray[np.float64], *, confidence_level: float = 0.95
) -> Estimate:
    """Bias-corrected and accelerated interval, with the acceleration in closed form.

    Args:
        differences: Candidate minus baseline, shape (n,).
        replicates: Resampled means, e.g. of `bootstrap_means`.
        confidence_level: Two-sided.

    Source: Efron 1987.
    """
    d = np.asarray(differences, dtype=np.float64)
    value, method = float(d.mean()), "bootstrap BCa"
    below = float((replicates < value).mean() + (replicates == value).mean() / 2)
    if not 0 < below < 1:
        return Estimate(
            value, None, None, method, d.size, confidence_level, warnings=("degenerate",)
        )
    bias, a = normal_quantile(below), acceleration(d)
    z = critical_value(confidence_level)
    levels = []
    for limit in (-z, z):
        moved = bias + limit
        levels.append(normal_cdf(bias + moved / (1 - a * moved)))
    low, high = (float(v) for v in np.quantile(replicates, levels))
    return Estimate(value, low, high, method, d.size, confidence_level)


def acceleration(differences: ArrayLike) -> float:
    """Acceleration of a mean: a sixth of its skewness over the root of n; 0 without spread.

    >>> round(acceleration([1.0] * 20 + [-1.0] * 35 + [0.0] * 1264), 6)
    -0.005389
    """
    d = np.asarray(differences, dtype=np.float64)
    u = d - d.mean()
    squares = float(u @ u)
    return float((u**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0


def _draw_ratio(
    sums: NDArray[np.float64],
    sizes: NDArray[np.float64],
    rng: np.random.Generator,
    n_resamples: int,
) -> NDArray[np.float64]:
    means = np.empty(n_resamples)
    chunk = max(1, _CHUNK // sums.size)
    for start in range(0, n_resamples, chunk):
        stop = min(start + chunk, n_resamples)
        index = rng.integers(0, sums.size, size=(stop - start, sums.size), dtype=np.int32)
        means[start:stop] = sums[index].sum(axis=1) / sizes[index].sum(axis=1)
    return means


def _on_lattice(d: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    low, high = float(d.min()), float(d.max())
    position = (d - low) / (high - low) * (_LATTICE - 1)
    left = np.minimum(position.astype(np.intp), _LATTICE - 2)
    right_share = position - left
    counts = np.zeros(_LATTICE)
    counts += np.bincount(left, 1 - right_share, _LATTICE)
    counts += np.bincount(left + 1, right_share, _LATTICE)
    return np.linspace(low, high, _LATTICE), counts


def _check(gained: int, lost: int, n: int) -> None:
    if n < 1 or min(gained, lost) < 0 or gained + lost > n:
        raise ValueError(f"needs n >= 1 and 0 <= gained + lost <= n, got {gained}, {lost}, {n}")
