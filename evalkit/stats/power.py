"""How many pairs a decision needs, and what a given number of pairs can prove.

Rates are fractions of all pairs: `p10` of pairs that only the candidate has right, `p01`
of pairs that only the baseline has right. Multiply by the design effect for clusters; for
all of F families at once use power^(1/F).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, gammaln, xlogy

from evalkit.stats.distributions import check_margin, normal_quantile
from evalkit.stats.paired import restricted_loss_rate
from evalkit.stats.roots import find_root


def n_mcnemar(
    p10: float, p01: float, *, alpha: float = 0.05, power: float = 0.8, two_sided: bool = True
) -> float:
    """Pairs needed to find that two rates differ at all.

    Raises:
        ValueError: For rates that are no rates, or that are equal.

    Source: Connor 1987.

    >>> round(n_mcnemar(0.05, 0.45), 6)
    22.011324
    """
    _check_rates(p10, p01, alpha, power)
    if p10 == p01:
        raise ValueError("equal rates do not differ, however many pairs there are")
    z_alpha = -normal_quantile(alpha / 2 if two_sided else alpha)
    flips, difference = p10 + p01, p10 - p01
    alternative = math.sqrt(flips - difference**2)
    return ((z_alpha * math.sqrt(flips) + normal_quantile(power) * alternative) / difference) ** 2


def n_noninferiority(
    p10: float, p01: float, *, margin: float, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Pairs needed to show non-inferiority at these true rates.

    Args:
        p10: Rate of gains.
        p01: Rate of losses.
        margin: Acceptable loss, a fraction in (0, 1).
        alpha: One-sided.
        power: Wanted chance of showing it.

    Returns:
        Pairs, not rounded.

    Where the true loss is beyond the margin, the same formula gives the pairs needed to
    show that (`degradation`).

    Raises:
        ValueError: When the true loss equals the margin: no number of pairs decides.

    Source: Nam 1997.

    >>> round(n_noninferiority(0.03, 0.03, margin=0.02), 4)
    981.3996
    """
    _check_rates(p10, p01, alpha, power)
    check_margin(margin)
    if p10 - p01 == -margin:
        raise ValueError("the true loss equals the margin: no number of pairs decides")
    rate = restricted_loss_rate(p10, p01, 1.0, -margin)
    null = max(0.0, 2 * rate - margin * (1 + margin))
    alternative = p10 + p01 - (p10 - p01) ** 2
    return _combine(null, alternative, p10 - p01 + margin, alpha, power)


def n_ratio_noninferiority(
    p_candidate: float,
    p_baseline: float,
    p10: float,
    *,
    minimum: float,
    alpha: float = 0.05,
    power: float = 0.8,
) -> float:
    """Pairs needed to show that recovery is above a minimum, at these true rates.

    Args:
        p_candidate: Rate of the candidate.
        p_baseline: Rate of the baseline.
        p10: Rate of pairs that only the candidate has right.
        minimum: Smallest acceptable candidate / baseline, in (0, 1].
        alpha: One-sided.
        power: Wanted chance of showing it.

    Source: Nam & Blackwelder 2002.

    >>> round(n_ratio_noninferiority(0.956, 0.956, 0.02, minimum=0.98), 4)
    745.2446
    """
    p11 = p_candidate - p10
    p01 = p_baseline - p11
    _check_rates(p10, p01, alpha, power)
    if p11 < 0 or p11 + p10 + p01 > 1 + 1e-12:
        raise ValueError("the rates do not make a table")
    distance = p_candidate - minimum * p_baseline
    if distance <= 0 or not 0 < minimum <= 1:
        raise ValueError("the true ratio is not above the minimum")
    some = p11 + p10 + p01
    a = 1 + minimum
    b = p_baseline * minimum**2 - (p11 + p10 + 2 * p01)
    c = p01 * (1 - minimum) * some
    rate = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    null = (1 + minimum) * rate + some * (minimum - 1)
    alternative = (
        p_candidate * (1 - p_candidate)
        + minimum**2 * p_baseline * (1 - p_baseline)
        - 2 * minimum * (p11 - p_candidate * p_baseline)
    )
    return _combine(null, alternative, distance, alpha, power)


def n_two_samples(
    p_baseline: float, loss: float, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """Requests of each arm needed to find a loss between two independent samples.

    Args:
        p_baseline: Rate of the baseline, in (0, 1].
        loss: By how much the other one is lower, in (0, p_baseline].
        alpha: One-sided.
        power: Wanted chance of finding it.

    Returns:
        Requests, not rounded; the same number of each arm.

    Raises:
        ValueError: For rates that are no rates.

    Source: Fleiss, Levin & Paik 2003, section 4.2, without a correction for continuity.

    >>> round(n_two_samples(0.75, 0.25, alpha=0.025, power=0.9), 1)
    76.7
    """
    p_other = p_baseline - loss
    if not loss > 0 or not 0 <= p_other < p_baseline <= 1:
        raise ValueError(f"a loss of {loss} from a rate of {p_baseline} leaves no rate")
    _check_rates(0.0, 0.0, alpha, power)
    mean = (p_baseline + p_other) / 2
    null = 2 * mean * (1 - mean)
    alternative = p_baseline * (1 - p_baseline) + p_other * (1 - p_other)
    return _combine(null, alternative, loss, alpha, power)


def n_floor(margin: float, alpha: float = 0.05) -> int:
    """Pairs below which even zero flips do not show non-inferiority.

    >>> [n_floor(margin) for margin in (0.01, 0.02, 0.03, 0.05)]
    [268, 133, 88, 52]
    """
    check_margin(margin)
    return math.ceil(normal_quantile(1 - alpha) ** 2 * (1 - margin) / margin)


def power_noninferiority(
    p10: float, p01: float, n: int, *, margin: float, alpha: float = 0.05
) -> float:
    """Exact chance that the score test shows non-inferiority with n pairs.

    For each number of losses the test passes from some number of gains on, so the
    trinomial law needs one binomial tail for each (losses with odds below one in 10^15
    left out).

    >>> round(power_noninferiority(0.03, 0.03, 982, margin=0.02), 6)
    0.807602
    """
    _check_rates(p10, p01, alpha, 0.5)
    check_margin(margin)
    spread = 8 * math.sqrt(n * p01 * (1 - p01)) + 35
    first, last = max(0, int(n * p01 - spread)), min(n, int(n * p01 + spread))
    losses = np.arange(first, last + 1, dtype=np.float64)
    needed = _gains_needed(losses, n, margin, normal_quantile(1 - alpha))
    log_mass = gammaln(n + 1) - gammaln(losses + 1) - gammaln(n - losses + 1)
    log_mass += xlogy(losses, p01) + xlogy(n - losses, 1 - p01)
    others = n - losses
    share = min(1.0, p10 / (1 - p01)) if p01 < 1 else 0.0
    tail = np.where(needed > others, 0.0, 1.0)
    some = (needed > 0) & (needed <= others)
    tail[some] = bdtrc(needed[some] - 1, others[some].astype(np.int64), share)
    return min(1.0, float(np.exp(log_mass) @ tail))


def smallest_provable_margin(
    n: int, flip_rate: float, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    """The smallest margin that n pairs can show when the arms are truly equal.

    Args:
        n: Pairs, divided by the design effect for clusters.
        flip_rate: Share of pairs that flip, in [0, 1].
        alpha: One-sided.
        power: Wanted chance of showing it.

    Returns:
        A fraction; 1 when not even the whole range is provable.

    >>> round(smallest_provable_margin(1319, 0.06), 3)
    0.017
    """
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n}")
    _check_rates(flip_rate / 2, flip_rate / 2, alpha, power)

    def excess(margin: float) -> float:
        half = flip_rate / 2
        needed = n_noninferiority(half, half, margin=margin, alpha=alpha, power=power)
        return math.log(n) - math.log(max(needed, 1e-300))

    low, high = 1e-9, 1 - 1e-9
    if excess(high) < 0:
        return 1.0
    return find_root(excess, low, high)


def _gains_needed(
    losses: NDArray[np.float64], n: int, margin: float, critical: float
) -> NDArray[np.float64]:
    """The fewest gains that pass beside each number of losses; n + 1 where none do."""

    def passes(gains: NDArray[np.float64]) -> NDArray[np.bool_]:
        rate = restricted_loss_rate(gains, losses, float(n), -margin)
        variance = n * np.maximum(0.0, 2 * rate - margin * (1 + margin))
        reached: NDArray[np.bool_] = gains - losses + n * margin >= critical * np.sqrt(variance)
        return reached

    fail, good = np.full_like(losses, -1.0), n - losses + 1
    while bool((good - fail > 1).any()):
        middle = np.floor((fail + good) / 2)
        hit = passes(np.maximum(middle, 0.0))
        good, fail = np.where(hit, middle, good), np.where(hit, fail, middle)
    return np.where(good > n - losses, n + 1.0, good)


def _combine(null: float, alternative: float, distance: float, alpha: float, power: float) -> float:
    z_alpha, z_beta = -normal_quantile(alpha), normal_quantile(power)
    reach = z_alpha * math.sqrt(null) + z_beta * math.sqrt(max(0.0, alternative))
    return (max(0.0, reach) / distance) ** 2


def _check_rates(p10: float, p01: float, alpha: float, power: float) -> None:
    # A sum of two shares may exceed 1 by rounding.
    if min(p10, p01) < 0 or p10 + p01 > 1 + 1e-12:
        raise ValueError(f"p10 and p01 must be rates with a sum of at most 1, got {p10}, {p01}")
    if not 0 < alpha < 1 or not 0 < power < 1:
        raise ValueError("alpha and power must lie in (0, 1)")
