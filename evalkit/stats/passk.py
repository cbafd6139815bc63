"""pass@k: the chance that at least one of k answers to a prompt is right.

From n answers to each prompt, of which c are right, every k up to n is estimated without
bias. It is a graded score of one prompt, so prompts (or what they are clustered by) are the
independent units and repeats never are.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.estimates import Estimate
from evalkit.stats.engine import engine_interval, summarize
from evalkit.stats.rates import wilson_clustered

USUAL = (1, 2, 3, 5, 10, 20, 50, 100)


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Chance that at least one of k answers is right, estimated from n answers.

    A graded score of one prompt: the mean over prompts goes through the engine.

    Raises:
        ValueError: Unless 0 <= correct <= n and 1 <= k <= n.

    Source: Chen et al. 2021.

    >>> round(pass_at_k(10, 3, 5), 6)
    0.916667
    """
    if not 0 <= correct <= n or not 1 <= k <= n:
        raise ValueError(f"needs 0 <= correct <= n and 1 <= k <= n, got {n}, {correct}, {k}")
    return 1 - math.comb(n - correct, k) / math.comb(n, k)


def pass_scores(answered: ArrayLike, correct: ArrayLike, k: int) -> NDArray[np.float64]:
    """Return pass@k of each prompt.

    Args:
        answered: Answers to each prompt, at least k; shape (prompts,).
        correct: How many of them are right, the same shape.
        k: Tries.

    Raises:
        ValueError: As `pass_at_k`, or for different shapes.

    >>> [round(float(x), 6) for x in pass_scores([5, 5, 4], [0, 1, 4], 2)]
    [0.0, 0.4, 1.0]
    """
    tried, right = np.asarray(answered, dtype=np.int64), np.asarray(correct, dtype=np.int64)
    if tried.shape != right.shape or tried.ndim != 1:
        raise ValueError("answered and correct must be vectors of one length")
    # Few prompts differ in both numbers, and exact binomials of large n are slow.
    pairs, places = np.unique(np.stack([tried, right]), axis=1, return_inverse=True)
    known = [pass_at_k(int(n), int(c), k) for n, c in pairs.T]
    return np.array(known, dtype=np.float64)[places.reshape(-1)]


def pass_rate(scores: NDArray[np.float64], clusters: ArrayLike | None = None) -> Estimate:
    """Mean pass@k of one arm over its prompts.

    Wilson's interval with prompts as units. No score in [0, 1] varies more than a yes or no
    of the same mean does, so the interval is at least as wide as it must be.

    Args:
        scores: Of `pass_scores`.
        clusters: Label of the unit that makes prompts dependent, shape (prompts,).

    >>> e = pass_rate(pass_scores([5] * 40, [0] * 20 + [5] * 20, 1))
    >>> e.value, round(e.low, 4), round(e.high, 4)
    (0.5, 0.352, 0.648)
    """
    units = np.arange(scores.size) if clusters is None else clusters
    return wilson_clustered(scores, units)


def pass_difference(
    candidate: NDArray[np.float64],
    baseline: NDArray[np.float64],
    clusters: ArrayLike | None = None,
) -> Estimate:
    """Paired difference of mean pass@k, candidate minus baseline, by the engine.

    Args:
        candidate: Of `pass_scores`.
        baseline: Of the same prompts.
        clusters: Label of the unit that makes prompts dependent, shape (prompts,).

    Raises:
        ValueError: For scores of different shapes.
    """
    if candidate.shape != baseline.shape:
        raise ValueError("the arms differ in prompts")
    return engine_interval(summarize(candidate - baseline, clusters))


def usual_tries(epochs: int) -> tuple[int, ...]:
    """Return the k that are told when nobody asked for others; none for a single answer.

    >>> usual_tries(4)
    (1, 2, 3, 4)
    >>> usual_tries(1)
    ()
    """
    if epochs < 2:
        return ()
    return tuple(sorted({*(k for k in USUAL if k <= epochs), epochs}))
