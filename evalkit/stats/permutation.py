"""Sign-flip permutation test of paired differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from evalkit.estimates import TestResult

_EXACT_FLIPS = 20


def sign_flip(
    differences: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    n_resamples: int = 10_000,
    alternative: str = "less",
) -> TestResult:
    """Permutation test of "the arms are exchangeable": signs of differences are flipped.

    Not a test of a margin. Exact with at most 20 differing pairs, and for binary pairs of
    any number; otherwise by random flips, which needs `rng`. For clusters pass their sums.

    Args:
        differences: Candidate minus baseline, shape (n,).
        rng: Source of randomness, needed only beyond 20 graded differing pairs.
        n_resamples: Random flips.
        alternative: `less` (the candidate is worse), `greater`, or `two-sided`.

    Raises:
        ValueError: For another alternative, or when `rng` is needed and missing.

    >>> d = [0.25, 0, -0.5, 0.125, -0.25, -0.125, 0, -0.375, 0, -0.25]
    >>> sign_flip(d).pvalue
    0.109375
    """
    if alternative not in ("less", "greater", "two-sided"):
        raise ValueError(f"alternative must be less, greater or two-sided, got {alternative}")
    d = np.asarray(differences, dtype=np.float64)
    sizes = np.abs(d[d != 0])
    observed = float(d.sum())
    if sizes.size and float(sizes.min()) == float(sizes.max()):
        lower, upper = _binomial_tails(int((d < 0).sum()), sizes.size)
    elif sizes.size <= _EXACT_FLIPS:
        lower, upper = _tails(_all_sums(sizes), observed, 0)
    elif rng is None:
        raise ValueError("more than 20 graded differing pairs need a generator (rng)")
    else:
        lower, upper = _tails(_random_sums(sizes, rng, n_resamples), observed, 1)
    p = {"less": lower, "greater": upper, "two-sided": min(1.0, 2 * min(lower, upper))}
    statistic = observed / d.size if d.size else None
    return TestResult(statistic, p[alternative], "sign-flip permutation", d.size, alternative)


def _binomial_tails(negative: int, flips: int) -> tuple[float, float]:
    lower = float(bdtr(flips - negative, flips, 0.5))
    upper = float(bdtr(negative, flips, 0.5))
    return lower, upper


def _all_sums(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _random_sums(
    sizes: NDArray[np.float64], rng: np.random.Generator, n_resamples: int
) -> NDArray[np.float64]:
    values, counts = np.unique(sizes, return_counts=True)
    sums = np.zeros(n_resamples)
    for value, count in zip(values, counts, strict=True):
        sums += value * (2.0 * rng.binomial(count, 0.5, size=n_resamples) - count)
    return sums


def _tails(sums: NDArray[np.float64], observed: float, extra: int) -> tuple[float, float]:
    """Shares at most and at least as large as observed; `extra` counts the data themselves."""
    slack = 1e-9 * max(1.0, abs(observed))
    lower = (int((sums <= observed + slack).sum()) + extra) / (sums.size + extra)
    upper = (int((sums >= observed - slack).sum()) + extra) / (sums.size + extra)
    return lower, upper
