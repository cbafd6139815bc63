from __future__ import annotations

import numpy as np
import pytest

from evalkit.stats.two_stage import (
    combine,
    stage_one_boundary,
    stage_two_boundary,
    two_stage_passes,
)


@pytest.mark.parametrize("alpha", [0.025, 0.05, 0.10])
def test_the_plan_keeps_its_level(alpha):
    z1, z2 = np.random.default_rng(6).standard_normal((2, 400_000))
    passes = (z1 >= stage_one_boundary()) | ((z1 + z2) / np.sqrt(2) >= stage_two_boundary(alpha))
    assert passes.mean() == pytest.approx(alpha, abs=0.0015)


def test_the_second_look_costs_a_little():
    assert 1.644854 < stage_two_boundary(0.05) < 1.70
    assert stage_two_boundary(0.05, 0.02) > stage_two_boundary(0.05, 0.005)


def test_passing():
    assert two_stage_passes(2.58)
    assert not two_stage_passes(2.57)
    assert two_stage_passes(2.58, -9), "a passed first stage is final"
    border = stage_two_boundary() * np.sqrt(2)
    assert two_stage_passes(1.0, border - 1.0 + 1e-9)
    assert not two_stage_passes(1.0, border - 1.0 - 1e-9)
    assert combine(1.0, 1.0) == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("alphas", [(0.05, 0.05), (0.05, 0), (1, 0.01)])
def test_bad_levels_are_refused(alphas):
    with pytest.raises(ValueError, match="alpha1"):
        stage_two_boundary(*alphas)
