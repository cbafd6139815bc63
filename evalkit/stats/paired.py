"""Difference of two paired rates: Tango's score interval and the tests that go with it.

The four cells of the paired table are both right, only the candidate right (`gained`),
only the baseline right (`lost`) and neither. The difference is candidate minus baseline,
(gained - lost) / n. Where a rise is bad (hallucinations), swap `gained` and `lost`.
"""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evalkit.estimates import Estimate, TestResult
from evalkit.stats.distributions import (
    check_margin,
    critical_value,
    normal_cdf,
    normal_quantile,
    normal_sf,
)
from evalkit.stats.roots import find_root

FloatOrArray = TypeVar("FloatOrArray", float, NDArray[np.float64])

_METHOD = "Tango score"
_EDGE = 1 - 1e-15


def restricted_loss_rate(
    gained: FloatOrArray, lost: FloatOrArray, n: float, delta0: float
) -> FloatOrArray:
    """Maximum-likelihood rate of "only the baseline is right" when the difference is delta0.

    Works for numbers and for arrays of counts alike; rates with n = 1 are counts too.

    Source: Tango 1998.

    >>> round(restricted_loss_rate(20, 35, 1319, -0.02), 6)
    0.032681
    """
    linear = -gained - lost + (2 * n - gained + lost) * delta0
    spread = 8 * delta0 * (1 - delta0)
    # Two forms of one discriminant, each a sum without cancellation where it is used.
    if delta0 > 0:
        discriminant = linear * linear + spread * n * lost
    else:
        agree = n - gained - lost
        other = lost * (1 + delta0) + gained * (1 - delta0) + 2 * agree * delta0
        discriminant = other * other - spread * gained * agree
    root: FloatOrArray = abs(discriminant) ** 0.5
    return (root - linear) / (4 * n)


def tango_z(gained: float, lost: float, n: float, delta0: float) -> float:
    """Score statistic of the hypothesis that the paired difference is delta0.

    Positive when the candidate does better than the hypothesis says. Its square at 0 is
    McNemar's chi-square. Fractional counts are allowed (see `engine`).

    Args:
        gained: Pairs that only the candidate has right.
        lost: Pairs that only the baseline has right.
        n: All pairs, at least 1.
        delta0: Hypothesised difference, a fraction in (-1, 1).

    Raises:
        ValueError: For counts that are not counts, or delta0 out of range.

    Source: Tango 1998.

    >>> round(tango_z(20, 35, 1319, -0.02), 6)
    1.477737
    """
    _check(gained, lost, n)
    if n == 0:
        raise ValueError("n must be at least 1")
    if not -1 < delta0 < 1:
        raise ValueError(f"delta0 must lie in (-1, 1), got {delta0}")
    return _z(float(gained), float(lost), float(n), delta0)


def tango_limits(gained: float, lost: float, n: float, critical: float) -> tuple[float, float]:
    """The differences that a two-sided score test with this critical value accepts."""
    return tango_low(gained, lost, n, critical), tango_high(gained, lost, n, critical)


def tango_low(gained: float, lost: float, n: float, critical: float) -> float:
    """The lower of the two limits alone."""
    b, c, total = float(gained), float(lost), float(n)
    estimate = (b - c) / total
    if c >= total:
        return -1.0
    return min(estimate, find_root(lambda d: _z(b, c, total, d) - critical, -_EDGE, estimate))


def tango_high(gained: float, lost: float, n: float, critical: float) -> float:
    """The upper of the two limits alone."""
    b, c, total = float(gained), float(lost), float(n)
    estimate = (b - c) / total
    if b >= total:
        return 1.0
    return max(estimate, find_root(lambda d: _z(b, c, total, d) + critical, _EDGE, estimate))


def tango(gained: float, lost: float, n: float, *, confidence_level: float = 0.95) -> Estimate:
    """Tango's score interval for a paired difference: the default.

    Args:
        gained: Pairs that only the candidate has right.
        lost: Pairs that only the baseline has right.
        n: All pairs.
        confidence_level: Two-sided. The 90% interval is what a one-sided test at 5% reads.

    Returns:
        Fractions. Without pairs there is no number, and the warning `no_data`.

    Raises:
        ValueError: For counts that are not counts.

    Source: Tango 1998; recommended by Fagerland, Lydersen & Laake 2014.

    >>> e = tango(6, 16, 161)
    >>> round(e.low, 6), round(e.high, 6)
    (-0.124023, -0.005433)
    """
    _check(gained, lost, n)
    critical = critical_value(confidence_level)
    if n == 0:
        return Estimate(None, None, None, _METHOD, 0, confidence_level, warnings=("no_data",))
    low, high = tango_limits(gained, lost, n, critical)
    return Estimate((gained - lost) / n, low, high, _METHOD, round(n), confidence_level)


def noninferiority(gained: float, lost: float, n: float, *, margin: float) -> TestResult:
    """Test whether the candidate loses less than the margin.

    The hypothesis that is rejected by a small p-value says: the difference is -margin or
    worse. Equivalent to asking whether the lower limit of the two-sided interval at
    1 - 2 alpha lies above -margin.

    Args:
        gained: Pairs that only the candidate has right.
        lost: Pairs that only the baseline has right.
        n: All pairs.
        margin: Acceptable loss, a fraction in (0, 1).

    Source: Nam 1997; Liu et al. 2002.

    >>> round(noninferiority(20, 35, 1319, margin=0.02).pvalue, 6)
    0.069739
    """
    check_margin(margin)
    return _one_sided(gained, lost, n, -margin, "greater", "non-inferiority, Tango score")


def degradation(gained: float, lost: float, n: float, *, margin: float) -> TestResult:
    """Test whether the candidate loses more than the margin: the other side of the same.

    Complementary to `noninferiority`, so both may be read at full alpha (Finner &
    Strassburger 2002).

    >>> round(degradation(10, 60, 1000, margin=0.02).statistic, 6)
    -3.865114
    """
    check_margin(margin)
    return _one_sided(gained, lost, n, -margin, "less", "degradation, Tango score")


def tost(gained: float, lost: float, n: float, *, margin: float) -> TestResult:
    """Two one-sided tests: whether the difference lies within the margin on both sides.

    Source: Schuirmann 1987.

    >>> round(tost(20, 35, 1319, margin=0.02).pvalue, 6)
    0.069739
    """
    check_margin(margin)
    method = "equivalence (TOST), Tango score"
    sides = (
        _one_sided(gained, lost, n, -margin, "greater", method),
        _one_sided(gained, lost, n, margin, "less", method),
    )
    worst = max(sides, key=lambda side: -1.0 if side.pvalue is None else side.pvalue)
    return TestResult(worst.statistic, worst.pvalue, method, worst.n, "equivalence", worst.warnings)


def tipping_point(
    gained: int, lost: int, n: int, *, margin: float, alpha: float = 0.05
) -> int | None:
    """How many pairs must turn into losses before non-inferiority is lost.

    The pairs that turn are taken from those where the arms agree: with missing answers
    counted as agreeing, this is the fewest that must be wrong to change the decision.

    Returns:
        0 when it is not shown to begin with; `None` when even all of them do not change it.

    >>> tipping_point(20, 24, 1000, margin=0.02)
    5
    """
    critical = normal_quantile(1 - alpha)

    def holds(extra: int) -> bool:
        return tango_z(gained, lost + extra, n, -margin) >= critical

    check_margin(margin)
    low, high = -1, n - gained - lost
    if holds(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def _one_sided(
    gained: float, lost: float, n: float, delta0: float, alternative: str, method: str
) -> TestResult:
    _check(gained, lost, n)
    if n == 0:
        return TestResult(None, None, method, 0, alternative, ("no_data",))
    z = tango_z(gained, lost, n, delta0)
    p = normal_sf(z) if alternative == "greater" else normal_cdf(z)
    return TestResult(z, p, method, round(n), alternative)


def _z(gained: float, lost: float, n: float, delta0: float) -> float:
    numerator = gained - lost - n * delta0
    if numerator == 0:
        return 0.0
    rate = restricted_loss_rate(gained, lost, n, delta0)
    variance = n * (2 * rate + delta0 * (1 - delta0))
    if variance <= 0:
        return math.copysign(math.inf, numerator)
    return numerator / math.sqrt(variance)


def _check(gained: float, lost: float, n: float) -> None:
    if gained < 0 or lost < 0 or not gained + lost <= n * (1 + 1e-12) or not math.isfinite(n):
        raise ValueError(f"counts must hold 0 <= gained + lost <= n, got {gained}, {lost}, {n}")
