"""Does it grow for good? Hundreds of series that do not, and some that do."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from evalkit.stats.trend import LEAST_POINTS, Trend, trend

N = 48
RUNS = 150
T = np.arange(N) / N
# As a soak asks it: one of five questions that share 5%.
ALPHA = 0.01
Floats = NDArray[np.float64]
Make = Callable[[np.random.Generator], Floats]


def ar(rng: np.random.Generator, rho: float) -> Floats:
    """An autoregression with unit variance; a random walk of unit steps for rho = 1."""
    steps = rng.normal(size=N + 60)
    x = np.zeros(N + 60)
    for place in range(1, N + 60):
        x[place] = rho * x[place - 1] + steps[place]
    return x[60:] * math.sqrt(1 - rho**2) if rho < 1 else x[60:] - x[60]


def saw(rng: np.random.Generator, period: float, height: float) -> Floats:
    return height * ((T / period + rng.random()) % 1)


def wave(rng: np.random.Generator, period: float) -> Floats:
    return 20 * np.sin(2 * np.pi * (T / period + rng.random())) + ar(rng, 0.5)


def filling(rng: np.random.Generator, tau: float) -> Floats:
    return 100 * (1 - np.exp(-T / tau)) + ar(rng, 0)


NULL: dict[str, Make] = {
    "white": lambda rng: ar(rng, 0),
    "half": lambda rng: ar(rng, 0.5),
    "strong": lambda rng: ar(rng, 0.8),
    "walk": lambda rng: ar(rng, 1),
    "garbage collector, often": lambda rng: saw(rng, 0.06, 20) + ar(rng, 0),
    "garbage collector, seldom": lambda rng: saw(rng, 0.27, 20) + ar(rng, 0),
    "garbage collector, twice": lambda rng: saw(rng, 0.5, 20) + ar(rng, 0),
    "a day in the run": lambda rng: wave(rng, 1.0),
    "days in the run": lambda rng: wave(rng, 0.4),
    "cache, fast": lambda rng: filling(rng, 0.05),
    "cache, slow": lambda rng: filling(rng, 0.15),
    "cache, not full at the end": lambda rng: filling(rng, 0.4),
    "cache, full at once": lambda rng: 100 * np.minimum(T / 0.4, 1) + ar(rng, 0),
    "one step": lambda rng: 20 * (rng.random() < T) + ar(rng, 0),
    "spikes": lambda rng: ar(rng, 0) + 50 * (rng.random(N) < 0.05),
}
GROWS: dict[str, Make] = {
    "alone": lambda rng: 12 * T + ar(rng, 0),
    "in noise that lasts": lambda rng: 15 * T + ar(rng, 0.5),
    "under a collector": lambda rng: 40 * T + saw(rng, 0.13, 20) + ar(rng, 0),
    "after a cache": lambda rng: 20 * T + filling(rng, 0.05),
    "after a pool that fills evenly": lambda rng: (
        20 * T + 100 * np.minimum(T / 0.2, 1) + ar(rng, 0)
    ),
}


def is_found(found: Trend) -> bool:
    low = found.slope.low
    return low is not None and low > 0 and found.lasting and not found.slowing


def share_found(make: Make) -> float:
    rng = np.random.default_rng(7)
    runs = [trend(T, 300 + make(rng), confidence_level=1 - 2 * ALPHA) for _ in range(RUNS)]
    return sum(map(is_found, runs)) / RUNS


@pytest.mark.parametrize("name", NULL)
def test_what_does_not_grow_for_good_is_rarely_found(name: str) -> None:
    # Each question may err in 1%; a walk, which no finite series tells from growth, in 5%.
    most = 0.05 if name == "walk" else 2 * ALPHA
    chance = 2.4 * math.sqrt(most * (1 - most) / RUNS)
    assert share_found(NULL[name]) <= most + chance


@pytest.mark.parametrize("name", GROWS)
def test_what_grows_is_found(name: str) -> None:
    assert share_found(GROWS[name]) >= 0.9


def test_intervals_cover_the_slope() -> None:
    rng = np.random.default_rng(3)
    for rho in (0.0, 0.5):
        runs = [trend(T, 5 * T + ar(rng, rho)) for _ in range(RUNS)]
        ends = [(one.slope.low, one.slope.high) for one in runs]
        hit = sum(low is not None and high is not None and low <= 5 <= high for low, high in ends)
        assert hit / RUNS >= 0.95 - 2.4 * math.sqrt(0.95 * 0.05 / RUNS)


def test_too_few_points_are_no_trend() -> None:
    found = trend(np.arange(LEAST_POINTS - 1.0), np.arange(LEAST_POINTS - 1.0))
    assert found.slope.value is None
    assert found.slope.warnings == ("few_points",)
    assert trend([], []).slope.value is None


def test_gaps_are_left_out_and_a_constant_has_no_slope() -> None:
    values = np.full(N, 3e9)
    values[5:9] = np.nan
    found = trend(T, values)
    assert (found.slope.value, found.slope.low, found.lasting) == (0.0, 0.0, False)
    assert found.slope.n < N


@pytest.mark.parametrize(
    ("shape", "lasts"),
    [
        (10 * T, True),
        (-np.sin(2 * np.pi * T), False),
        (np.maximum(T - 0.7, 0), False),
        (np.minimum(T, 0.6), False),
        (np.sin(np.pi * T), False),
    ],
    ids=["line", "wave", "late", "early", "hill"],
)
def test_only_what_is_kept_in_every_third_lasts(shape: Floats, lasts: bool) -> None:
    found = trend(T, shape + 1e-3 * ar(np.random.default_rng(1), 0))
    assert (found.lasting and not found.slowing) is lasts
