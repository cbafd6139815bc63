"""Ratios of paired measurements: how many times as fast, with a bootstrap interval."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from evalkit.estimates import Estimate
from evalkit.stats.distributions import critical_value, normal_cdf

FEW_PAIRS = 6
"""Below this the range of the pairs covers their median in less than 95%."""


def paired_ratio(
    baseline: ArrayLike,
    candidate: ArrayLike,
    *,
    rng: np.random.Generator,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
) -> Estimate:
    """Median of candidate ÷ baseline over pairs, and a bootstrap interval.

    Pairs are resampled, on the scale of logarithms, so that swapping the arms inverts value
    and interval. A percentile interval from few pairs is too narrow; its levels are widened
    as a t interval is against a normal one.

    Args:
        baseline: One positive figure a round, shape (n,).
        candidate: The same rounds, shape (n,).
        rng: Source of randomness.
        confidence_level: Two-sided.
        n_resamples: How many.

    Source: Hesterberg 2015, "expanded" percentile interval.

    >>> e = paired_ratio([2.0] * 8, [1.0] * 8, rng=np.random.default_rng(0))
    >>> e.value, e.low, e.high
    (0.5, 0.5, 0.5)
    """
    b, c = (np.asarray(side, dtype=np.float64) for side in (baseline, candidate))
    method = "paired ratio, bootstrap of the median, expanded percentiles"
    if b.shape != c.shape or b.ndim != 1:
        raise ValueError(f"needs pairs, got shapes {b.shape} and {c.shape}")
    critical_value(confidence_level)
    if b.size == 0:
        return Estimate(None, None, None, method, 0, confidence_level, warnings=("no_data",))
    if min(b.min(), c.min()) <= 0:
        raise ValueError("a ratio needs positive figures")
    logs = np.log(c / b)
    value, n = float(np.exp(np.median(logs))), int(b.size)
    if n == 1:
        return Estimate(value, None, None, method, 1, confidence_level, warnings=("single",))
    drawn = rng.integers(0, n, size=(n_resamples, n), dtype=np.int32)
    medians = np.median(logs[drawn], axis=1)
    # The t quantile for the sample's size, and the root by which a plug-in variance is small.
    widened = math.sqrt(n / (n - 1)) * critical_value(confidence_level, n - 1)
    tail = normal_cdf(-widened)
    low, high = (float(v) for v in np.exp(np.quantile(medians, (tail, 1 - tail))))
    warnings = ("few_repeats",) if n < FEW_PAIRS else ()
    return Estimate(
        value, min(low, value), max(high, value), method, n, confidence_level, warnings=warnings
    )
