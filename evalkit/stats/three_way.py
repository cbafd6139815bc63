"""Three-way outcomes (correct, incorrect, abstained) of the same samples on two arms.

Accuracy and hallucination rate are two paired binary metrics of this table, each tested by
`paired`. What is here tests the table as a whole, and compares rates whose denominator is
itself an outcome, such as accuracy among attempted answers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from evalkit.estimates import Estimate, TestResult
from evalkit.stats.distributions import critical_value
from evalkit.stats.engine import engine_limits, summarize


def stuart_maxwell(table: ArrayLike) -> TestResult:
    """Test whether two arms give the outcomes in the same shares.

    Args:
        table: Counts, shape (k, k): rows the baseline's outcome, columns the candidate's.

    Returns:
        `statistic` is chi-square with as many degrees of freedom as there are outcomes
        that change, less one; without any change p is 1, with the warning `no_flips`.

    Raises:
        ValueError: For a table that is not square, or holds negative counts.

    Source: Stuart 1955; Maxwell 1970.

    >>> round(stuart_maxwell([[35, 5, 0], [15, 20, 5], [10, 5, 5]]).statistic, 6)
    14.0
    """
    counts = _square(table)
    statistic, df = _homogeneity(counts)
    return _chi_square(statistic, df, "Stuart-Maxwell", counts)


def bhapkar(table: ArrayLike) -> TestResult:
    """As `stuart_maxwell`, with the variance not restricted to equal shares.

    Where every sample changes in one way the statistic has no bound: `statistic` is then
    `None` and p is 0.

    Source: Bhapkar 1966.

    >>> round(bhapkar([[35, 5, 0], [15, 20, 5], [10, 5, 5]]).statistic, 6)
    16.27907
    """
    counts = _square(table)
    statistic, df = _homogeneity(counts)
    n = float(counts.sum())
    if df and statistic >= n * (1 - 1e-12):
        return TestResult(None, 0.0, "Bhapkar", round(n), "two-sided", ("unbounded",))
    return _chi_square(statistic / (1 - statistic / n) if df else 0.0, df, "Bhapkar", counts)


def bowker(table: ArrayLike) -> TestResult:
    """Test whether each change of outcome is as frequent as its reverse.

    Degrees of freedom are the pairs of outcomes between which anything changed.

    Source: Bowker 1948.

    >>> round(bowker([[35, 5, 0], [15, 20, 5], [10, 5, 5]]).statistic, 6)
    15.0
    """
    counts = _square(table)
    upper = np.triu_indices(len(counts), 1)
    there, back = counts[upper], counts.T[upper]
    changed = there + back > 0
    difference, total = (there - back)[changed], (there + back)[changed]
    return _chi_square(float(np.sum(difference**2 / total)), int(changed.sum()), "Bowker", counts)


def ratio_difference(
    numerators: tuple[NDArray[np.float64], NDArray[np.float64]],
    denominators: tuple[NDArray[np.float64], NDArray[np.float64]],
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Estimate:
    """Difference of two rates whose denominator is an outcome, candidate minus baseline.

    Accuracy among attempted answers has numerator "correct" and denominator "correct or
    incorrect"; the F score of Wei et al. 2024 has 2 * correct and 1 + attempted. Each rate
    is linearised around its own value and the paired difference goes through the engine;
    with denominators of 1 this is the plain paired difference.

    Args:
        numerators: Candidate's and baseline's, each of shape (n,).
        denominators: Likewise, not negative.
        clusters: Label of the unit that makes pairs dependent, shape (n,).
        confidence_level: Two-sided.

    Returns:
        A fraction; no number, and `no_data`, when a denominator sums to zero.

    >>> correct = (np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 1, 0]))
    >>> attempted = (np.array([1.0, 0, 1, 1]), np.array([1.0, 1, 1, 1]))
    >>> round(ratio_difference(correct, attempted).value, 6)
    -0.083333
    """
    method, n = "linearised ratio, Tango score", numerators[0].size
    if n == 0 or min(float(d.sum()) for d in denominators) <= 0:
        return Estimate(None, None, None, method, n, confidence_level, warnings=("no_data",))
    rates, parts = [], []
    for numerator, denominator in zip(numerators, denominators, strict=True):
        rate = float(numerator.sum() / denominator.sum())
        rates.append(rate)
        parts.append((numerator - rate * denominator) / denominator.mean() + rate)
    value = rates[0] - rates[1]
    differences = parts[0] - parts[1]
    scale = max(1.0, float(np.abs(differences).max()))
    summary = summarize(differences / scale, clusters)
    low = high = None
    if summary.usable:
        limits = engine_limits(summary, critical_value(confidence_level, summary.df))
        low, high = min(value, scale * limits[0]), max(value, scale * limits[1])
    return Estimate(
        value, low, high, method, n, confidence_level, summary.n_clusters, summary.warnings
    )


def _square(table: ArrayLike) -> NDArray[np.float64]:
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or bool((counts < 0).any()):
        raise ValueError("the table must be square and hold counts")
    return counts


def _homogeneity(counts: NDArray[np.float64]) -> tuple[float, int]:
    """Chi-square of equal margins, and its degrees of freedom."""
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    difference = rows - columns
    covariance = np.diag(rows + columns) - counts - counts.T
    df = int(np.linalg.matrix_rank(covariance, hermitian=True))
    return float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference), df


def _chi_square(statistic: float, df: int, method: str, counts: NDArray[np.float64]) -> TestResult:
    n = round(float(counts.sum()))
    if df == 0:
        return TestResult(0.0, 1.0, method, n, "two-sided", ("no_flips",))
    return TestResult(statistic, float(chdtrc(df, statistic)), method, n, "two-sided")
