"""Repeated samples of the same prompt: where the variance lies, and what repeats buy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.estimates import Estimate
from evalkit.stats.engine import engine_interval, summarize


@dataclass(frozen=True, slots=True)
class VarianceSplit:
    """Variance of a mean score, split by its source.

    Attributes:
        within: Variance between repeats of one prompt (sampling noise).
        between: Variance between prompts; an estimate may be negative, and is cut at 0.
        n_prompts: Prompts.
        n_epochs: Repeats of each.
    """

    within: float
    between: float
    n_prompts: int
    n_epochs: int

    @property
    def variance_of_mean(self) -> float:
        """Variance of the mean score."""
        return self.between / self.n_prompts + self.within / (self.n_prompts * self.n_epochs)


def variance_split(scores: ArrayLike) -> VarianceSplit:
    """Split the variance of scores by prompts and repeats.

    Args:
        scores: Shape (n prompts, K repeats), at least 2 each.

    Raises:
        ValueError: For another shape.

    >>> rows = [[1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 1], [1, 1, 1, 0]]
    >>> split = variance_split(rows)
    >>> round(split.within, 6), round(split.between, 6), round(split.variance_of_mean, 6)
    (0.166667, 0.1, 0.023611)
    """
    y = _matrix(scores)
    within = float(y.var(axis=1, ddof=1).mean())
    between = float(y.mean(axis=1).var(ddof=1)) - within / y.shape[1]
    return VarianceSplit(within, max(0.0, between), *y.shape)


def difference_split(candidate: ArrayLike, baseline: ArrayLike) -> VarianceSplit:
    """Split the variance of a paired difference; `within` is the sum over both arms.

    Args:
        candidate: Shape (n prompts, K repeats); the repeats of the arms are not matched.
        baseline: The same shape.

    Raises:
        ValueError: For other shapes.
    """
    a, b = _matrix(candidate), _matrix(baseline)
    if a.shape != b.shape:
        raise ValueError(f"the arms differ in shape: {a.shape} and {b.shape}")
    within = float(a.var(axis=1, ddof=1).mean() + b.var(axis=1, ddof=1).mean())
    means = a.mean(axis=1) - b.mean(axis=1)
    between = float(means.var(ddof=1)) - within / a.shape[1]
    return VarianceSplit(within, max(0.0, between), *a.shape)


def best_epochs(split: VarianceSplit, *, prompt_cost: float, sample_cost: float) -> float | None:
    """Repeats a prompt that give the smallest variance for the money, not rounded.

    Args:
        split: Of a pilot run.
        prompt_cost: Cost of one more prompt, before any answer.
        sample_cost: Cost of one answer, in the same unit.

    Returns:
        At least 1; `None` when prompts do not differ, so that repeats replace them
        without end.

    >>> best_epochs(VarianceSplit(0.16, 0.04, 100, 4), prompt_cost=4, sample_cost=1)
    4.0
    """
    if prompt_cost < 0 or sample_cost <= 0:
        raise ValueError("costs must be positive")
    if split.between <= 0:
        return None
    return max(1.0, math.sqrt(split.within / split.between * prompt_cost / sample_cost))


def excess_flips(
    candidate_flips: ArrayLike,
    repeat_flips: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Estimate:
    """Flips against the candidate beyond the flips of the baseline against itself.

    Args:
        candidate_flips: 1 where candidate and baseline differ, shape (n,).
        repeat_flips: 1 where two runs of the baseline differ, on the same samples.
        clusters: Label of the unit that makes pairs dependent, shape (n,).
        confidence_level: Two-sided.

    Returns:
        A fraction of all pairs: the flips that quantization adds to the noise floor.

    >>> excess_flips([1, 1, 0, 0, 0], [1, 0, 0, 0, 0]).value
    0.2
    """
    a = np.asarray(candidate_flips, dtype=np.float64)
    b = np.asarray(repeat_flips, dtype=np.float64)
    return engine_interval(summarize(a - b, clusters), confidence_level=confidence_level)


def _matrix(scores: ArrayLike) -> NDArray[np.float64]:
    y = np.asarray(scores, dtype=np.float64)
    if y.ndim != 2 or min(y.shape) < 2:
        raise ValueError("scores must have shape (prompts, repeats), at least 2 each")
    return y
