"""What an imperfect judge does to a comparison, and how to undo it.

A judge that errs on both arms alike shrinks every difference by J = sensitivity +
specificity - 1, so a fixed margin grows too wide: a loose judge helps a bad model pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evalkit.estimates import Estimate, TestResult
from evalkit.stats.distributions import (
    check_margin,
    critical_value,
    normal_equivalent,
    normal_sf,
)
from evalkit.stats.engine import PairedSummary, engine_z
from evalkit.stats.pooling import mover_z

MIN_YOUDEN = 0.5
MIN_LABELS = 100
WEAK = "judge_weak"


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """How a judge did on answers that people labelled.

    Attributes:
        sensitivity: Share of right answers that it calls right.
        specificity: Share of wrong answers that it calls wrong.
        n_right: Right answers labelled, at least 1.
        n_wrong: Wrong answers labelled, at least 1.
    """

    sensitivity: float
    specificity: float
    n_right: int
    n_wrong: int

    def __post_init__(self) -> None:
        if not (0 <= self.sensitivity <= 1 and 0 <= self.specificity <= 1):
            raise ValueError("sensitivity and specificity must lie in [0, 1]")
        if min(self.n_right, self.n_wrong) < 1:
            raise ValueError("a calibration needs answers of both kinds")

    @property
    def youden(self) -> float:
        """Youden's J: 1 for a perfect judge, 0 for a coin."""
        return self.sensitivity + self.specificity - 1

    @property
    def weak(self) -> bool:
        """Whether no decision should rest on it: J below 0.5, or under 100 labels."""
        return self.youden < MIN_YOUDEN or self.n_right + self.n_wrong < MIN_LABELS

    @property
    def variances(self) -> tuple[float, float]:
        """Sampling variances of sensitivity and of specificity."""
        se, sp = self.sensitivity, self.specificity
        return se * (1 - se) / self.n_right, sp * (1 - sp) / self.n_wrong


def rogan_gladen(
    rate: float, n: int, calibration: JudgeCalibration, *, confidence_level: float = 0.95
) -> Estimate:
    """The true rate behind the rate that a judge reports.

    Args:
        rate: Share that the judge calls right, a fraction.
        n: Answers judged.
        calibration: Of this judge.
        confidence_level: Two-sided.

    Returns:
        The corrected rate, cut to [0, 1], with the interval of Lang & Reiczigel 2014; no
        number when the judge is no better than a coin.

    Source: Rogan & Gladen 1978; Lang & Reiczigel 2014.

    >>> calibration = JudgeCalibration(0.92, 0.88, 200, 150)
    >>> round(rogan_gladen(0.70, 1000, calibration).value, 6)
    0.725
    """
    method = "Rogan-Gladen, Lang-Reiczigel interval"
    if not 0 <= rate <= 1 or n < 1:
        raise ValueError(f"needs a rate in [0, 1] and n >= 1, got {rate} and {n}")
    if calibration.youden <= 0:
        return Estimate(None, None, None, method, n, confidence_level, warnings=(WEAK,))
    value = min(1.0, max(0.0, (rate + calibration.specificity - 1) / calibration.youden))
    low, high = _lang_reiczigel(rate, n, calibration, critical_value(confidence_level))
    warnings = (WEAK,) if calibration.weak else ()
    return Estimate(
        value,
        min(value, max(0.0, low)),
        max(value, min(1.0, high)),
        method,
        n,
        confidence_level,
        warnings=warnings,
    )


def rogan_gladen_se(rate: float, n: int, calibration: JudgeCalibration) -> float:
    """Delta-method standard error of the corrected rate.

    >>> round(rogan_gladen_se(0.70, 1000, JudgeCalibration(0.92, 0.88, 200, 150)), 6)
    0.026712
    """
    if calibration.youden <= 0:
        raise ValueError("the judge is no better than a coin")
    true = (rate + calibration.specificity - 1) / calibration.youden
    var_se, var_sp = calibration.variances
    variance = rate * (1 - rate) / n + true**2 * var_se + (1 - true) ** 2 * var_sp
    return math.sqrt(variance) / calibration.youden


def judge_noninferiority(
    summary: PairedSummary, calibration: JudgeCalibration, *, margin: float
) -> TestResult:
    """Test non-inferiority of what people would say, from what the judge said of both arms.

    The margin shrinks by J, the calibration's own uncertainty is added, and the score test
    at the shrunken margin must pass too; the weaker of both is returned.

    Args:
        summary: Of the judged differences, the same judge blind to the arms.
        calibration: Of this judge.
        margin: Acceptable true loss, a fraction in (0, 1).

    Returns:
        With the warning `judge_weak` where no decision should rest on it.

    >>> from evalkit.stats.engine import from_counts
    >>> calibration = JudgeCalibration(0.92, 0.88, 200, 150)
    >>> result = judge_noninferiority(from_counts(60, 75, 1319), calibration, margin=0.02)
    >>> round(result.statistic, 6)
    0.524233
    """
    check_margin(margin)
    method = "non-inferiority, corrected for the judge"
    warnings = summary.warnings + ((WEAK,) if calibration.weak else ())
    if not summary.usable or calibration.youden <= 0:
        return TestResult(None, None, method, summary.n, "greater", warnings)
    shrunken = margin * calibration.youden
    score = engine_z(summary, -shrunken)
    statistic = min(score, _corrected_z(summary, calibration, margin))
    return TestResult(statistic, normal_sf(statistic), method, summary.n, "greater", warnings)


def judged_z(
    parts: Sequence[PairedSummary],
    weights: Sequence[float],
    judges: Sequence[JudgeCalibration | None],
    *,
    margin: float,
    degraded: bool = False,
) -> float:
    """Statistic of a weighted mean of true differences, some of them seen through a judge.

    What a judge reports of a part is its true difference times J, so the part weighs
    1 / J as much. With one part this is the statistic of `judge_noninferiority`, referred
    to the normal.

    Args:
        parts: One summary for each group of answers with one judge, or with none.
        weights: Of the true differences; they sum to 1.
        judges: Of each part; `None` for a program, which does not err.
        margin: Acceptable true loss, a fraction in (0, 1).
        degraded: Ask for a loss beyond the margin: then the larger statistic counts.

    Raises:
        ValueError: When a part has no interval, or a judge is no better than a coin.
    """
    check_margin(margin)
    if any(judge is not None and judge.youden <= 0 for judge in judges):
        raise ValueError("a judge is no better than a coin")
    raised = [
        weight / (1.0 if judge is None else judge.youden)
        for weight, judge in zip(weights, judges, strict=True)
    ]
    score = mover_z(parts, raised, -margin / math.fsum(raised))
    rows = list(zip(parts, raised, judges, strict=True))
    distance = margin + math.fsum(weight * part.difference for part, weight, _ in rows)
    variance = math.fsum(
        weight**2 * (_variance(part) + (margin**2 * sum(judge.variances) if judge else 0.0))
        for part, weight, judge in rows
    )
    corrected = _ratio(distance, variance)
    dfs = [part.df for part in parts if part.df is not None]
    if dfs:
        corrected = normal_equivalent(corrected, min(dfs))
    return max(score, corrected) if degraded else min(score, corrected)


def differential_pvalue(hits: int, n: int, other_hits: int, other_n: int) -> float | None:
    """Two-sided p-value of one error rate for answers of two endpoints (Fisher's exact test).

    The correction by J holds for a judge that errs alike on both.

    Args:
        hits: Of `n` answers of the one that are labelled alike: those that it judges right.
        n: `None` is returned when there is no such answer.
        other_hits: The same for the other, of `other_n`.
        other_n: Likewise.

    Source: Fisher 1935; the lady tasting tea, 3 of 4 against 1 of 4:

    >>> round(differential_pvalue(3, 4, 1, 4), 6)
    0.485714
    """
    from scipy.stats import fisher_exact

    if min(n, other_n) == 0:
        return None
    table = [[hits, n - hits], [other_hits, other_n - other_hits]]
    return float(fisher_exact(table).pvalue)


def prediction_powered(
    judged: ArrayLike,
    judged_labelled: ArrayLike,
    human: ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> Estimate:
    """Mean paired difference from many judged pairs, corrected by a few labelled ones.

    Valid also when the judge favours one arm.

    Args:
        judged: Judge's differences, candidate minus baseline, of all pairs, shape (N,).
        judged_labelled: Judge's differences of the labelled pairs, shape (m,).
        human: People's differences of the same labelled pairs, shape (m,).
        confidence_level: Two-sided.

    Returns:
        No number with fewer than 2 labelled pairs.

    Source: Angelopoulos et al. 2023.

    >>> e = prediction_powered([0, 0, -1, 1, 0, -1], [0, 1], [0, 0])
    >>> round(e.value, 6)
    -0.666667
    """
    method = "prediction-powered"
    d, f = np.asarray(judged, np.float64), np.asarray(judged_labelled, np.float64)
    y = np.asarray(human, np.float64)
    if f.shape != y.shape or d.ndim != 1 or f.ndim != 1:
        raise ValueError("the labelled pairs need one judgement and one label each")
    if d.size < 2 or y.size < 2:
        return Estimate(None, None, None, method, d.size, confidence_level, warnings=("no_data",))
    correction = y - f
    value = float(d.mean() + correction.mean())
    variance = float(d.var(ddof=1) / d.size + correction.var(ddof=1) / y.size)
    half = critical_value(confidence_level) * math.sqrt(variance)
    warnings = (WEAK,) if y.size < MIN_LABELS else ()
    return Estimate(
        value, value - half, value + half, method, d.size, confidence_level, warnings=warnings
    )


def _corrected_z(summary: PairedSummary, calibration: JudgeCalibration, margin: float) -> float:
    variance = _variance(summary) + margin**2 * sum(calibration.variances)
    return _ratio(summary.difference + margin * calibration.youden, variance)


def _variance(summary: PairedSummary) -> float:
    spread = (summary.gains + summary.losses) / summary.n - summary.difference**2
    return max(0.0, spread) / (summary.n * summary.r)


def _ratio(distance: float, variance: float) -> float:
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


def _lang_reiczigel(
    rate: float, n: int, calibration: JudgeCalibration, z: float
) -> tuple[float, float]:
    n_se, n_sp = calibration.n_right + 2, calibration.n_wrong + 2
    se = (calibration.n_right * calibration.sensitivity + 1) / n_se
    sp = (calibration.n_wrong * calibration.specificity + 1) / n_sp
    size = n + z**2
    seen = (n * rate + z**2 / 2) / size
    # The prior answers pull J towards 0; they cannot turn its sign.
    youden = se + sp - 1
    true = (seen + sp - 1) / youden
    var_se, var_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z**2 * (true * var_se - (1 - true) * var_sp)
    variance = seen * (1 - seen) / size + true**2 * var_se + (1 - true) ** 2 * var_sp
    half = z * math.sqrt(variance) / youden
    return true + shift - half, true + shift + half
