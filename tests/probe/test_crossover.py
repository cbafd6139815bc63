"""Where speculation begins to slow a server down, from rounds that are known."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.estimates import Estimate
from evalkit.probe.crossover import find_crossover
from evalkit.stats.ratios import paired_ratio

NOISE = (0.97, 1.02, 1.0, 0.99, 1.03, 1.01)
WIDE = (0.7, 1.4, 0.8, 1.3, 0.9, 1.2)


def made(
    truth: dict[int, float], noise: tuple[float, ...] = NOISE
) -> tuple[dict[int, Estimate], dict[int, list[tuple[float, float]]]]:
    pairs = {
        level: [(100.0 * level, 100.0 * level * ratio * factor) for factor in noise]
        for level, ratio in truth.items()
    }
    ratios = {
        level: paired_ratio(
            [off for off, _ in rounds], [on for _, on in rounds], rng=np.random.default_rng(0)
        )
        for level, rounds in pairs.items()
    }
    return ratios, pairs


@pytest.mark.parametrize(
    ("truth", "kind", "faster", "slower"),
    [
        # As measured of a 27B model with multi-token prediction.
        ({1: 1.087, 2: 0.798, 4: 0.892}, "between", 1, 2),
        ({1: 1.5, 2: 1.0, 4: 0.6}, "between", 1, 4),
        ({1: 1.5, 2: 1.3, 4: 1.2}, "none", 4, None),
        ({1: 0.9, 2: 0.8, 4: 0.7}, "always_slower", None, 1),
        ({1: 1.5, 2: 1.0, 4: 1.0}, "unclear", 1, None),
        ({1: 1.0, 2: 1.0, 4: 0.7}, "unclear", None, 4),
        ({1: 1.5, 2: 0.8, 4: 1.3}, "unclear", 1, None),
        ({1: 1.5, 2: 0.8, 4: 1.3, 8: 0.7}, "unclear", 1, 8),
        ({1: 0.7, 4: 1.4}, "unclear", None, None),
        ({1: 1.5}, "not_measured", None, None),
        ({}, "not_measured", None, None),
    ],
)
def test_a_crossover_is_told_only_where_intervals_say_so(
    truth: dict[int, float], kind: str, faster: int | None, slower: int | None
) -> None:
    found = find_crossover(*made(truth), seed=1)
    assert (found.kind, found.faster_up_to, found.slower_from) == (kind, faster, slower)
    assert (found.estimate is not None) == (kind == "between")


def test_it_lies_where_the_line_between_two_loads_cuts_one() -> None:
    found = find_crossover(*made({1: 2.0, 4: 0.5}, (0.9, 1.1, 1.0, 1.0, 0.95, 1.05)), seed=1)
    assert found.estimate is not None
    assert found.estimate.value == pytest.approx(2.0, rel=0.02)
    assert found.estimate.low is not None
    assert found.estimate.high is not None
    assert 1 < found.estimate.low < 2 < found.estimate.high < 4


def test_five_rounds_find_none_however_far_apart() -> None:
    assert find_crossover(*made({1: 2.0, 2: 1.0, 4: 0.5}, NOISE[:5]), seed=1).kind == "not_measured"


def test_wide_intervals_find_none() -> None:
    assert find_crossover(*made({1: 1.1, 2: 0.95}, WIDE), seed=1).kind == "unclear"
