from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.stats.engine import engine_z, from_counts, summarize
from evalkit.stats.judge import (
    JudgeCalibration,
    judge_noninferiority,
    prediction_powered,
    rogan_gladen,
    rogan_gladen_se,
)
from tests.stats.strategies import tables

PERFECT = JudgeCalibration(1.0, 1.0, 10**9, 10**9)
SHARE = st.floats(0.0, 1.0)


@given(rate=SHARE, se=SHARE, sp=SHARE, n=st.integers(1, 10**6), m=st.integers(1, 500))
def test_corrected_rate_is_a_rate_or_nothing(rate, se, sp, n, m):
    calibration = JudgeCalibration(se, sp, m, m)
    estimate = rogan_gladen(rate, n, calibration)
    if calibration.youden <= 0:
        assert estimate.value is None
        assert estimate.warnings == ("judge_weak",)
    else:
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert ("judge_weak" in estimate.warnings) == calibration.weak


def test_correction_undoes_the_judge():
    for true in (0.1, 0.5, 0.9):
        seen = true * 0.92 + (1 - true) * 0.12
        estimate = rogan_gladen(seen, 1000, JudgeCalibration(0.92, 0.88, 200, 150))
        assert estimate.value == pytest.approx(true)


def test_corrected_interval_covers():
    rng, hits = np.random.default_rng(8), 0
    for _ in range(1500):
        se, sp = rng.binomial(100, 0.9) / 100, rng.binomial(100, 0.85) / 100
        seen = rng.binomial(300, 0.3 * 0.9 + 0.7 * 0.15) / 300
        estimate = rogan_gladen(seen, 300, JudgeCalibration(se, sp, 100, 100))
        hits += estimate.low <= 0.3 <= estimate.high
    assert hits / 1500 == pytest.approx(0.95, abs=0.02)


def test_a_perfect_judge_changes_nothing():
    estimate = rogan_gladen(0.7, 1000, PERFECT)
    assert estimate.value == pytest.approx(0.7)
    assert rogan_gladen_se(0.7, 1000, PERFECT) == pytest.approx(math.sqrt(0.21 / 1000))


@given(cells=tables())
def test_a_worse_judge_never_makes_passing_easier(cells):
    _, gained, lost, _ = cells
    summary = from_counts(gained, lost, sum(cells))
    z = [
        judge_noninferiority(summary, JudgeCalibration(q, q, 200, 200), margin=0.05).statistic
        for q in (1.0, 0.95, 0.9, 0.8)
    ]
    believed = engine_z(summary, -0.05)
    assert all(value <= believed + 1e-9 for value in z)
    if gained - lost > -0.02 * sum(cells):
        assert z == sorted(z, reverse=True)


def test_judge_noise_does_not_ship_bad_models():
    """True loss equal to the margin, judge 90% right: about 5% pass, not 10%."""
    rng, n, margin = np.random.default_rng(12), 2000, 0.02
    passed = {"naive": 0, "corrected": 0}
    for _ in range(600):
        truth = rng.choice(4, n, p=[0.82, 0.02, 0.04, 0.12])
        candidate, baseline = truth <= 1, (truth == 0) | (truth == 2)
        seen = [np.where(rng.random(n) < 0.9, arm, ~arm) for arm in (candidate, baseline)]
        summary = summarize(seen[0].astype(float) - seen[1])
        se, sp = rng.binomial(200, 0.9, 2) / 200
        result = judge_noninferiority(summary, JudgeCalibration(se, sp, 200, 200), margin=margin)
        passed["corrected"] += result.pvalue <= 0.05
        passed["naive"] += engine_z(summary, -margin) >= 1.6449
    assert passed["corrected"] / 600 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 600)
    assert passed["naive"] > passed["corrected"]


@pytest.mark.parametrize(
    ("calibration", "weak"),
    [
        (JudgeCalibration(0.9, 0.9, 50, 50), False),
        (JudgeCalibration(0.9, 0.9, 50, 49), True),
        (JudgeCalibration(0.7, 0.79, 500, 500), True),
    ],
)
def test_weak_judges_are_called_so(calibration, weak):
    assert calibration.weak == weak
    result = judge_noninferiority(from_counts(5, 5, 500), calibration, margin=0.05)
    assert ("judge_weak" in result.warnings) == weak


def test_no_test_without_data_or_against_a_coin():
    assert judge_noninferiority(summarize([]), PERFECT, margin=0.05).pvalue is None
    coin = JudgeCalibration(0.5, 0.5, 500, 500)
    assert judge_noninferiority(from_counts(5, 5, 500), coin, margin=0.05).pvalue is None
    with pytest.raises(ValueError, match="coin"):
        rogan_gladen_se(0.5, 100, coin)


def test_labels_correct_a_judge_that_favours_one_arm():
    """The judge sees one point more loss than there is; people's labels take it away."""
    rng = np.random.default_rng(3)
    human = rng.choice([0.0, 1.0, -1.0], 40_000, p=[0.9, 0.05, 0.05])
    judged = human - (rng.random(40_000) < 0.10)
    estimate = prediction_powered(judged, judged[:2000], human[:2000])
    assert judged.mean() < -0.09
    assert estimate.low <= 0 <= estimate.high
    assert estimate.high - estimate.low < 0.04


def test_prediction_powered_without_labels():
    assert prediction_powered([0, 1, 1], [0], [0]).value is None
    assert prediction_powered([0, 1, 1], [0, 1], [0, 1]).warnings == ("judge_weak",)
    with pytest.raises(ValueError, match="labelled"):
        prediction_powered([0, 1, 1], [0, 1], [0])


def test_what_is_no_calibration_is_refused():
    with pytest.raises(ValueError, match="sensitivity"):
        JudgeCalibration(92, 88, 200, 150)
    with pytest.raises(ValueError, match="both kinds"):
        JudgeCalibration(0.9, 0.9, 0, 150)
    with pytest.raises(ValueError, match="rate"):
        rogan_gladen(70, 100, PERFECT)
