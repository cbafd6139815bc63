"""McNemar's test: do the flips lean to one side?

For display only. It says nothing of margins, and "p > 0.05" is no evidence of equality.
"""

from __future__ import annotations

import math

from scipy.special import bdtr, gammaln

from evalkit.estimates import TestResult
from evalkit.stats.distributions import normal_sf

_NO_FLIPS = ("no_flips",)


def mcnemar_exact(gained: int, lost: int) -> TestResult:
    """Exact conditional test: given the flips, each direction has probability one half.

    Args:
        gained: Pairs that only the candidate has right.
        lost: Pairs that only the baseline has right.

    Returns:
        `statistic` is the smaller count; `n` the number of flips. Without flips p is 1,
        with the warning `no_flips`.

    Source: McNemar 1947; the same as a two-sided binomial test.

    >>> round(mcnemar_exact(6, 16).pvalue, 6)
    0.052479
    """
    smaller, flips = _counts(gained, lost)
    p = 1.0 if 2 * smaller == flips else min(1.0, 2 * float(bdtr(smaller, flips, 0.5)))
    return _result(smaller, p, "McNemar exact", flips)


def mcnemar_midp(gained: int, lost: int) -> TestResult:
    """Exact test with half the weight of the observed table: less conservative.

    Source: Fagerland, Lydersen & Laake 2013.

    >>> round(mcnemar_midp(6, 16).pvalue, 6)
    0.03469
    """
    smaller, flips = _counts(gained, lost)
    point = math.exp(
        float(gammaln(flips + 1) - gammaln(smaller + 1) - gammaln(flips - smaller + 1))
        - flips * math.log(2)
    )
    if 2 * smaller == flips:
        p = 1.0 if flips == 0 else 1 - point / 2
    else:
        p = 2 * float(bdtr(smaller, flips, 0.5)) - point
    return _result(smaller, min(1.0, max(0.0, p)), "McNemar mid-p", flips)


def mcnemar_asymptotic(gained: int, lost: int, *, correction: bool = False) -> TestResult:
    """Chi-square form, with or without Edwards' continuity correction.

    >>> round(mcnemar_asymptotic(12, 2, correction=True).statistic, 6)
    5.785714
    """
    _, flips = _counts(gained, lost)
    method = "McNemar chi-square" + (", corrected" if correction else "")
    if flips == 0:
        return _result(0.0, 1.0, method, 0)
    excess = max(0.0, abs(gained - lost) - (1.0 if correction else 0.0))
    z = excess / math.sqrt(flips)
    return _result(z**2, min(1.0, 2 * normal_sf(z)), method, flips)


def _counts(gained: int, lost: int) -> tuple[int, int]:
    if gained < 0 or lost < 0:
        raise ValueError(f"counts must not be negative, got {gained} and {lost}")
    return min(gained, lost), gained + lost


def _result(statistic: float, pvalue: float, method: str, flips: int) -> TestResult:
    return TestResult(
        float(statistic), pvalue, method, flips, "two-sided", () if flips else _NO_FLIPS
    )
