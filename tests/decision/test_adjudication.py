"""Reviewers' marks: what they change, what they do not reach, and whom they help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.decision.adjudication import Adjudicated, adjudicate, answer_hash, one_sided
from evalkit.decision.pairing import Answer, Key
from evalkit.reviews import Mark, MarkKind
from evalkit.types import Flag, Outcome
from tests.builders import ABSTAINED, MISSING, RIGHT, UNSCORED, WRONG, pairs

NAMES = ("fp8", "int4")


def arms(*spec: tuple[str, str, int]) -> tuple[dict[Key, Answer], dict[Key, Answer]]:
    made = pairs(list(spec))
    keys = [(one.sample.taskset, one.sample.id, one.epoch) for one in made]
    return (
        dict(zip(keys, [one.baseline for one in made], strict=True)),
        dict(zip(keys, [one.candidate for one in made], strict=True)),
    )


def mark(
    number: int,
    answers: dict[Key, Answer],
    *,
    arm: str | None = "int4",
    outcome: str | None = "correct",
    kind: MarkKind = "score",
    of: int = 0,
    withdraws: str | None = None,
) -> Mark:
    key = list(answers)[of]
    seen = answer_hash(answers[key].completion)
    return Mark(
        str(number), kind, key[0], key[1], key[2], arm, outcome, "why", "Ada", "now",
        seen if kind == "score" else None, withdraws,
    )  # fmt: skip


def done(both: tuple[dict[Key, Answer], dict[Key, Answer]], marks: Sequence[Mark]) -> Adjudicated:
    return adjudicate(NAMES, *both, marks)


@pytest.mark.parametrize(
    ("spec", "arm", "outcome", "state", "favours"),
    [
        ((RIGHT, WRONG, 1), "int4", "correct", "applied", "candidate"),
        ((RIGHT, WRONG, 1), "fp8", "incorrect", "applied", "candidate"),
        ((WRONG, RIGHT, 1), "fp8", "correct", "applied", "baseline"),
        ((RIGHT, RIGHT, 1), "int4", "incorrect", "applied", "baseline"),
        ((RIGHT, WRONG, 1), "int4", "abstained", "applied", "candidate"),
        ((RIGHT, ABSTAINED, 1), "int4", "incorrect", "applied", "baseline"),
        ((RIGHT, UNSCORED, 1), "int4", "correct", "applied", "candidate"),
        ((RIGHT, WRONG, 1), "int4", "incorrect", "unchanged", "neither"),
        ((RIGHT, MISSING, 1), "int4", "correct", "stale", "neither"),
    ],
)
def test_a_mark_on_a_score_changes_it_and_helps_one_arm(
    spec: tuple[str, str, int], arm: str, outcome: str, state: str, favours: str
) -> None:
    both = arms(spec)
    side = both[NAMES.index(arm)]
    found = done(both, [mark(1, side, arm=arm, outcome=outcome)])
    assert [(one.state, one.favours) for one in found.marks] == [(state, favours)]
    (after,) = (found.baseline, found.candidate)[NAMES.index(arm)].values()
    if state == "applied":
        assert after.outcome is Outcome(outcome)
        assert after.value == (1.0 if outcome == "correct" else 0.0)
        assert (Flag.HALLUCINATED in after.score.flags) <= (outcome == "incorrect")
        assert "Ada" in after.score.explanation
    else:
        assert after == next(iter(side.values()))
    # The evidence itself is never touched.
    assert after.completion == next(iter(side.values())).completion


def test_another_answer_than_the_one_that_was_seen_is_not_meant() -> None:
    both = arms((RIGHT, WRONG, 1))
    seen = mark(1, both[1])
    key, answer = next(iter(both[1].items()))
    again = Answer(replace(answer.completion, text="43"), answer.score)
    found = adjudicate(NAMES, both[0], {key: again}, [seen])
    assert found.marks[0].state == "stale"
    assert found.candidate == {key: again}


def test_the_last_mark_on_an_answer_holds_and_a_withdrawn_one_does_not() -> None:
    both = arms((RIGHT, WRONG, 1))
    first, second = mark(1, both[1]), mark(2, both[1], outcome="abstained")
    (after,) = done(both, [first, second]).candidate.values()
    assert after.outcome is Outcome.ABSTAINED
    back = mark(3, both[1], kind="withdrawal", withdraws="2")
    found = done(both, [first, second, back])
    assert [one.state for one in found.marks] == ["applied", "withdrawn"]
    (after,) = found.candidate.values()
    assert after.outcome is Outcome.CORRECT


@pytest.mark.parametrize(
    ("spec", "favours"),
    [
        ((RIGHT, WRONG, 2), "candidate"),
        ((WRONG, RIGHT, 2), "baseline"),
        ((RIGHT, RIGHT, 2), "neither"),
    ],
)
def test_a_bad_prompt_counts_for_no_arm(spec: tuple[str, str, int], favours: str) -> None:
    both = arms(spec)
    found = done(both, [mark(1, both[0], kind="prompt", arm=None, outcome=None)])
    assert list(found.baseline) == list(found.candidate) == list(both[0])[1:]
    assert [(one.state, one.favours) for one in found.marks] == [("applied", favours)]


def test_marks_of_other_candidates_are_left_out() -> None:
    both = arms((RIGHT, WRONG, 1))
    found = done(both, [mark(1, both[1], arm="int3")])
    assert found.marks == ()
    assert (found.baseline, found.candidate) == both


def test_one_sidedness_is_told_only_when_every_mark_helps_the_same_arm() -> None:
    both = arms((RIGHT, WRONG, 3), (RIGHT, RIGHT, 1))
    helping = [mark(place, both[1], of=place) for place in range(3)]
    against = mark(9, both[1], of=3, outcome="incorrect")
    idle = mark(8, both[1], of=3)
    assert one_sided(done(both, helping).marks) == "candidate"
    assert one_sided(done(both, [*helping, idle]).marks) == "candidate"
    assert one_sided(done(both, [*helping, against]).marks) is None
    assert one_sided(done(both, [idle]).marks) is None


@given(
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from(NAMES), st.sampled_from(list(Outcome))))
)
def test_what_is_unmarked_stays_as_it_is(said: list[tuple[int, str, Outcome]]) -> None:
    both = arms((RIGHT, WRONG, 4), (WRONG, RIGHT, 4))
    marks = [
        mark(n, both[NAMES.index(arm)], arm=arm, outcome=outcome.value, of=place)
        for n, (place, arm, outcome) in enumerate(said)
    ]
    found = done(both, marks)
    for arm, before, after in zip(NAMES, both, (found.baseline, found.candidate), strict=True):
        touched = {list(before)[place] for place, name, _ in said if name == arm}
        assert {k: a for k, a in after.items() if k not in touched} == {
            k: a for k, a in before.items() if k not in touched
        }
        for place, name, outcome in said:
            last = [o for p, n, o in said if (p, n) == (place, name)][-1]
            if name == arm and outcome is last:
                assert after[list(before)[place]].outcome is last
