"""Injected damage does what it says, to the answers that it names and to no others."""

from __future__ import annotations

import numpy as np
import pytest

from evalkit.decision.damage import Damage, DamageKind, flipped, inflict
from evalkit.decision.pairing import Answer, Key
from evalkit.decision.tables import is_degenerate
from evalkit.types import Family, Flag, Outcome, Sample
from tests.builders import ABSTAINED, LOOP, MISSING, RIGHT, TRUNCATED, UNSCORED, WRONG
from tests.builders import answer as make_answer
from tests.builders import sample as make_sample

KINDS = (RIGHT, WRONG, ABSTAINED, TRUNCATED, LOOP, UNSCORED, MISSING)


def arm(
    kinds: tuple[str, ...] = KINDS, family: Family = Family.FACTS
) -> tuple[dict[Key, Answer], dict[tuple[str, str], Sample]]:
    samples = [make_sample(kind, taskset=family.value, family=family) for kind in kinds]
    return (
        {(s.taskset, s.id, 0): make_answer(s, s.id) for s in samples},
        {(s.taskset, s.id): s for s in samples},
    )


def damaged(damage: Damage, *, hallucination: bool = True) -> dict[str, Answer]:
    """Damage one answer of each kind for certain; return those that changed."""
    answers, samples = arm()
    after = inflict(
        damage,
        answers,
        samples,
        dict.fromkeys(answers, 0.0),
        hallucination_tasksets={"facts"} if hallucination else (),
    )
    assert list(after) == list(answers)
    return {key[1]: after[key] for key in answers if after[key] is not answers[key]}


def test_wrong_turns_right_answers_into_hallucinations_only_where_those_are_measured() -> None:
    changed = damaged(Damage(DamageKind.WRONG, 1.0))
    assert set(changed) == {RIGHT}
    assert changed[RIGHT].outcome is Outcome.INCORRECT
    assert changed[RIGHT].value == 0
    assert changed[RIGHT].score.flags == (Flag.HALLUCINATED,)
    elsewhere = damaged(Damage(DamageKind.WRONG, 1.0), hallucination=False)
    assert elsewhere[RIGHT].score.flags == ()


def test_truncated_cuts_every_answer_that_is_there_and_asserts_nothing() -> None:
    changed = damaged(Damage(DamageKind.TRUNCATED, 1.0))
    assert set(changed) == {RIGHT, WRONG, ABSTAINED, UNSCORED}
    for answer in changed.values():
        assert answer.outcome is Outcome.ABSTAINED
        assert answer.value == 0
        assert Flag.TRUNCATED in answer.score.flags
        assert Flag.HALLUCINATED not in answer.score.flags


def test_loops_are_degenerate() -> None:
    changed = damaged(Damage(DamageKind.LOOP, 1.0))
    assert set(changed) == {RIGHT, WRONG, ABSTAINED, UNSCORED, TRUNCATED}
    assert all(is_degenerate(answer) for answer in changed.values())
    assert changed[TRUNCATED].score.flags == (Flag.TRUNCATED, Flag.LOOP)


def test_assert_turns_abstentions_and_nothing_that_merely_failed() -> None:
    changed = damaged(Damage(DamageKind.ASSERT, 1.0))
    assert set(changed) == {ABSTAINED}
    assert changed[ABSTAINED].outcome is Outcome.INCORRECT
    assert changed[ABSTAINED].score.flags == (Flag.HALLUCINATED,)


def test_none_changes_nothing() -> None:
    assert damaged(Damage(DamageKind.NONE, 1.0)) == {}


def test_damage_stays_in_its_family() -> None:
    assert damaged(Damage(DamageKind.WRONG, 1.0, Family.MATH)) == {}
    assert set(damaged(Damage(DamageKind.WRONG, 1.0, Family.FACTS))) == {RIGHT}


def test_the_rate_is_met_in_expectation_and_a_higher_one_damages_the_same_and_more() -> None:
    samples = [make_sample(f"s{i}") for i in range(5000)]
    answers = {(s.taskset, s.id, 0): make_answer(s, RIGHT) for s in samples}
    by_id = {(s.taskset, s.id): s for s in samples}
    rng = np.random.default_rng(7)
    marks = dict(zip(answers, rng.random(len(answers)).tolist(), strict=True))

    def hit(rate: float) -> set[Key]:
        after = inflict(
            Damage(DamageKind.WRONG, rate), answers, by_id, marks, hallucination_tasksets=()
        )
        return {key for key in answers if after[key].value == 0}

    low, high = hit(0.05), hit(0.10)
    # Four standard errors of a binomial share.
    assert len(low) / 5000 == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 5000) ** 0.5)
    assert len(high) / 5000 == pytest.approx(0.10, abs=4 * (0.10 * 0.90 / 5000) ** 0.5)
    assert low < high


@pytest.mark.parametrize("kind", [WRONG, ABSTAINED, TRUNCATED, UNSCORED])
def test_a_flip_makes_what_is_not_right_right(kind: str) -> None:
    after = flipped(make_answer(make_sample(), kind), hallucination=True)
    assert (after.outcome, after.value, after.score.flags) == (Outcome.CORRECT, 1.0, ())


def test_a_flip_makes_a_right_answer_wrong_and_leaves_what_is_missing() -> None:
    after = flipped(make_answer(make_sample(), RIGHT), hallucination=True)
    assert (after.outcome, after.value) == (Outcome.INCORRECT, 0.0)
    assert after.score.flags == (Flag.HALLUCINATED,)
    missing = make_answer(make_sample(), MISSING)
    assert flipped(missing, hallucination=True) is missing
