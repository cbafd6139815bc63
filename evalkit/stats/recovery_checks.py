"""Closed-form intervals for the ratio of two paired rates: cross-checks of `recovery`."""

from __future__ import annotations

import math

from evalkit.estimates import Estimate
from evalkit.stats.distributions import critical_value
from evalkit.stats.rates import wilson_limits
from evalkit.stats.recovery import fieller_limits


def recovery_log(
    both: int, gained: int, lost: int, n: int, *, confidence_level: float = 0.95
) -> Estimate:
    """Delta-method interval on the log of the ratio.

    >>> e = recovery_log(59, 6, 16, 161)
    >>> round(e.low, 6), round(e.high, 6)
    (0.75975, 0.98863)
    """
    x, y = both + gained, both + lost
    if x == 0 or y == 0:
        return _unbounded("log ratio", n, confidence_level)
    half = critical_value(confidence_level) * math.sqrt((gained + lost) / (x * y))
    low, high = x / y * math.exp(-half), x / y * math.exp(half)
    return Estimate(x / y, low, high, "log ratio", n, confidence_level)


def recovery_bonett_price(
    both: int, gained: int, lost: int, n: int, *, confidence_level: float = 0.95
) -> Estimate:
    """Hybrid of two Wilson intervals.

    Pairs that neither has right hold no information on the ratio, so the rates are taken
    over the others, and the critical value is scaled for the dependence.

    Source: Bonett & Price 2006.

    >>> e = recovery_bonett_price(59, 6, 16, 161)
    >>> round(e.low, 6), round(e.high, 6)
    (0.757903, 0.991039)
    """
    method = "Bonett-Price ratio"
    x, y = both + gained, both + lost
    if x == 0 or y == 0:
        return _unbounded(method, n, confidence_level)
    some = both + gained + lost
    first, second = (x + 1) / (some + 2), (y + 1) / (some + 2)
    joint = math.sqrt((gained + lost + 2) / ((x + 1) * (y + 1)))
    separate = math.sqrt((1 - first) / (x + 1)) + math.sqrt((1 - second) / (y + 1))
    z = critical_value(confidence_level) * joint / separate
    top, bottom = wilson_limits(x, some, z), wilson_limits(y, some, z)
    return Estimate(x / y, top[0] / bottom[1], top[1] / bottom[0], method, n, confidence_level)


def recovery_fieller(
    both: int,
    gained: int,
    lost: int,
    n: int,
    *,
    confidence_level: float = 0.95,
    null_variance: bool = True,
) -> Estimate:
    """Fieller's interval, by default with the variance under equal rates.

    >>> e = recovery_fieller(59, 6, 16, 161)
    >>> round(e.low, 6), round(e.high, 6)
    (0.759822, 0.988536)
    """
    method = "Fieller, null variance" if null_variance else "Fieller"
    critical = critical_value(confidence_level)
    x, y = both + gained, both + lost
    if x == 0 or y == 0:
        return _unbounded(method, n, confidence_level)
    limits: tuple[float, float] | None
    if null_variance:
        limits = _null_variance_limits(x, y, gained + lost, critical)
    else:
        p, q = x / n, y / n
        limits = fieller_limits(
            p, q, p * (1 - p) / n, q * (1 - q) / n, (both / n - p * q) / n, critical
        )
    if limits is None:
        return _unbounded(method, n, confidence_level)
    return Estimate(x / y, limits[0], limits[1], method, n, confidence_level)


def _null_variance_limits(x: int, y: int, flips: int, critical: float) -> tuple[float, float]:
    spread = critical**2 * flips
    half = 2 * x * y + spread
    # half² - (2xy)², written so that nothing is lost where nothing flips.
    root = math.sqrt(spread * (4 * x * y + spread))
    return (half - root) / (2 * y * y), (half + root) / (2 * y * y)


def _unbounded(method: str, n: int, confidence_level: float) -> Estimate:
    warning = "no_data" if n == 0 else "unbounded"
    return Estimate(None, None, None, method, n, confidence_level, warnings=(warning,))
