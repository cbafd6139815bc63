"""Curves over length: every bucket that was met, from short to long, and nothing invented."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalkit.decision.comparison import compare_pairs
from evalkit.decision.lengths import length_bucket, length_curves
from evalkit.decision.pairing import Pair, Pairing
from evalkit.policy import Policy
from tests.builders import MISSING, RIGHT, WRONG, pairs, taskset, with_tokens


def of_length(
    prompt: int | None, answer: int | None, *cells: tuple[object, object, int]
) -> list[Pair]:
    made = with_tokens(pairs(list(cells)), prompt, answer)  # type: ignore[arg-type]
    return [
        replace(one, sample=replace(one.sample, id=f"{prompt}-{answer}-{one.sample.id}"))
        for one in made
    ]


def test_each_bucket_has_the_rates_and_the_difference_of_its_own_pairs() -> None:
    short = of_length(40, 10, (RIGHT, RIGHT, 30), (WRONG, RIGHT, 10))
    long = of_length(20_000, 10, (RIGHT, RIGHT, 12), (RIGHT, WRONG, 8))
    points = length_curves([*long, *short])
    assert [(p.dimension, p.bucket, p.n) for p in points] == [
        ("prompt_length", "<64", 40),
        ("prompt_length", "16K–64K", 20),
    ]
    first, last = points
    assert (first.baseline, first.candidate) == (0.75, 1.0)
    assert (last.baseline, last.candidate) == (1.0, 0.6)
    assert first.difference.value == pytest.approx(0.25)
    assert last.difference.value == pytest.approx(-0.4)
    assert last.difference.high is not None
    assert last.difference.high < 0


def test_a_curve_that_repeats_a_family_is_drawn_all_the_same() -> None:
    """The screen of slices tells equal parts once; a curve needs all its points."""
    short = of_length(40, 10, (RIGHT, RIGHT, 30))
    long = of_length(20_000, 300, (RIGHT, WRONG, 30))
    found = {(p.dimension, p.bucket) for p in length_curves([*short, *long])}
    assert found == {
        ("prompt_length", "<64"),
        ("prompt_length", "16K–64K"),
        ("output_length", "<64"),
        ("output_length", "256–1K"),
    }


def test_pairs_without_both_answers_and_a_single_bucket_say_nothing() -> None:
    gone = of_length(20_000, 10, (RIGHT, MISSING, 30))
    assert length_curves([*of_length(40, 10, (RIGHT, RIGHT, 30)), *gone]) == ()
    assert length_curves([]) == ()


def test_uncounted_prompts_have_the_samples_buckets_and_no_output_length() -> None:
    short = of_length(None, None, (RIGHT, RIGHT, 20))
    long = [
        replace(one, sample=replace(one.sample, id=f"l-{one.sample.id}", length_bucket="long"))
        for one in short
    ]
    assert [(p.dimension, p.bucket) for p in length_curves([*long, *short])] == [
        ("prompt_length", "short"),
        ("prompt_length", "long"),
    ]


@pytest.mark.parametrize(
    ("tokens", "bucket"),
    [(0, "<64"), (63, "<64"), (64, "64–256"), (16_383, "4K–16K"), (16_384, "16K–64K")],
)
def test_buckets_begin_at_their_edge(tokens: int, bucket: str) -> None:
    assert length_bucket(tokens) == bucket


def test_an_invalid_comparison_draws_no_curve() -> None:
    made = [*of_length(40, 10, (RIGHT, RIGHT, 4)), *of_length(20_000, 10, (RIGHT, WRONG, 4))]
    result = compare_pairs(
        "q4", Pairing(tuple(made), ()), [taskset([one.sample for one in made])], Policy()
    )
    assert result.verdict.state.value == "INVALID"
    assert result.lengths == ()
