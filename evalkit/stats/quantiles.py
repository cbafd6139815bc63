"""Quantiles of latencies, with intervals that hold when requests come in rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from evalkit.estimates import Estimate
from evalkit.stats.clusters import cluster_codes, cluster_sums
from evalkit.stats.distributions import critical_value


def quantile(
    values: ArrayLike,
    share: float,
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Estimate:
    """A quantile, with an interval read off the ordered values themselves.

    Independent values: its ends are two order statistics, exact whatever the law. Values in
    clusters: its ends are the quantiles at `share` ± t·se, where se is of the share of values
    below the quantile: robust to clusters, and never below that of independent values. An
    end that would lie beyond the last value is `None`: the data cannot bound it.

    Args:
        values: Shape (n,).
        share: Strictly between 0 and 1.
        clusters: Label of the round that a value comes from, shape (n,).
        confidence_level: Two-sided.

    Source: David & Nagaraja 2003, section 7.1; Woodruff 1952 for clusters; Hyndman & Fan 1996,
    type 7, for the value.

    >>> e = quantile(range(1, 101), 0.5)
    >>> e.value, e.low, e.high
    (50.5, 40.0, 61.0)
    """
    given = np.asarray(values, dtype=np.float64)
    if not 0 < share < 1:
        raise ValueError(f"share must lie strictly between 0 and 1, got {share}")
    critical_value(confidence_level)
    method, n = "quantile, order statistics", given.size
    if n == 0:
        return Estimate(None, None, None, method, 0, confidence_level, warnings=("no_data",))
    value, groups = float(np.quantile(given, share)), None
    codes = None
    if clusters is not None:
        codes, groups = cluster_codes(clusters, n)
    if codes is None or groups is None or groups == n:
        low, high = _exact(np.sort(given), share, (1 - confidence_level) / 2)
    else:
        method = "quantile, Woodruff"
        se = max(math.sqrt(share * (1 - share) / n), _clustered(given <= value, codes, groups))
        reach = critical_value(confidence_level, max(1, groups - 1)) * se
        low, high = (
            float(np.quantile(given, at)) if 0 < at < 1 else None
            for at in (share - reach, share + reach)
        )
    return Estimate(
        value,
        None if low is None else min(value, low),
        None if high is None else max(value, high),
        method,
        n,
        confidence_level,
        n_clusters=groups,
        warnings=("unbounded",) if low is None or high is None else (),
    )


def _exact(x: NDArray[np.float64], share: float, tail: float) -> tuple[float | None, float | None]:
    """Order statistics beyond which a quantile lies with a probability of `tail` at most."""
    n = x.size
    below = bdtr(np.arange(n), n, share)
    low = int((below <= tail).sum())
    # P(more than `rank` values lie below) = P(the next order statistic lies below).
    high = int((1 - below > tail).sum())
    return float(x[low - 1]) if low else None, float(x[high]) if high < n else None


def median_of(values: Sequence[float], *, confidence_level: float = 0.95) -> Estimate:
    """A median of few values, with the exact interval between two of them.

    With fewer than six values even the whole range covers less than 95%: then it is given,
    with a warning.

    Source: David & Nagaraja 2003, section 7.1.

    >>> e = median_of([3.0, 1.0, 2.0, 6.0, 5.0, 4.0])
    >>> e.value, e.low, e.high
    (3.5, 1.0, 6.0)
    """
    method = "median, order statistics"
    x = sorted(values)
    n = len(x)
    critical_value(confidence_level)
    if n == 0:
        return Estimate(None, None, None, method, 0, confidence_level, warnings=("no_data",))
    value = float(np.median(x))
    if n == 1:
        return Estimate(value, None, None, method, 1, confidence_level, warnings=("single",))
    rank, tail = 0, 0.5**n
    while tail <= (1 - confidence_level) / 2:
        rank += 1
        tail += math.comb(n, rank) * 0.5**n
    low = max(1, rank)
    warnings = ("few_repeats",) if rank == 0 else ()
    return Estimate(value, x[low - 1], x[n - low], method, n, confidence_level, warnings=warnings)


def _clustered(below: NDArray[np.bool_], codes: NDArray[np.intp], groups: int) -> float:
    """Standard error of a share over clusters (CR1)."""
    if groups < 2:
        return 0.0
    sums = cluster_sums(below - below.mean(), codes, groups)
    return math.sqrt(groups / (groups - 1) * float(sums @ sums)) / below.size
