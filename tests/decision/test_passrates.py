from __future__ import annotations

from collections.abc import Sequence

import pytest

from evalkit.decision.comparison import compare_pairs
from evalkit.decision.pairing import Pair, Pairing
from evalkit.decision.passrates import measure_passes
from evalkit.policy import Policy
from evalkit.stats.passk import pass_at_k
from evalkit.types import Family
from tests.builders import MISSING, RIGHT, WRONG, answer, sample, taskset


def repeated(
    rows: Sequence[tuple[int, int]], epochs: int, *, family: Family = Family.CODE, missing: int = 0
) -> list[Pair]:
    """Make prompts of which the baseline gets the first n epochs right, and the candidate m."""
    made = []
    for index, (before, after) in enumerate(rows):
        of = sample(f"s{index}", taskset=family.value, family=family)
        for epoch in range(epochs):
            first = answer(of, RIGHT if epoch < before else WRONG, epoch=epoch)
            kind = RIGHT if epoch < after else WRONG
            if missing and epoch >= epochs - missing:
                kind = MISSING
            made.append(Pair(of, epoch, first, answer(of, kind, epoch=epoch, arm="b")))
    return made


ROWS = [(4, 4), (4, 1), (2, 2), (0, 0), (1, 0)] * 10


def test_pass_at_k_of_both_arms_is_the_mean_over_prompts() -> None:
    found = {one.k: one for one in measure_passes(repeated(ROWS, 4), 4)}
    assert list(found) == [1, 2, 3, 4]
    for k, one in found.items():
        before = sum(pass_at_k(4, c, k) for c, _ in ROWS) / len(ROWS)
        after = sum(pass_at_k(4, c, k) for _, c in ROWS) / len(ROWS)
        assert one.baseline.value == pytest.approx(before)
        assert one.candidate.value == pytest.approx(after)
        assert one.difference.value == pytest.approx(after - before)
        assert (one.scope, one.prompts, one.left_out) == ("code", 50, 0)
        assert one.difference.n == 50


def test_more_epochs_of_the_same_answers_are_no_more_prompts() -> None:
    """Every answer the same in each epoch: the intervals of one epoch, and no narrower."""
    once = [(int(i % 3 > 0), int(i % 4 > 0)) for i in range(48)]
    many = [(8 * a, 8 * b) for a, b in once]
    one, eight = (
        measure_passes(repeated(rows, epochs), 2, [1])[0] for rows, epochs in ((once, 1), (many, 8))
    )
    assert (one.baseline.low, one.baseline.high) == (eight.baseline.low, eight.baseline.high)
    assert (one.difference.low, one.difference.high) == (
        eight.difference.low,
        eight.difference.high,
    )


def test_only_prompts_with_enough_answers_count() -> None:
    pairs = repeated(ROWS[:20], 4) + repeated([(4, 4)], 4, family=Family.MATH, missing=3)
    found = {(one.scope, one.k): one for one in measure_passes(pairs, 4, [1, 2])}
    assert found["code", 2].left_out == 0
    assert found["math", 1].prompts == 1
    assert ("math", 2) not in found
    assert measure_passes(repeated([(4, 4)], 4, missing=4), 4) == ()


def test_a_single_epoch_and_open_answers_have_no_pass_at_k() -> None:
    assert measure_passes(repeated([(1, 1)] * 20, 1), 1) == ()
    assert measure_passes(repeated(ROWS, 4, family=Family.FACTS), 4) == ()


def test_repeats_are_one_unit_in_every_number_of_an_arm() -> None:
    """Eight equal epochs say no more of a rate, of recovery or of flips than one does."""
    once = [(1, int(i % 5 > 0)) for i in range(60)]
    numbers = []
    for epochs, rows in ((1, once), (8, [(8 * a, 8 * b) for a, b in once])):
        pairs = repeated(rows, epochs, family=Family.MATH)
        tasks = [taskset([pair.sample for pair in pairs if pair.epoch == 0], family=Family.MATH)]
        scope = compare_pairs("b", Pairing(tuple(pairs), ()), tasks, Policy()).pooled
        numbers.append(scope)
    one, eight = numbers
    width = one.candidate.accuracy.high - one.candidate.accuracy.low
    assert eight.candidate.accuracy.high - eight.candidate.accuracy.low >= width
    assert eight.candidate.accuracy.n_clusters == 60
    assert eight.recovery.value == pytest.approx(one.recovery.value)
    assert eight.recovery.high - eight.recovery.low > 0.8 * (one.recovery.high - one.recovery.low)
    assert eight.mcnemar_midp.pvalue > one.mcnemar_midp.pvalue / 3
    assert eight.accuracy.difference.low == pytest.approx(one.accuracy.difference.low, abs=0.01)


def test_repeats_do_not_make_a_family_large_enough_to_gate() -> None:
    pairs = repeated([(5, 5)] * 70, 5, family=Family.MATH)
    tasks = [taskset([pair.sample for pair in pairs if pair.epoch == 0], family=Family.MATH)]
    result = compare_pairs("b", Pairing(tuple(pairs), ()), tasks, Policy())
    assert not result.families[0].accuracy.gated


def test_what_is_still_needed_is_told_in_prompts() -> None:
    once = [(int(i % 3 > 0), int(i % 4 > 0)) for i in range(60)]
    needed = []
    for epochs, rows in ((1, once), (4, [(4 * a, 4 * b) for a, b in once])):
        pairs = repeated(rows, epochs, family=Family.MATH)
        tasks = [taskset([pair.sample for pair in pairs if pair.epoch == 0], family=Family.MATH)]
        result = compare_pairs("b", Pairing(tuple(pairs), ()), tasks, Policy())
        found = result.pooled.accuracy.prompts_needed
        assert found is not None
        needed.append(found)
    one, four = needed
    assert (one.repeats, four.repeats) == (1, 4)
    # Equal answers every time say as much as one of them.
    assert four.anew == pytest.approx(one.anew, rel=0.1)
    assert four.prompts(four.more) == pytest.approx(one.more, rel=0.1)
