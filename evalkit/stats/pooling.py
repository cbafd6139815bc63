"""Weighted mean of the differences of several families (MOVER).

Each family's own limits carry its variance, so families of any size, graded or clustered,
pool without a normal approximation of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from evalkit.estimates import Estimate, TestResult
from evalkit.stats.distributions import (
    check_margin,
    critical_value,
    normal_cdf,
    normal_sf,
    t_quantile,
)
from evalkit.stats.engine import PairedSummary
from evalkit.stats.paired import tango_high, tango_low
from evalkit.stats.roots import find_root

_METHOD = "MOVER of Tango scores"
# Beyond this the normal tail underflows and no decision depends on the value.
_LARGEST_Z = 37.0


def mover(
    parts: Sequence[PairedSummary],
    weights: Sequence[float] | None = None,
    *,
    confidence_level: float = 0.95,
) -> Estimate:
    """Interval for a weighted mean of paired differences.

    Args:
        parts: One summary a family.
        weights: One a family, not negative, scaled to sum to 1; equal when `None`. They
            must not depend on the answers.
        confidence_level: Two-sided.

    Returns:
        Fractions. When a part has no interval of its own, neither has the mean.

    Raises:
        ValueError: For weights that do not fit.

    Source: Zou & Donner 2008.

    >>> from evalkit.stats.engine import from_counts
    >>> parts = [from_counts(5, 9, 200), from_counts(20, 35, 1319), from_counts(3, 6, 100)]
    >>> e = mover(parts, confidence_level=0.90)
    >>> round(e.value, 6), round(e.low, 6), round(e.high, 6)
    (-0.020457, -0.042755, 7.1e-05)
    """
    shares = _shares(parts, weights)
    n, clusters = sum(part.n for part in parts), sum(part.n_clusters for part in parts)
    warnings = _warnings(parts)
    value = low = high = None
    if parts and all(part.n for part in parts):
        value = _mean(parts, shares)
    z = critical_value(confidence_level)
    if value is not None and all(part.usable for part in parts):
        down, up = (mover_reach(parts, shares, z, side) for side in (0, 1))
        low, high = value - down, value + up
    return Estimate(value, low, high, _METHOD, n, confidence_level, clusters, warnings)


def mover_z(
    parts: Sequence[PairedSummary], weights: Sequence[float] | None, delta0: float
) -> float:
    """The z at which the limit of `mover` that faces delta0 equals delta0.

    Sign and use are those of `tango_z`: positive when the estimate is above delta0, and
    the one-sided p-value of non-inferiority is the normal upper tail. A single binary part
    gives `tango_z` itself. Cut at 37 in size.

    Raises:
        ValueError: When a part has no interval, or weights do not fit.
    """
    shares = _shares(parts, weights)
    if not parts or not all(part.usable for part in parts):
        raise ValueError("every part needs pairs, and two clusters where t is used")
    distance = _mean(parts, shares) - delta0
    if distance == 0:
        return 0.0
    # side 0 looks down from the estimate to delta0, side 1 up.
    side = 0 if distance > 0 else 1
    size = abs(distance)
    z = find_root(lambda z: mover_reach(parts, shares, z, side) - size, 0.0, _LARGEST_Z)
    return math.copysign(z, distance)


def mover_reach(
    parts: Sequence[PairedSummary], shares: Sequence[float], z: float, side: int
) -> float:
    """Distance from the pooled estimate to its lower (side 0) or upper (side 1) limit at z.

    Args:
        parts: Usable ones.
        shares: Weights that sum to 1.
        z: Standard normal critical value; t replaces it in parts that use it.
        side: 0 or 1.
    """
    limit = tango_high if side else tango_low
    squares = (
        (w * (part.difference - limit(*part.counts, _critical(part, z)))) ** 2
        for w, part in zip(shares, parts, strict=True)
    )
    return math.sqrt(math.fsum(squares))


def mover_noninferiority(
    parts: Sequence[PairedSummary], weights: Sequence[float] | None = None, *, margin: float
) -> TestResult:
    """Test whether the weighted mean loss is less than the margin (a fraction)."""
    return _test(parts, weights, margin, "greater", "non-inferiority")


def mover_degradation(
    parts: Sequence[PairedSummary], weights: Sequence[float] | None = None, *, margin: float
) -> TestResult:
    """Test whether the weighted mean loss is more than the margin (a fraction)."""
    return _test(parts, weights, margin, "less", "degradation")


def _test(
    parts: Sequence[PairedSummary],
    weights: Sequence[float] | None,
    margin: float,
    alternative: str,
    name: str,
) -> TestResult:
    check_margin(margin)
    n, method, warnings = sum(p.n for p in parts), f"{name}, {_METHOD}", _warnings(parts)
    if not parts or not all(part.usable for part in parts):
        return TestResult(None, None, method, n, alternative, warnings)
    z = mover_z(parts, weights, -margin)
    p = normal_sf(z) if alternative == "greater" else normal_cdf(z)
    return TestResult(z, p, method, n, alternative, warnings)


def _mean(parts: Sequence[PairedSummary], shares: Sequence[float]) -> float:
    return math.fsum(w * part.difference for w, part in zip(shares, parts, strict=True))


def _critical(part: PairedSummary, z: float) -> float:
    """The critical value of a part that has the same tail probability as z."""
    if part.df is None or z == 0:
        return z
    return -t_quantile(normal_cdf(-z), part.df)


def _shares(parts: Sequence[PairedSummary], weights: Sequence[float] | None) -> tuple[float, ...]:
    if weights is None:
        return tuple(1 / len(parts) for _ in parts)
    total = math.fsum(weights)
    if len(weights) != len(parts) or min(weights, default=0) < 0 or not 0 < total < math.inf:
        raise ValueError("weights must be one a part, not negative, and not all zero")
    return tuple(weight / total for weight in weights)


def _warnings(parts: Sequence[PairedSummary]) -> tuple[str, ...]:
    if not parts:
        return ("no_data",)
    return tuple(dict.fromkeys(code for part in parts for code in part.warnings))
