from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from evalkit.stats.sequential import (
    asymptotic_half_width,
    log_e_degraded,
    log_e_graded,
    log_e_noninferior,
    log_mixture_sprt,
    lower_confidence_sequence,
)
from tests.stats.strategies import MARGINS, tables


@given(cells=tables(), margin=MARGINS)
def test_counts_and_differences_agree_and_are_finite(cells, margin):
    _, gained, lost, _ = cells
    n = sum(cells)
    e = log_e_noninferior(gained, lost, n, margin=margin)
    assert math.isfinite(e)
    assert math.isfinite(log_e_degraded(gained, lost, n, margin=margin))
    assert math.isfinite(log_mixture_sprt(gained, lost))
    if n <= 100:
        d = [1.0] * gained + [-1.0] * lost + [0.0] * (n - gained - lost)
        assert log_e_graded(d, margin=margin) == pytest.approx(e, abs=1e-9)


@given(cells=tables())
def test_the_sequence_is_where_the_e_value_reaches_its_bar(cells):
    _, gained, lost, _ = cells
    n = sum(cells)
    low = lower_confidence_sequence(gained, lost, n)
    assert -1 <= low <= (gained - lost) / n
    if -0.999 < low < -1e-6:
        e = log_e_noninferior(gained, lost, n, margin=-low)
        assert e == pytest.approx(math.log(20), abs=1e-4)


@pytest.mark.parametrize(("gained", "degraded"), [(0.02, False), (0.02, True)])
def test_an_honest_bet_keeps_its_promise(gained, degraded):
    """Under the hypothesis the wealth reaches 20 in at most 5% of runs, at any look."""
    rng, margin = np.random.default_rng(4), 0.02
    steps = rng.multinomial(50, [gained, gained + margin, 1 - 2 * gained - margin], (400, 20))
    log_e = log_e_degraded if degraded else log_e_noninferior
    crossed = 0
    for run in np.cumsum(steps, axis=1):
        crossed += any(
            log_e(b, c, b + c + r, margin=margin) >= math.log(20) for b, c, r in run.tolist()
        )
    assert crossed / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_evidence_grows():
    assert log_e_noninferior(300, 210, 13190, margin=0.02) > math.log(20)
    assert log_e_degraded(100, 600, 10000, margin=0.02) > math.log(20)
    assert lower_confidence_sequence(300, 210, 13190) > lower_confidence_sequence(30, 21, 1319)


def test_mixture_sprt_before_any_flip_is_one():
    assert log_mixture_sprt(0, 0) == pytest.approx(0)
    assert log_mixture_sprt(10, 90) == log_mixture_sprt(90, 10) > math.log(20)


def test_asymptotic_width_narrows_and_is_never_below_the_fixed_one():
    widths = [asymptotic_half_width(n, 0.25) for n in (100, 1000, 10_000)]
    assert widths == sorted(widths, reverse=True)
    for n, width in zip((100, 1000, 10_000), widths, strict=True):
        assert width > 1.96 * 0.25 / math.sqrt(n)
    tuned = asymptotic_half_width(1000, 0.25, tuned_for=1000)
    assert tuned <= min(
        asymptotic_half_width(1000, 0.25, tuned_for=other) for other in (100, 300, 3000, 10_000)
    )


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="counts"):
        log_e_noninferior(3, 3, 5, margin=0.02)
    with pytest.raises(ValueError, match="margin"):
        log_e_noninferior(1, 1, 5, margin=2)
    with pytest.raises(ValueError, match="differences"):
        log_e_graded([2.0], margin=0.02)
    with pytest.raises(ValueError, match="alpha"):
        lower_confidence_sequence(1, 1, 5, alpha=5)
    with pytest.raises(ValueError, match="negative"):
        log_mixture_sprt(-1, 2)
    with pytest.raises(ValueError, match="n >= 1"):
        asymptotic_half_width(0, 0.2)
