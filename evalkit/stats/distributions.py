"""Tail probabilities and quantiles of the normal and the t distribution, for scalars."""

from __future__ import annotations

import math
from statistics import NormalDist

from scipy.special import stdtr, stdtrit

_STANDARD = NormalDist()
_SQRT2 = math.sqrt(2)
# Beyond this the normal tail underflows and no decision depends on the value.
LARGEST_Z = 37.0


def normal_cdf(x: float) -> float:
    """P(X <= x) of the standard normal, exact in both tails."""
    return 0.5 * math.erfc(-x / _SQRT2)


def normal_sf(x: float) -> float:
    """P(X > x) of the standard normal, exact in both tails."""
    return 0.5 * math.erfc(x / _SQRT2)


def normal_quantile(p: float) -> float:
    """The x with P(X <= x) = p of the standard normal.

    Raises:
        ValueError: If p is not strictly between 0 and 1.
    """
    if not 0 < p < 1:
        raise ValueError(f"p must lie strictly between 0 and 1, got {p}")
    return _STANDARD.inv_cdf(p)


def t_cdf(x: float, df: float) -> float:
    """P(X <= x) of Student's t with df degrees of freedom."""
    return float(stdtr(df, x))


def t_sf(x: float, df: float) -> float:
    """P(X > x) of Student's t with df degrees of freedom."""
    return float(stdtr(df, -x))


def t_quantile(p: float, df: float) -> float:
    """The x with P(X <= x) = p of Student's t with df degrees of freedom.

    Far out in the tail, where scipy gives up, it is infinite.
    """
    x = float(stdtrit(df, p))
    return x if math.isfinite(x) else math.copysign(math.inf, p - 0.5)


def z_of_tails(below: float, above: float) -> float:
    """The standard normal value with these tail probabilities, cut at 37 in size.

    The smaller tail decides, so that nothing is lost far out.

    >>> round(z_of_tails(0.975, 0.025), 6)
    1.959964
    """
    tail = min(below, above)
    size = LARGEST_Z if tail <= 0 else min(LARGEST_Z, -normal_quantile(min(tail, 0.5)))
    return math.copysign(size, below - above) if size else 0.0


def normal_equivalent(t: float, df: float) -> float:
    """The standard normal value with the tail probability that t has with df degrees."""
    return z_of_tails(t_cdf(t, df), t_sf(t, df))


def critical_value(confidence_level: float, df: float | None = None) -> float:
    """Two-sided critical value: normal, or Student's t where `df` is given.

    Raises:
        ValueError: If the confidence level is not strictly between 0 and 1.

    >>> round(critical_value(0.95), 6)
    1.959964
    """
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie in (0, 1), got {confidence_level}")
    tail = (1 - confidence_level) / 2
    return -normal_quantile(tail) if df is None else -t_quantile(tail, df)


def check_margin(margin: float) -> None:
    """Refuse a margin that is not a fraction strictly between 0 and 1.

    Raises:
        ValueError: Naming the argument; 2 (points) instead of 0.02 is the usual slip.
    """
    if not 0 < margin < 1:
        raise ValueError(f"margin must be a fraction in (0, 1), got {margin}")
