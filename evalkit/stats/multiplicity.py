"""Several tests at once: families, candidates.

"All families are non-inferior" needs no correction (intersection-union test, Berger
1982). "Some family is degraded" needs Holm's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def holm(pvalues: Sequence[float]) -> list[float]:
    """Adjusted p-values that control the chance of any false alarm, in the given order.

    Source: Holm 1979.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    _check(pvalues)
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    adjusted = [0.0] * len(pvalues)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(pvalues) - rank) * pvalues[i]))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(pvalues: Sequence[float]) -> list[float]:
    """Adjusted p-values that control the share of false discoveries, in the given order.

    Source: Benjamini & Hochberg 1995.

    >>> [round(p, 3) for p in benjamini_hochberg([0.01, 0.04, 0.03])]
    [0.03, 0.04, 0.04]
    """
    _check(pvalues)
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__, reverse=True)
    adjusted = [0.0] * len(pvalues)
    smallest = 1.0
    for rank, i in enumerate(order):
        smallest = min(smallest, pvalues[i] * (len(pvalues) / (len(pvalues) - rank)))
        adjusted[i] = smallest
    return adjusted


def fixed_sequence(pvalues: Sequence[float], alpha: float = 0.05) -> int:
    """How many hypotheses, tested in the given order, fall before the first that stands.

    With candidates from safest to cheapest, each against the one baseline, the last that
    falls is the cheapest that may ship; the chance of any false one stays at alpha.

    Source: Maurer, Hothorn & Lehmacher 1995.

    >>> fixed_sequence([0.001, 0.04, 0.2, 0.01])
    2
    """
    _check(pvalues)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie in (0, 1), got {alpha}")
    for passed, p in enumerate(pvalues):
        if p > alpha:
            return passed
    return len(pvalues)


def _check(pvalues: Sequence[float]) -> None:
    for p in pvalues:
        if not 0 <= p <= 1 or math.isnan(p):
            raise ValueError(f"p-values must lie in [0, 1], got {p}")
