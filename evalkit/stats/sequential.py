"""Decisions that stay valid however often one looks.

An e-value is the wealth of a bettor against a hypothesis: under it, the chance that the
wealth ever reaches 1 / alpha is at most alpha. Reject when E >= 1 / alpha, at any time.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

from evalkit.estimates import Estimate
from evalkit.stats.distributions import check_margin
from evalkit.stats.roots import find_root

_BETS = 64


def log_e_noninferior(gained: int, lost: int, n: int, *, margin: float) -> float:
    """Natural log of the e-value against "the loss is the margin or more".

    A mixture of 64 bets, so the order of the pairs does not matter and counts suffice.
    `lost` and `gained` as in `paired`; non-inferior when it reaches log(1 / alpha).

    Source: Ville 1939; Waudby-Smith & Ramdas 2024.

    >>> round(log_e_noninferior(30, 21, 1319, margin=0.02), 6)
    9.522847
    """
    return log_e_graded(*_three_values(gained, lost, n), margin=margin)


def log_e_degraded(gained: int, lost: int, n: int, *, margin: float) -> float:
    """Natural log of the e-value against "the loss is the margin or less".

    >>> round(log_e_degraded(10, 60, 1000, margin=0.02), 6)
    6.248178
    """
    return log_e_graded(*_three_values(gained, lost, n), margin=margin, degraded=True)


def log_e_graded(
    differences: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    margin: float,
    degraded: bool = False,
) -> float:
    """Natural log of the e-value for graded differences.

    For clusters pass the mean of each cluster; the target is then the mean over clusters.

    Args:
        differences: Candidate minus baseline, in [-1, 1], shape (n,).
        weights: How often each occurs; once when `None`.
        margin: Acceptable loss, a fraction in (0, 1).
        degraded: Bet on a loss beyond the margin instead of within it.

    Raises:
        ValueError: For differences out of range.
    """
    check_margin(margin)
    d = np.asarray(differences, dtype=np.float64)
    if d.size and not float(np.abs(d).max()) <= 1:
        raise ValueError("differences must lie in [-1, 1]")
    if weights is None:
        d, weights = np.unique(d, return_counts=True)
    sign = -1.0 if degraded else 1.0
    stakes = (np.arange(_BETS) + 0.5) / (_BETS * (1 - sign * margin))
    growth = np.zeros(_BETS)
    for value, weight in zip(d, np.asarray(weights, dtype=np.float64), strict=True):
        growth += weight * np.log1p(sign * stakes * (value + margin))
    return _log_mean_exp(growth)


def lower_confidence_sequence(gained: int, lost: int, n: int, *, alpha: float = 0.05) -> float:
    """Lower limit of the difference that holds at every look at once; at least -1.

    >>> round(lower_confidence_sequence(30, 21, 1319), 6)
    -0.009146
    """
    values, weights = _three_values(gained, lost, n)
    return _lower_limit(values, weights, alpha)


def confidence_sequence(differences: ArrayLike, *, confidence_level: float = 0.95) -> Estimate:
    """Mean difference with an interval that holds at every look at once.

    Each end is the border of the hypotheses that a bettor has not ruled out, so the lower
    one lies above minus the margin just when the e-value at that margin decides.

    Args:
        differences: Candidate minus baseline, in [-1, 1], shape (n,), in any order; the
            mean of each cluster where there are clusters.
        confidence_level: Two-sided.

    Source: Waudby-Smith & Ramdas 2024.

    >>> e = confidence_sequence([1.0] * 30 + [-1.0] * 21 + [0.0] * 1268, confidence_level=0.90)
    >>> round(e.low, 6)
    -0.009146
    """
    method = "betting confidence sequence"
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must lie in (0, 1), got {confidence_level}")
    d = np.asarray(differences, dtype=np.float64)
    if not d.size:
        return Estimate(None, None, None, method, 0, confidence_level, warnings=("no_data",))
    values, counts = np.unique(d, return_counts=True)
    weights, alpha = counts.astype(np.float64), (1 - confidence_level) / 2
    value = float(d.mean())
    low = _lower_limit(values, weights, alpha)
    high = 0.0 - _lower_limit(-values, weights, alpha)
    return Estimate(value, min(low, value), max(high, value), method, d.size, confidence_level)


def log_mixture_sprt(gained: int, lost: int) -> float:
    """Natural log of the mixture likelihood ratio against "flips lean to neither side".

    The always-valid p-value is the smallest exp(-value) seen so far, at most 1.

    Source: Robbins 1970; Johari et al. 2022.

    >>> round(log_mixture_sprt(6, 16), 6)
    0.573643
    """
    if min(gained, lost) < 0:
        raise ValueError(f"counts must not be negative, got {gained} and {lost}")
    ratio = float(betaln(gained + 0.5, lost + 0.5) - betaln(0.5, 0.5))
    return (gained + lost) * math.log(2) + ratio


def asymptotic_half_width(
    n: int, sd: float, *, alpha: float = 0.05, tuned_for: float = 1000.0
) -> float:
    """Half-width of the asymptotic confidence sequence for a mean; not valid at tiny n.

    Args:
        n: Pairs so far.
        sd: Standard deviation of the differences.
        alpha: Two-sided.
        tuned_for: The n at which it is about as narrow as it can be.

    Source: Waudby-Smith et al. 2024.

    >>> round(asymptotic_half_width(1000, 0.25), 6)
    0.023995
    """
    if n < 1 or sd < 0 or tuned_for <= 0 or not 0 < alpha < 1:
        raise ValueError("needs n >= 1, sd >= 0, tuned_for > 0 and alpha in (0, 1)")
    rho2 = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / tuned_for
    inflated = n * rho2 + 1
    return sd * math.sqrt(2 * inflated / (n**2 * rho2) * math.log(math.sqrt(inflated) / alpha))


def _lower_limit(values: NDArray[np.float64], weights: NDArray[np.float64], alpha: float) -> float:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie in (0, 1), got {alpha}")
    threshold = math.log(1 / alpha)

    def excess(limit: float) -> float:
        stakes = (np.arange(_BETS) + 0.5) / (_BETS * (1 + limit))
        growth = weights @ np.log1p(stakes[None, :] * (values[:, None] - limit))
        return _log_mean_exp(growth) - threshold

    edge = 1e-9
    if excess(-1 + edge) < 0:
        return -1.0
    return find_root(excess, -1 + edge, 1 - edge)


def _three_values(
    gained: int, lost: int, n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if min(gained, lost) < 0 or gained + lost > n:
        raise ValueError(f"counts must hold 0 <= gained + lost <= n, got {gained}, {lost}, {n}")
    return np.array([1.0, 0.0, -1.0]), np.array([gained, n - gained - lost, lost], np.float64)


def _log_mean_exp(values: NDArray[np.float64]) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(np.maximum(values - top, -700.0)).mean()))
