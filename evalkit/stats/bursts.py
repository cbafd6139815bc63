"""Failures that come in bursts: windows with more of them than chance spreads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

LEAST_FAILURES = 3
"""Fewer are no burst, however close together."""


# Windows in a stretch: a burst may be longer than one.
_WIDTHS = (1, 2, 4, 8)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Neighbouring windows with too many failures.

    Attributes:
        first, last: Places of the windows, both included.
        pvalue: Of the unlikeliest part, adjusted for all that were looked at (Bonferroni).
    """

    first: int
    last: int
    pvalue: float


def bursts(failed: Sequence[int], asked: Sequence[int], *, alpha: float) -> tuple[Cluster, ...]:
    """Find stretches of windows with more failures than chance would put there.

    Given all failures, each falls into a window with the window's share of the requests when
    nothing but chance is at work: a scan statistic with fixed windows (Naus, JASA 60:532,
    1965), by binomial tails, which are larger than the exact hypergeometric ones.

    Args:
        failed: Failures of each window.
        asked: Requests of each window.
        alpha: Chance of any finding without a burst.

    >>> bursts([0, 1, 0, 9, 8, 0, 1, 0], [100] * 8, alpha=0.01)[0].first
    3
    >>> bursts([1, 2, 0, 1, 2, 1, 1, 0], [100] * 8, alpha=0.01)
    ()
    """
    k, n = (np.asarray(side, dtype=np.float64) for side in (failed, asked))
    total, requests = float(k.sum()), float(n.sum())
    if total < LEAST_FAILURES or requests == 0:
        return ()
    widths = [width for width in _WIDTHS if 2 * width < k.size]
    looks = sum(k.size - width + 1 for width in widths)
    unlikely = np.ones_like(k)
    for width in widths:
        many = np.convolve(k, np.ones(width), "valid")
        share = np.convolve(n, np.ones(width), "valid") / requests
        least = np.maximum(many, 1)
        tails = np.where(many >= LEAST_FAILURES, betainc(least, total - least + 1, share), 1.0)
        for place in np.argsort(tails, kind="stable"):
            held = slice(int(place), int(place) + width)
            # Around a window that is marked already, a wider one says nothing new.
            if tails[place] * looks <= alpha and unlikely[held].min() > alpha:
                unlikely[held] = _ends_cut(k[held], float(tails[place]) * looks)
    return tuple(_joined(unlikely, alpha))


def _ends_cut(failed: Floats, pvalue: float) -> Floats:
    """Mark a stretch from its first failure to its last."""
    places = np.flatnonzero(failed)
    marked = np.ones_like(failed)
    marked[places[0] : places[-1] + 1] = pvalue
    return marked


def _joined(unlikely: Floats, alpha: float) -> list[Cluster]:
    found: list[Cluster] = []
    for place, pvalue in enumerate(unlikely):
        if pvalue > alpha:
            continue
        if found and found[-1].last == place - 1:
            before = found[-1]
            found[-1] = Cluster(before.first, place, min(before.pvalue, float(pvalue)))
        else:
            found.append(Cluster(place, place, float(pvalue)))
    return found
