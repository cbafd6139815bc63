"""True prevalence from an imperfect test: example data of `epi.prev` in the R package epiR.

23 of 150 cows test positive; the test's sensitivity is 0.96, its specificity 0.89.
"""

from __future__ import annotations

import pytest

from evalkit.stats.judge import JudgeCalibration, rogan_gladen


def test_true_rate_row50():
    calibration = JudgeCalibration(0.96, 0.89, 10**6, 10**6)
    estimate = rogan_gladen(23 / 150, 150, calibration)
    assert estimate.value == pytest.approx(0.050980, abs=1e-6)
    assert estimate.low <= estimate.value <= estimate.high
