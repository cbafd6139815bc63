"""Other intervals for a paired difference: cross-checks of Tango's, never the gate.

Wald's is here to be compared with: with few flips it covers far less than it claims.
Arguments and results are those of `paired.tango`; differences are candidate minus baseline.
"""

from __future__ import annotations

import math

from evalkit.estimates import Estimate
from evalkit.stats.distributions import critical_value
from evalkit.stats.rates import wilson_limits


def wald(gained: float, lost: float, n: float, *, confidence_level: float = 0.95) -> Estimate:
    """Normal interval without adjustment: too narrow with few flips, a point with none.

    >>> e = wald(6, 16, 161)
    >>> round(e.low, 6), round(e.high, 6)
    (-0.1184, -0.005824)
    """
    return _adjusted(gained, lost, n, 0.0, 0.0, "Wald", confidence_level)


def agresti_min(
    gained: float, lost: float, n: float, *, confidence_level: float = 0.95
) -> Estimate:
    """Wald's interval after adding one half to each of the four cells.

    Source: Agresti & Min 2005.

    >>> e = agresti_min(6, 16, 161)
    >>> round(e.low, 6), round(e.high, 6)
    (-0.118242, -0.004457)
    """
    return _adjusted(gained, lost, n, 0.5, 2.0, "Agresti-Min", confidence_level)


def bonett_price(
    gained: float, lost: float, n: float, *, confidence_level: float = 0.95
) -> Estimate:
    """Wald's interval after adding one to each of the two kinds of flips.

    Source: Bonett & Price 2012.

    >>> e = bonett_price(6, 16, 161)
    >>> round(e.low, 6), round(e.high, 6)
    (-0.119499, -0.003201)
    """
    return _adjusted(gained, lost, n, 1.0, 2.0, "Bonett-Price", confidence_level)


def newcombe(
    both: int, gained: int, lost: int, neither: int, *, confidence_level: float = 0.95
) -> Estimate:
    """Two Wilson intervals combined, with a continuity-corrected correlation.

    Unlike the others it needs all four cells.

    Source: Newcombe 1998, method 10.

    >>> e = newcombe(59, 6, 16, 80)
    >>> round(e.low, 6), round(e.high, 6)
    (-0.118621, -0.004625)
    """
    n, critical = both + gained + lost + neither, critical_value(confidence_level)
    if n == 0:
        return _no_data("Newcombe", confidence_level)
    x, y = both + gained, both + lost
    phi = _correlation(both, gained, lost, neither)
    low_x, high_x = wilson_limits(x, n, critical)
    low_y, high_y = wilson_limits(y, n, critical)
    difference = (x - y) / n
    down = _hypotenuse(x / n - low_x, high_y - y / n, phi)
    up = _hypotenuse(high_x - x / n, y / n - low_y, phi)
    return Estimate(difference, difference - down, difference + up, "Newcombe", n, confidence_level)


def unpaired(
    candidate: float, baseline: float, n: float, *, confidence_level: float = 0.95
) -> Estimate:
    """Normal interval that forgets the pairing, as many harnesses print it.

    Args:
        candidate: Pairs that the candidate has right.
        baseline: Pairs that the baseline has right.
        n: All pairs.
        confidence_level: Two-sided.

    >>> e = unpaired(1270, 1261, 1319)
    >>> round(e.low, 6), round(e.high, 6)
    (-0.00823, 0.021877)
    """
    if n == 0:
        return _no_data("unpaired normal", confidence_level)
    p, q = candidate / n, baseline / n
    half = critical_value(confidence_level) * math.sqrt((p * (1 - p) + q * (1 - q)) / n)
    return Estimate(
        p - q, p - q - half, p - q + half, "unpaired normal", round(n), confidence_level
    )


def _adjusted(
    gained: float,
    lost: float,
    n: float,
    each: float,
    total: float,
    method: str,
    confidence_level: float,
) -> Estimate:
    if gained < 0 or lost < 0 or gained + lost > n:
        raise ValueError(f"counts must hold 0 <= gained + lost <= n, got {gained}, {lost}, {n}")
    if n == 0:
        return _no_data(method, confidence_level)
    size = n + total
    centre, flips = (gained - lost) / size, (gained + lost + 2 * each) / size
    half = critical_value(confidence_level) * math.sqrt(max(0.0, flips - centre**2) / size)
    low, high = max(-1.0, centre - half), min(1.0, centre + half)
    value = (gained - lost) / n
    return Estimate(value, low, high, method, round(n), confidence_level)


def _correlation(both: int, gained: int, lost: int, neither: int) -> float:
    n = both + gained + lost + neither
    margins = (both + gained) * (lost + neither) * (both + lost) * (gained + neither)
    if margins == 0:
        return 0.0
    product: float = both * neither - gained * lost
    if product > 0:
        product = max(product - n / 2, 0)
    return product / math.sqrt(margins)


def _hypotenuse(a: float, b: float, phi: float) -> float:
    return math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))


def _no_data(method: str, confidence_level: float) -> Estimate:
    return Estimate(None, None, None, method, 0, confidence_level, warnings=("no_data",))
