"""McNemar sample size as the calculator of powerandsamplesize.com prints it (23 pairs)."""

from __future__ import annotations

import math

import pytest

from evalkit.stats.power import n_mcnemar


def test_two_sided_row36():
    assert n_mcnemar(0.05, 0.45, alpha=0.05, power=0.8) == pytest.approx(22.011324, abs=1e-6)
    assert math.ceil(n_mcnemar(0.05, 0.45, alpha=0.05, power=0.8)) == 23


def test_one_sided_row36():
    n = n_mcnemar(0.05, 0.45, alpha=0.05, power=0.9, two_sided=False)
    assert n == pytest.approx(22.809071, abs=1e-6)
    assert math.ceil(n) == 23
