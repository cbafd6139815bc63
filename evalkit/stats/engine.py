"""The general engine: paired differences that are graded, repeated or clustered.

Tango's score test on counts that are shrunk (or stretched) until their variance is the
one the data show. Differences are candidate minus baseline, and higher is better: for a
metric where a rise is bad, negate them. This construction is evalkit's own; its error
rates are in `tests/simulate.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evalkit.estimates import Estimate, TestResult
from evalkit.stats.clusters import FEW_CLUSTERS, cluster_codes, cluster_variance
from evalkit.stats.distributions import (
    check_margin,
    critical_value,
    normal_cdf,
    normal_sf,
    t_cdf,
    t_sf,
)
from evalkit.stats.paired import tango_limits, tango_z

SPARSE_NONZERO = 20
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class PairedSummary:
    """All that the engine needs to know of a set of paired differences.

    Attributes:
        gains: Sum of the positive differences.
        losses: Sum of the negative differences, as a positive number.
        n: Pairs.
        n_clusters: Independent units.
        r: Factor on the counts; 1 for binary unclustered data, 1 / r is the design effect.
        uses_t: Whether Student's t with n_clusters - 1 replaces the normal.
        nonzero: Pairs that differ.
        warnings: `no_data`, `few_clusters` (fewer than 10: no decision should rest on it),
            `sparse_graded` (graded with fewer than 20 differing pairs: r capped at 1).
    """

    gains: float
    losses: float
    n: int
    n_clusters: int
    r: float
    uses_t: bool
    nonzero: int
    warnings: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """Mean difference; raises ZeroDivisionError without pairs."""
        return (self.gains - self.losses) / self.n

    @property
    def df(self) -> float | None:
        """Degrees of freedom, `None` for the normal."""
        return float(self.n_clusters - 1) if self.uses_t else None

    @property
    def usable(self) -> bool:
        """Whether an interval exists: some pairs, and two clusters where t is used."""
        return self.n > 0 and not (self.uses_t and self.n_clusters < 2)

    @property
    def counts(self) -> tuple[float, float, float]:
        """Gained, lost and n as the score test sees them."""
        return self.r * self.gains, self.r * self.losses, self.r * self.n


def from_counts(gained: int, lost: int, n: int) -> PairedSummary:
    """Summarise a binary unclustered table: the engine is then plain Tango."""
    if gained < 0 or lost < 0 or gained + lost > n:
        raise ValueError(f"counts must hold 0 <= gained + lost <= n, got {gained}, {lost}, {n}")
    return PairedSummary(
        float(gained), float(lost), n, n, 1.0, False, gained + lost, _warnings(n, n, False)
    )


def summarize(
    differences: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    sparse_cap: bool = True,
) -> PairedSummary:
    """Reduce paired differences to the sufficient numbers.

    Args:
        differences: Candidate minus baseline, in [-1, 1], shape (n,). Scores on a wider
            scale are divided by its width first, and so is the margin.
        clusters: Label of the outermost unit that makes pairs dependent (the prompt for
            repeats, the passage for passages), shape (n,); `None` when there is none.
        sparse_cap: Keep the fence for graded data with few differing pairs.

    Raises:
        ValueError: For differences out of range, or labels of another shape.

    >>> s = summarize(np.array([1.0, 0, 0, -1, -1]))
    >>> s.gains, s.losses, s.r, s.uses_t
    (1.0, 2.0, 1.0, False)
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or not bool(np.all(np.abs(d) <= 1)):
        raise ValueError("differences must be a vector of numbers in [-1, 1]")
    n = d.size
    codes, groups = (None, n) if clusters is None else cluster_codes(clusters, n)
    binary = bool(np.all(d == np.trunc(d)))
    gains = float(d.sum(where=d > 0))
    losses = -float(d.sum(where=d < 0))
    nonzero = int(np.count_nonzero(d))
    if binary and groups == n:
        return PairedSummary(
            gains, losses, n, groups, 1.0, False, nonzero, _warnings(n, groups, False)
        )
    r = _variance_ratio(d, None if groups == n else codes, groups, gains, losses)
    capped = sparse_cap and not binary and nonzero < SPARSE_NONZERO and r > 1
    return PairedSummary(
        gains,
        losses,
        n,
        groups,
        1.0 if capped else r,
        True,
        nonzero,
        _warnings(n, groups, capped),
    )


def engine_interval(summary: PairedSummary, *, confidence_level: float = 0.95) -> Estimate:
    """Interval for the mean paired difference, as a fraction.

    >>> e = engine_interval(from_counts(6, 16, 161))
    >>> round(e.low, 6), round(e.high, 6)
    (-0.124023, -0.005433)
    """
    value = low = high = None
    if summary.n:
        value = summary.difference
    if summary.usable:
        low, high = engine_limits(summary, critical_value(confidence_level, summary.df))
    return Estimate(
        value,
        low,
        high,
        _method(summary),
        summary.n,
        confidence_level,
        summary.n_clusters,
        summary.warnings,
    )


def engine_limits(summary: PairedSummary, critical: float) -> tuple[float, float]:
    """Lower and upper limit of a usable summary at a critical value."""
    return tango_limits(*summary.counts, critical)


def engine_z(summary: PairedSummary, delta0: float) -> float:
    """Score statistic of the hypothesis that the mean difference is delta0.

    Refer it to t with `summary.df` degrees of freedom, or to the normal where that is
    `None`.

    Raises:
        ValueError: When the summary is not usable.
    """
    if not summary.usable:
        raise ValueError("no pairs, or a single cluster: there is no test")
    return tango_z(*summary.counts, delta0)


def engine_noninferiority(summary: PairedSummary, *, margin: float) -> TestResult:
    """Test whether the mean loss is less than the margin (a fraction); see `paired`."""
    return _test(summary, margin, "greater", "non-inferiority")


def engine_degradation(summary: PairedSummary, *, margin: float) -> TestResult:
    """Test whether the mean loss is more than the margin (a fraction); see `paired`."""
    return _test(summary, margin, "less", "degradation")


def _test(summary: PairedSummary, margin: float, alternative: str, name: str) -> TestResult:
    check_margin(margin)
    method = f"{name}, {_method(summary)}"
    if not summary.usable:
        return TestResult(None, None, method, summary.n, alternative, summary.warnings)
    z = engine_z(summary, -margin)
    if summary.df is None:
        p = normal_sf(z) if alternative == "greater" else normal_cdf(z)
    else:
        p = t_sf(z, summary.df) if alternative == "greater" else t_cdf(z, summary.df)
    return TestResult(z, p, method, summary.n, alternative, summary.warnings)


def _method(summary: PairedSummary) -> str:
    return "Tango score, variance-matched" if summary.uses_t else "Tango score"


def _warnings(n: int, n_clusters: int, capped: bool) -> tuple[str, ...]:
    if n == 0:
        return ("no_data",)
    few = ("few_clusters",) if n_clusters < FEW_CLUSTERS else ()
    return few + (("sparse_graded",) if capped else ())


def _variance_ratio(
    d: NDArray[np.float64],
    codes: NDArray[np.intp] | None,
    groups: int,
    gains: float,
    losses: float,
) -> float:
    n = d.size
    if n < 2 or groups < 2 or gains + losses == 0:
        return groups / n if n else 1.0
    variance = float(np.var(d, ddof=1)) / n
    if variance <= _ROUNDING * float(d @ d) / n**2:
        # All differences are equal: nothing is known of the spread, so each cluster
        # counts as one pair instead of giving an interval without width.
        return groups / n
    if codes is not None:
        variance = max(variance, cluster_variance(d, codes, groups))
    trinomial = (gains + losses - (gains - losses) ** 2 / n) / (n * (n - 1))
    return trinomial / variance
