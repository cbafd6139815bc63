"""Answers that change are told from answers that vary."""

from __future__ import annotations

import numpy as np

from evalkit.stats.changes import change_point

FEW = 400


def test_noise_that_is_there_from_the_start_is_rarely_a_change() -> None:
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(200):
        noisy = list(rng.choice(3, size=40, p=[0.7, 0.2, 0.1]))
        test, _ = change_point(noisy, rng=rng, n_permutations=FEW)
        found += test.pvalue is not None and test.pvalue <= 0.05
    assert found <= 18


def test_a_change_is_found_through_noise() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        before = rng.choice(3, size=25, p=[0.8, 0.2, 0.0])
        after = rng.choice(3, size=25, p=[0.0, 0.2, 0.8])
        test, place = change_point([*before, *after], rng=rng, n_permutations=FEW)
        assert test.pvalue is not None
        assert test.pvalue <= 0.01
        assert place is not None
        assert abs(place - 25) <= 5


def test_what_is_constant_or_short_did_not_change() -> None:
    rng = np.random.default_rng(3)
    for sequence in ("", "a", "aaaa", "aabb", "a" * 50):
        test, place = change_point(sequence, rng=rng)
        assert (test.pvalue, place) == (1.0, None)
