"""Prompt sets drawn again: whole units, each copy a unit of its own."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from evalkit.decision.pairing import pair
from evalkit.decision.redraw import Pool, make_pool
from evalkit.decision.tables import build_table
from evalkit.types import Family
from tests.builders import RIGHT, answer, sample


def pool(passages: int = 20, single: int = 40, epochs: int = 2) -> Pool:
    """Facts in passages of three; math alone, but asked several times."""
    facts = [sample(f"f{i}", cluster=f"p{i // 3}") for i in range(3 * passages)]
    math = [sample(f"m{i}", taskset="math", family=Family.MATH) for i in range(single)]
    answers = {("facts", s.id, 0): answer(s, RIGHT) for s in facts}
    for epoch in range(epochs):
        answers |= {("math", s.id, epoch): answer(s, RIGHT, epoch=epoch) for s in math}
    return make_pool(answers, {(s.taskset, s.id): s for s in (*facts, *math)})


def test_units_are_passages_and_prompts() -> None:
    made = pool()
    assert made.sizes() == {"facts": 20, "math": 40}
    assert made.prompts == {"facts": 60, "math": 40}
    assert made.expected_prompts(made.sizes()) == 100


@pytest.mark.parametrize("prompts", [10, 100, 250, 1000])
def test_a_wanted_number_of_prompts_keeps_the_shares(prompts: int) -> None:
    made = pool()
    sizes = made.sizes(prompts)
    assert made.expected_prompts(sizes) == prompts
    assert sizes["math"] == round(0.4 * prompts)


def test_every_taskset_keeps_a_unit() -> None:
    assert pool().sizes(1) == {"facts": 1, "math": 1}


def test_a_draw_holds_whole_units_and_copies_are_independent_units() -> None:
    made = pool()
    drawn = made.draw(made.sizes(1000), np.random.default_rng(0))
    assert Counter(key[0] for key in drawn.answers) == {"facts": 600, "math": 800}
    assert set(drawn.samples) == {key[:2] for key in drawn.answers}
    pairing = pair(drawn.answers, drawn.answers, drawn.samples)
    assert pairing.exclusions == ()
    for taskset, units in (("facts", 200), ("math", 400)):
        pairs = [p for p in pairing.pairs if p.sample.taskset == taskset]
        clusters = build_table(pairs, "accuracy").clusters
        assert clusters is not None
        assert len(set(clusters.tolist())) == units
    sizes = Counter(s.cluster for s in drawn.samples.values() if s.taskset == "facts")
    assert set(sizes.values()) == {3}


def test_draws_differ_by_seed_alone() -> None:
    made = pool()
    first, again, other = (
        made.draw(made.sizes(), np.random.default_rng(seed)).samples for seed in (1, 1, 2)
    )
    assert list(first) == list(again)
    assert list(first) != list(other)
    assert len(set(first)) == 100
