"""The screen of slices: what it finds, what it leaves alone, and how it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.decision.comparison import compare_pairs
from evalkit.decision.pairing import Pair, Pairing
from evalkit.decision.slices import (
    FALSE_DISCOVERY_RATE,
    Cut,
    find_slices,
    screen,
    shrink,
)
from evalkit.decision.tables import Table
from evalkit.policy import Policy
from evalkit.results import SliceResult
from evalkit.types import Family
from tests.builders import MISSING, RIGHT, TRUNCATED, WRONG, pairs, taskset, with_tokens

FAMILIES = ("facts", "instructions", "code", "longform", "math")
LENGTHS = ("256–1K", "1K–4K", "4K–16K", "16K–64K", "≥64K")
PAST_16K = ("16K–64K", "≥64K")


def simulated(
    rng: np.random.Generator, *, n: int, past_16k: float = 0.0, everywhere: float = 0.0
) -> tuple[SliceResult, ...]:
    """Screen one simulated run.

    80% accuracy, 6% of the pairs flip both ways, five families with four categories each,
    and the further cuts independent of them. `past_16k` and `everywhere` are shares of
    answers that the candidate loses on top.
    """
    length = rng.integers(0, 5, n)
    keys = {
        "family": [(FAMILIES[i % 5], None) for i in range(n)],
        "category": [(f"c{c}", FAMILIES[i % 5]) for i, c in enumerate(rng.integers(0, 4, n))],
        "language": [(("en", "zh")[i], None) for i in rng.integers(0, 2, n)],
        "prompt_length": [(LENGTHS[i], None) for i in length],
        "output_length": [(LENGTHS[i], None) for i in rng.integers(0, 4, n)],
        "difficulty": [(("easy", "medium", "hard")[i], None) for i in rng.integers(0, 3, n)],
    }
    baseline = rng.random(n) < 0.8
    flips = rng.random(n) < 0.03 / np.where(baseline, 0.8, 0.2)
    candidate = np.where(flips, ~baseline, baseline)
    lost = ((length >= 3) & (rng.random(n) < past_16k)) | (rng.random(n) < everywhere)
    table = Table(baseline.astype(float), (candidate & ~lost).astype(float), None)
    return screen(table, [Cut.of(name, made) for name, made in keys.items()])


def flagged(found: Sequence[SliceResult]) -> set[tuple[str, str]]:
    return {(one.dimension, one.value) for one in found if one.flagged}


def test_breaking_past_a_length_is_found() -> None:
    """Of 300 runs with 500 prompts (100 a bucket), 93% find a loss of 20 points, 75% one of 15.

    Of 300 with 1,500, 94% find 10. Other slices make up 4% to 10% of what is flagged.
    """
    rng = np.random.default_rng(9525)
    runs = [flagged(simulated(rng, n=500, past_16k=0.2 / 0.8)) for _ in range(30)]
    found = sum(bool(run & {("prompt_length", bucket) for bucket in PAST_16K}) for run in runs)
    others = sum(
        len({item for item in run if item[1] not in PAST_16K or item[0] != "prompt_length"})
        for run in runs
    )
    assert found >= 25
    assert others <= 0.15 * sum(map(len, runs))


@pytest.mark.parametrize("everywhere", [0.0, 0.05])
def test_nothing_is_flagged_where_no_slice_stands_out(everywhere: float) -> None:
    """Of 1,000 runs without any damage, 0.7% (500 prompts) and 1.5% (1,500) flag a slice.

    With five points lost everywhere it is 10% of 300: that is a matter of the verdict.
    """
    rng = np.random.default_rng(10500)
    runs = [flagged(simulated(rng, n=1500, everywhere=everywhere / 0.8)) for _ in range(40)]
    assert sum(map(bool, runs)) <= 0.15 * len(runs)


def spread(made: Sequence[Pair], **cuts: Sequence[str]) -> list[Pair]:
    """Deal values out over pairs in turn: category, language, level."""
    dealt = []
    for index, one in enumerate(made):
        changes: dict[str, object] = {}
        for name, values in cuts.items():
            value = values[index % len(values)]
            changes |= {"metadata": {"level": value}} if name == "level" else {name: value}
        dealt.append(replace(one, sample=replace(one.sample, **changes)))
    return dealt


def by_key(found: Sequence[SliceResult]) -> dict[tuple[str, str | None, str], SliceResult]:
    return {(one.dimension, one.family, one.value): one for one in found}


def test_every_dimension_is_cut_and_counts_its_flips() -> None:
    math = pairs(
        [(RIGHT, WRONG, 30), (WRONG, RIGHT, 6), (RIGHT, RIGHT, 84)],
        taskset="math",
        family=Family.MATH,
    )
    facts = pairs([(RIGHT, RIGHT, 120)])
    made = [
        *spread(with_tokens(math, 20_000, 300), category=["x", "y"], level=["hard"]),
        *spread(with_tokens(facts, 100, 10), language=["en", "zh"], level=["easy"]),
    ]
    found = by_key(find_slices(made))
    family = found["family", None, "math"]
    assert (family.n, family.regressions, family.improvements) == (120, 30, 6)
    assert family.difference.value == pytest.approx(-24 / 120)
    assert family.flagged
    assert {key for key in found if key[0] == "category"} == {
        ("category", "math", "x"),
        ("category", "math", "y"),
    }
    # English holds all of math, so it differs from every slice before it.
    assert {key[2] for key in found if key[0] == "language"} == {"en", "zh"}
    # Lengths and level cut exactly along the families here: they say nothing new.
    assert not {key[0] for key in found} & {"prompt_length", "output_length", "difficulty"}


def test_lengths_are_those_of_the_baseline() -> None:
    made = with_tokens(pairs([(RIGHT, RIGHT, 40)]), 100, 10)
    long = with_tokens(pairs([(RIGHT, WRONG, 40)]), 16_384, 70_000)
    long = [replace(one, sample=replace(one.sample, id=f"long-{one.sample.id}")) for one in long]
    found = by_key(find_slices([*made, *long]))
    assert found["prompt_length", None, "16K–64K"].flagged
    assert found["prompt_length", None, "64–256"].n == 40


def test_without_token_counts_the_prompt_has_the_samples_bucket() -> None:
    short = with_tokens(pairs([(RIGHT, RIGHT, 40)]), None, None)
    long = [
        replace(one, sample=replace(one.sample, length_bucket="long"))
        for one in with_tokens(pairs([(RIGHT, RIGHT, 30)]), None, None)
    ]
    found = by_key(find_slices([*short, *long]))
    assert {(key[0], key[2]) for key in found} == {
        ("prompt_length", "short"),
        ("prompt_length", "long"),
    }


def test_slices_with_few_independent_pairs_are_listed_and_not_tested() -> None:
    few = spread(pairs([(RIGHT, WRONG, 9)], taskset="few"), category=["few"])
    one_passage = [
        replace(one, sample=replace(one.sample, category="passage", cluster="p"))
        for one in pairs([(RIGHT, WRONG, 50)], taskset="passage")
    ]
    many = spread(pairs([(RIGHT, RIGHT, 60)]), category=["many"])
    found = by_key(find_slices([*few, *one_passage, *many]))
    for value, n in (("few", 9), ("passage", 50)):
        one = found["category", "facts", value]
        assert (one.n, one.pvalue, one.p_adjusted, one.flagged) == (n, None, None, False)
    assert found["category", "facts", "many"].pvalue is not None


def test_clusters_count_once() -> None:
    """A loss in five passages of ten questions is no loss in fifty questions."""

    def run(size: int) -> SliceResult:
        lost = [
            replace(
                one, sample=replace(one.sample, category="lost", cluster=f"lost-{index // size}")
            )
            for index, one in enumerate(pairs([(RIGHT, WRONG, 50), (RIGHT, RIGHT, 350)]))
        ]
        rest = spread(pairs([(RIGHT, RIGHT, 400)], taskset="rest"), category=["rest"])
        return by_key(find_slices([*lost, *rest]))["category", "facts", "lost"]

    alone, grouped = run(1), run(10)
    assert alone.pvalue is not None
    assert grouped.pvalue is not None
    assert grouped.pvalue > 10 * alone.pvalue


def test_a_slice_that_is_worse_only_than_an_improved_rest_is_not_flagged() -> None:
    same = spread(pairs([(RIGHT, RIGHT, 300)]), category=["same"])
    better = spread(pairs([(WRONG, RIGHT, 300)], taskset="better"), category=["better"])
    assert not flagged(find_slices([*same, *better]))


def test_missing_answers_are_in_no_slice() -> None:
    made = spread(
        pairs([(RIGHT, RIGHT, 60), (RIGHT, MISSING, 20), (MISSING, RIGHT, 20)]), category=["a", "b"]
    )
    assert {one.n for one in find_slices(made)} == {30}


def test_an_invalid_comparison_has_no_slices() -> None:
    made = spread(pairs([(RIGHT, RIGHT, 900), (TRUNCATED, TRUNCATED, 100)]), category=["a", "b"])
    sets = [taskset([one.sample for one in made])]
    assert compare_pairs("q4", Pairing(tuple(made), ()), sets, Policy()).slices == ()
    valid = made[:900]
    assert compare_pairs("q4", Pairing(tuple(valid), ()), sets, Policy()).slices


def test_nothing_to_cut_gives_nothing() -> None:
    assert find_slices([]) == ()
    assert find_slices(pairs([(RIGHT, WRONG, 50)])) == ()


def test_adjusted_values_control_the_false_discoveries_over_all_cuts() -> None:
    found = simulated(np.random.default_rng(3), n=600, past_16k=0.2)
    tested = sorted(one.pvalue for one in found if one.pvalue is not None)
    for one in found:
        if one.pvalue is not None and one.p_adjusted is not None:
            rank = sum(p <= one.pvalue for p in tested)
            assert one.p_adjusted <= len(tested) * one.pvalue / rank + 1e-12
            assert one.flagged == (one.p_adjusted <= FALSE_DISCOVERY_RATE)


def test_shrinkage_by_hand() -> None:
    """Two groups of 50 and 150, worked by hand from the weighted moment estimate.

    Mean 0.05 * 50/200 = 0.0125... with values 0.05 and 0: spread 50 * 0.0375² + 150 *
    0.0125² = 0.09375; expected 50 * 0.0004 + 150 * 0.0001 - (2500 * 0.0004 + 22500 *
    0.0001) / 200 = 0.035 - 0.01625 = 0.01875; tau² = 0.075 / (200 - 25000/200) = 0.001.
    """
    drawn = shrink([0.05, 0.0], [0.0004, 0.0001], [50, 150])
    first, second = 0.0004 / 0.0014, 0.0001 / 0.0011
    assert drawn[0] == pytest.approx(first * 0.0125 + (1 - first) * 0.05)
    assert drawn[1] == pytest.approx(second * 0.0125)


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(1e-6, 0.1), st.integers(1, 10_000)),
        min_size=2,
        max_size=12,
    )
)
def test_shrinkage_draws_toward_the_mean_and_never_past_it(
    groups: list[tuple[float, float, int]],
) -> None:
    values, variances, sizes = zip(*groups, strict=True)
    mean = float(np.average(values, weights=sizes))
    for value, drawn in zip(values, shrink(values, variances, sizes), strict=True):
        assert min(value, mean) - 1e-9 <= drawn <= max(value, mean) + 1e-9
