"""How large a canary must be: against published sizes, and against simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evalkit.estimates import Cells
from evalkit.operations.canary import canary_size
from evalkit.stats.power import n_two_samples
from tests.report.fixtures import comparison


def test_two_samples_as_published() -> None:
    # R's power.prop.test(p1 = .50, p2 = .75, power = .90): n = 76.7.
    assert n_two_samples(0.75, 0.25, alpha=0.025, power=0.9) == pytest.approx(76.7, abs=0.05)
    for accuracy, loss in ((0.5, 0.0), (0.5, 0.6), (1.2, 0.1), (0.5, -0.1)):
        with pytest.raises(ValueError, match="leaves no rate"):
            n_two_samples(accuracy, loss)


def test_the_trigger_errs_as_often_as_it_says() -> None:
    size = canary_size(comparison("SHIP").results[0])
    assert size is not None
    rng = np.random.default_rng(7)
    control = rng.binomial(size.split, size.accuracy, 20_000) / size.split
    equal = rng.binomial(size.split, size.accuracy, 20_000) / size.split
    worse = rng.binomial(size.split, size.accuracy - size.margin, 20_000) / size.split
    assert np.mean(control - equal >= size.step_back) == pytest.approx(0.05, abs=0.01)
    assert np.mean(control - worse >= size.step_back) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("seen", [0, 3, 40, 900])
def test_broken_answers_call_back_by_chance_in_at_most_one_case_of_twenty(seen: int) -> None:
    result = comparison("SHIP").results[0]
    cells = Cells(0, seen, 0, 4000 - seen)
    size = canary_size(replace(result, degenerate=replace(result.degenerate, cells=cells)))
    assert size is not None
    assert size.degenerate_most is not None
    assert size.degenerate_limit is not None
    rng = np.random.default_rng(3)
    broken = rng.binomial(size.split, size.degenerate_limit, 20_000)
    assert np.mean(broken > size.degenerate_most) <= 0.055
    # And no larger than that needs.
    assert np.mean(broken >= size.degenerate_most) > 0.045


def test_what_the_comparison_says_goes_into_it() -> None:
    result = comparison("SHIP").results[0]
    size = canary_size(result)
    assert size is not None
    assert size.margin == result.pooled.accuracy.margin
    assert size.worst_loss == pytest.approx(-(result.pooled.accuracy.difference.low or 0))
    assert size.mirrored is not None
    assert size.mirrored < size.split
    assert size.degenerate == pytest.approx(3 / 4000)
    assert size.degenerate_limit is not None
    assert size.degenerate_limit > 3 / 4000
    hopeless = replace(result.pooled.accuracy, margin=0.99)
    assert canary_size(replace(result, pooled=replace(result.pooled, accuracy=hopeless))) is None
