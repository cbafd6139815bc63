"""A Bayesian second opinion on a paired difference: shown beside the test, never the gate."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

from evalkit.stats.distributions import check_margin

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_PIECES = 32
_TAIL = 1e-16


def probability_degraded(gained: int, lost: int, n: int, *, margin: float) -> float:
    """Posterior probability that the loss is beyond the margin.

    The prior is Dirichlet(1/2, 1/2, 1) on gains, losses and the rest; the flip rate and
    the direction of flips are then independent, and one integral remains.

    Args:
        gained: Pairs that only the candidate has right.
        lost: Pairs that only the baseline has right.
        n: All pairs.
        margin: Acceptable loss, a fraction in (0, 1).

    Source: Wellek 2010, for non-inferiority in this model.

    >>> round(probability_degraded(20, 35, 1319, margin=0.02), 6)
    0.064408
    """
    check_margin(margin)
    if min(gained, lost) < 0 or gained + lost > n:
        raise ValueError(f"counts must hold 0 <= gained + lost <= n, got {gained}, {lost}, {n}")
    a, b = gained + lost + 1.0, n - gained - lost + 1.0
    low = max(margin, float(betaincinv(a, b, _TAIL)))
    high = 1 - float(betaincinv(b, a, _TAIL))
    if low >= high:
        return 0.0
    edges = np.linspace(low, high, _PIECES + 1)
    half = (edges[1:] - edges[:-1])[:, None] / 2
    flips = edges[:-1, None] + half * (_NODES + 1)
    log_density = xlogy(a - 1, flips) + xlog1py(b - 1, -flips) - betaln(a, b)
    lean = betainc(gained + 0.5, lost + 0.5, np.clip((1 - margin / flips) / 2, 0, 1))
    total = float(np.sum(half * _WEIGHTS * np.exp(log_density) * lean))
    return min(1.0, max(0.0, total))
