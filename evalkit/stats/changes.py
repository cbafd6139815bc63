"""Did a sequence of categories change at some time, beyond how it varies anyway?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from evalkit.estimates import TestResult

LEAST_SIDE = 3
"""Fewer on one side of a change are not told from chance."""

_METHOD = "largest chi-squared over all splits, permutations"
_MOST_CATEGORIES = 8
_CHUNK = 200


def change_point(
    sequence: Sequence[Hashable], *, rng: np.random.Generator, n_permutations: int = 2000
) -> tuple[TestResult, int | None]:
    """Test whether a sequence has one distribution throughout, against a change at some place.

    The statistic is the largest chi-squared of "before" against "after" over all splits; its
    law comes from permutations, so that any noise that does not depend on time is its own
    measure (Matteson and James, JASA 109:334, 2014, for the idea).

    Args:
        sequence: In the order of time; the rarest categories count as one.
        rng: Of the permutations.
        n_permutations: How many.

    Returns:
        The test, and the first place after the likeliest change; `None` for a constant or
        too short sequence.

    >>> rng = np.random.default_rng(0)
    >>> change_point("aaaaaaaaabbbbbbbb", rng=rng)[1]
    9
    >>> change_point("aaaa", rng=rng)[0].pvalue
    1.0
    """
    n = len(sequence)
    marks = _one_hot(sequence)
    if n < 2 * LEAST_SIDE or marks.shape[1] < 2:
        return TestResult(0.0, 1.0, _METHOD, n, "two-sided"), None
    observed = _scan(marks[None])[0]
    best = int(np.argmax(observed))
    top, reached = float(observed[best]), 0
    for begin in range(0, n_permutations, _CHUNK):
        size = min(_CHUNK, n_permutations - begin)
        orders = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
        reached += int(np.sum(_scan(marks[orders]).max(axis=1) >= top * (1 - 1e-9)))
    pvalue = (reached + 1) / (n_permutations + 1)
    return TestResult(top, pvalue, _METHOD, n, "two-sided"), best + LEAST_SIDE


def _one_hot(sequence: Sequence[Hashable]) -> NDArray[np.float64]:
    codes: dict[Hashable, int] = {}
    places = np.array([codes.setdefault(one, len(codes)) for one in sequence], dtype=np.int64)
    counts = np.bincount(places, minlength=1)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return np.eye(min(order.size, _MOST_CATEGORIES))[np.minimum(rank[places], _MOST_CATEGORIES - 1)]


def _scan(marks: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return chi-squared at each split, shape (sequences, splits)."""
    n = marks.shape[1]
    before = np.cumsum(marks, axis=1)[:, LEAST_SIDE - 1 : n - LEAST_SIDE]
    total = marks.sum(axis=1, keepdims=True)
    share = (np.arange(LEAST_SIDE, n - LEAST_SIDE + 1) / n)[None, :, None]
    squares = (before - total * share) ** 2 / (total * share * (1 - share))
    found: NDArray[np.float64] = squares.sum(axis=2)
    return found
