"""Recovery: the ratio of two paired rates, candidate over baseline.

For display. A recovery above 100% is no evidence of improvement, and a ratio to a
baseline near zero is no number at all.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.estimates import Estimate, TestResult
from evalkit.stats.clusters import cluster_codes, cluster_sums
from evalkit.stats.distributions import critical_value, normal_cdf, normal_sf
from evalkit.stats.engine import SPARSE_NONZERO, engine_limits, summarize
from evalkit.stats.roots import find_root

MIN_BASELINE_RATE = 0.10
MIN_BASELINE_CORRECT = 30
_SCORE = "constrained score"


def recovery(
    both: int, gained: int, lost: int, n: int, *, confidence_level: float = 0.95
) -> Estimate:
    """Recovery with its score interval, or a refusal where the baseline is too low.

    Args:
        both: Pairs that both have right.
        gained: Pairs that only the candidate has right.
        lost: Pairs that only the baseline has right.
        n: All pairs.
        confidence_level: Two-sided.

    Returns:
        A ratio (1.0 is "as good as the baseline"). Below 10% baseline accuracy, or with
        fewer than 30 correct baseline answers, no number and `baseline_too_low`.

    >>> recovery(2, 1, 1, 100).warnings
    ('baseline_too_low',)
    """
    _check(both, gained, lost, n)
    if n == 0:
        return _refuse(n, confidence_level, "no_data")
    correct = both + lost
    if correct < MIN_BASELINE_CORRECT or correct < MIN_BASELINE_RATE * n:
        return _refuse(n, confidence_level, "baseline_too_low")
    return recovery_score(both, gained, lost, n, confidence_level=confidence_level)


def recovery_score(
    both: int, gained: int, lost: int, n: int, *, confidence_level: float = 0.95
) -> Estimate:
    """Score interval for the ratio of paired rates, with constrained maximum likelihood.

    Without a correct baseline answer there is no ratio (`value` and `high` are `None`,
    warning `unbounded`).

    Source: Nam & Blackwelder 2002; Tang, Tang & Chan 2003; the limits of Nam 2009.

    >>> e = recovery_score(59, 6, 16, 161)
    >>> round(e.value, 6), round(e.low, 6), round(e.high, 6)
    (0.866667, 0.747579, 0.987615)
    """
    _check(both, gained, lost, n)
    critical = critical_value(confidence_level)
    x, y = both + gained, both + lost
    if x + y == 0:
        return _refuse(n, confidence_level, "no_data" if n == 0 else "unbounded")

    def score(share: float) -> float:
        # The ratio runs to infinity; share = ratio / (1 + ratio) runs to 1.
        return _score(both, gained, lost, n, share / (1 - share))

    centre = x / (x + y)
    low = high = None
    edge = 1e-15
    if x == 0:
        low = 0.0
    else:
        share = find_root(lambda s: score(s) - critical, edge, min(centre, 1 - edge))
        low = share / (1 - share)
    if y > 0:
        share = find_root(lambda s: score(s) + critical, max(centre, edge), 1 - edge)
        high = share / (1 - share)
    value = x / y if y > 0 else None
    if value is not None and high is not None:
        low, high = min(low, value), max(high, value)
    warnings = () if y > 0 else ("unbounded",)
    return Estimate(value, low, high, _SCORE, n, confidence_level, warnings=warnings)


def recovery_noninferiority(
    both: int, gained: int, lost: int, n: int, *, minimum: float
) -> TestResult:
    """Test whether recovery is above a minimum, e.g. 0.98.

    Gating on the difference, with margin (1 - minimum) times the baseline's rate fixed in
    advance, is to be preferred.

    Raises:
        ValueError: If `minimum` is not in (0, 1].

    Source: Nam & Blackwelder 2002; Tang, Tang & Chan 2003.

    >>> round(recovery_noninferiority(1240, 30, 21, 1319, minimum=0.99).statistic, 6)
    2.906739
    """
    _check(both, gained, lost, n)
    if not 0 < minimum <= 1:
        raise ValueError(f"minimum must lie in (0, 1], got {minimum}")
    method = "ratio non-inferiority, constrained score"
    if both + gained + lost == 0:
        warning = "no_data" if n == 0 else "unbounded"
        return TestResult(None, None, method, n, "greater", (warning,))
    z = _score(both, gained, lost, n, minimum)
    return TestResult(z, normal_sf(z), method, n, "greater")


def recovery_degradation(
    both: int, gained: int, lost: int, n: int, *, minimum: float
) -> TestResult:
    """Test whether recovery is below a minimum: the other side of the same."""
    upper = recovery_noninferiority(both, gained, lost, n, minimum=minimum)
    p = None if upper.statistic is None else normal_cdf(upper.statistic)
    return TestResult(
        upper.statistic, p, "ratio degradation, constrained score", n, "less", upper.warnings
    )


def recovery_graded(
    candidate: NDArray[np.float64],
    baseline: NDArray[np.float64],
    clusters: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
) -> Estimate:
    """Ratio of two paired means of graded, repeated or clustered scores (Fieller).

    With fewer than 20 differing pairs the interval is widened to hold the engine's
    interval of the difference, taken relative to the baseline's mean: Fieller's own would
    shrink to a point as the pairs agree.

    Args:
        candidate: Scores in [0, 1], shape (n,).
        baseline: Scores in [0, 1] of the same samples, shape (n,).
        clusters: Label of the unit that makes pairs dependent, shape (n,).
        confidence_level: Two-sided.

    Returns:
        A ratio; refused as in `recovery`, and `unbounded` where the baseline's mean is not
        told from zero.

    Raises:
        ValueError: For scores of different shapes.

    Source: Fieller 1954, with the cluster-robust covariance of Liang & Zeger 1986.

    >>> y = np.tile([1.0, 0.5, 1.0, 0.0], 50)
    >>> e = recovery_graded(y, y)
    >>> e.value, round(e.low, 4), round(e.high, 4)
    (1.0, 0.9695, 1.0305)
    """
    if candidate.shape != baseline.shape or candidate.ndim != 1:
        raise ValueError("candidate and baseline must be vectors of one length")
    n, method = candidate.size, "Fieller"
    if n == 0:
        return _refuse(n, confidence_level, "no_data", method)
    total = float(baseline.sum())
    if total < MIN_BASELINE_CORRECT or total < MIN_BASELINE_RATE * n:
        return _refuse(n, confidence_level, "baseline_too_low", method)
    summary = summarize(candidate - baseline, clusters)
    if summary.n_clusters < 2:
        return _refuse(n, confidence_level, "few_clusters", method)
    critical = critical_value(confidence_level, summary.n_clusters - 1)
    limits = _fieller(candidate, baseline, clusters, critical)
    if limits is None:
        return _refuse(n, confidence_level, "unbounded", method)
    value = float(candidate.sum()) / total
    low, high = min(limits[0], value), max(limits[1], value)
    if summary.nonzero < SPARSE_NONZERO:
        below, above = engine_limits(summary, critical)
        low = min(low, max(0.0, 1 + below * n / total))
        high = max(high, 1 + above * n / total)
    return Estimate(
        value, low, high, method, n, confidence_level, summary.n_clusters, summary.warnings
    )


def fieller_limits(
    mean_x: float, mean_y: float, var_x: float, var_y: float, cov: float, critical: float
) -> tuple[float, float] | None:
    """Limits of mean_x / mean_y; `None` when they are unbounded.

    The arguments after the means are variances and the covariance of the means.

    Source: Fieller 1954.
    """
    a = mean_y**2 - critical**2 * var_y
    if a <= 0:
        return None
    b = mean_x * mean_y - critical**2 * cov
    c = mean_x**2 - critical**2 * var_x
    root = math.sqrt(max(0.0, b * b - a * c))
    return (b - root) / a, (b + root) / a


def _fieller(
    candidate: NDArray[np.float64],
    baseline: NDArray[np.float64],
    clusters: ArrayLike | None,
    critical: float,
) -> tuple[float, float] | None:
    n = candidate.size
    codes, groups = cluster_codes(np.arange(n) if clusters is None else clusters, n)
    x = cluster_sums(candidate - candidate.mean(), codes, groups)
    y = cluster_sums(baseline - baseline.mean(), codes, groups)
    scale = groups / (groups - 1) / n**2
    return fieller_limits(
        float(candidate.mean()),
        float(baseline.mean()),
        scale * float(x @ x),
        scale * float(y @ y),
        scale * float(x @ y),
        critical,
    )


def _score(both: int, gained: int, lost: int, n: int, ratio: float) -> float:
    """Score statistic of the hypothesis candidate / baseline = ratio; falls in `ratio`."""
    if ratio < 1:
        # The test does not care which arm is on top, and above 1 nothing cancels.
        return -_score(both, lost, gained, n, 1 / ratio)
    some = both + gained + lost
    numerator = both + gained - (both + lost) * ratio
    if numerator == 0:
        return 0.0
    a = n * (1 + ratio)
    b = (both + lost) * ratio**2 - (both + gained + 2 * lost)
    c = lost * (1 - ratio) * some / n
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    # Two forms of one root, each where the other would cancel.
    rate = (root - b) / (2 * a) if b <= 0 else -2 * c / (root + b)
    variance = n * (1 + ratio) * rate + some * (ratio - 1)
    return numerator / math.sqrt(variance)


def _check(both: int, gained: int, lost: int, n: int) -> None:
    if min(both, gained, lost) < 0 or both + gained + lost > n:
        raise ValueError(
            f"counts must hold 0 <= both + gained + lost <= n, got {both}, {gained}, {lost}, {n}"
        )


def _refuse(n: int, confidence_level: float, warning: str, method: str = _SCORE) -> Estimate:
    return Estimate(None, None, None, method, n, confidence_level, warnings=(warning,))
