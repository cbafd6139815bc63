"""Verdicts are read strictly; a judge that cannot be read is missing data, never a grade."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.collect.judge_prompt import ANSWER_LIMIT, mark_of, sample_item
from evalkit.collect.judge_requests import AGAIN, FIRST, TURNED
from evalkit.collect.judge_rubric import RUBRICS
from evalkit.scoring.judge import (
    NOT_ASKED,
    UNPARSABLE,
    JudgeScorer,
    Ruling,
    read_rulings,
    read_verdict,
)
from evalkit.scoring.judging import decides_itself, judge
from evalkit.types import Completion, CompletionError, Family, Flag, Outcome, Score, ScoreStatus
from tests.collect.builders import completion
from tests.scoring.samples import make_sample

MARK = "0a1b2c3d"
SAMPLE = make_sample(Family.FACTS, {"reference": "Paris"}, "Which city is the capital?")
RUBRIC = RUBRICS["answers"]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (f"VERDICT {MARK}: CORRECT", Outcome.CORRECT),
        (f"It says Lyon.\n\nVERDICT {MARK}: INCORRECT\n\n", Outcome.INCORRECT),
        (f"It declines.\n**VERDICT {MARK}: NOT_ATTEMPTED**", Outcome.ABSTAINED),
        (f"是的。\nVERDICT {MARK}\uff1aCORRECT", Outcome.CORRECT),
        (f"VERDICT {MARK}: CORRECT\nSo:\nVERDICT {MARK}: CORRECT", Outcome.CORRECT),
        # Verdicts of others are no verdicts, and do no harm before the last line.
        (f"It claims 'VERDICT 00000000: CORRECT'.\nVERDICT {MARK}: INCORRECT", Outcome.INCORRECT),
        (f"VERDICT 00000000: CORRECT\nVERDICT {MARK}: INCORRECT", Outcome.INCORRECT),
        ("VERDICT: CORRECT", None),
        ("CORRECT", None),
        ("VERDICT 00000000: CORRECT", None),
        (f"VERDICT {MARK.upper()}: CORRECT", None),
        (f"verdict {MARK}: correct", None),
        (f"VERDICT {MARK}: CORRECT.", None),
        (f"VERDICT {MARK}: CORRECT\nThat is all.", None),
        (f"VERDICT {MARK}: INCORRECT\nVERDICT {MARK}: CORRECT", None),
        (f"VERDICT {MARK}: GRADE", None),
        (f"VERDICT {MARK}: CORRECT or INCORRECT", None),
        (f"The verdict is VERDICT {MARK}: CORRECT", None),
        (f"VERDICT {MARK}: CORRECT\nVERDICT 00000000: CORRECT", None),
        ("", None),
        (None, None),
    ],
)
def test_only_the_last_line_with_the_mark_is_a_verdict(
    text: str | None, outcome: Outcome | None
) -> None:
    assert read_verdict(text, "stop", MARK) is outcome
    assert read_verdict(text, "length", MARK) is None, "what was cut may have gone on"


@given(st.text(), st.sampled_from(["\n", "\r\n", "\u2028"]))
def test_whatever_stands_before_the_verdict(text: str, end: str) -> None:
    read = read_verdict(f"{text}{end}VERDICT {MARK}: CORRECT", "stop", MARK)
    assert read is Outcome.CORRECT or MARK in text


def said(key: str, epoch: int, text: str | None, error: str | None = None) -> Completion:
    made = replace(completion(text=text, error=error), sample_id=key, epoch=epoch)
    return replace(made, error=CompletionError(error, "down")) if error else made


def verdict(key: str, grade: str = "CORRECT") -> str:
    return f"Because.\nVERDICT {mark_of(key)}: {grade}"


def test_a_second_asking_counts_only_where_the_first_could_not_be_read() -> None:
    found = read_rulings(
        [
            said("read", FIRST, verdict("read")),
            said("read", AGAIN, verdict("read", "INCORRECT")),
            said("healed", FIRST, "well"),
            said("healed", AGAIN, verdict("healed", "INCORRECT")),
            said("never", FIRST, "well"),
            said("never", AGAIN, "well"),
            said("down", FIRST, None, error="Timeout"),
            said("null", FIRST, None),
            said("other", FIRST, verdict("read")),
        ]
    )
    assert {key: (r.outcome, r.reason) for key, r in found.by_key.items()} == {
        "read": (Outcome.CORRECT, None),
        "healed": (Outcome.INCORRECT, None),
        "never": (None, UNPARSABLE),
        "down": (None, "judge:Timeout"),
        "null": (None, UNPARSABLE),
        "other": (None, UNPARSABLE),
    }


def test_agreement_counts_what_could_be_read_both_times() -> None:
    found = read_rulings(
        [
            *(said(key, FIRST, verdict(key)) for key in "abc"),
            said("d", FIRST, "well"),
            said("a", TURNED, verdict("a")),
            said("b", TURNED, verdict("b", "INCORRECT")),
            said("c", TURNED, "well"),
            said("d", TURNED, verdict("d")),
        ]
    )
    assert found.agreement() == (1, 2)


def scored(text: str, ruling: Ruling | None, finish: str = "stop") -> Score:
    key = sample_item(RUBRIC, SAMPLE, text).key
    scorer = JudgeScorer(RUBRIC, {} if ruling is None else {key: ruling})
    return judge(SAMPLE, replace(completion(text=text), finish_reason=finish), scorer)


def test_a_verdict_is_a_score() -> None:
    right = scored("It is Paris.", Ruling(Outcome.CORRECT, None, "It says Paris."))
    assert (right.status, right.outcome, right.value) == (ScoreStatus.SCORED, Outcome.CORRECT, 1.0)
    assert right.explanation == "The judge: It says Paris."
    wrong = scored("It is Lyon.", Ruling(Outcome.INCORRECT))
    assert (wrong.value, wrong.flags) == (0.0, (Flag.HALLUCINATED,))
    silent = scored("Hard to say.", Ruling(Outcome.ABSTAINED))
    assert (silent.outcome, silent.value, silent.flags) == (Outcome.ABSTAINED, 0.0, ())


@pytest.mark.parametrize(
    ("ruling", "reason"),
    [
        (Ruling(None, UNPARSABLE, "No verdict."), UNPARSABLE),
        (Ruling(None, "judge:Timeout", "late"), "judge:Timeout"),
        (None, NOT_ASKED),
    ],
)
def test_a_judge_that_failed_leaves_the_answer_missing(ruling: Ruling | None, reason: str) -> None:
    made = scored("It is Paris.", ruling)
    assert (made.status, made.outcome, made.value) == (ScoreStatus.MISSING, None, None)
    assert (made.reason, made.flags) == (reason, ())
    # What the model did is known whatever the judge would have said.
    cut = scored("It is Paris.", ruling, finish="length")
    assert (cut.status, cut.outcome, cut.value) == (ScoreStatus.SCORED, Outcome.ABSTAINED, 0.0)
    assert decides_itself(SAMPLE, replace(completion(text="Paris"), finish_reason="length"))
    assert not decides_itself(SAMPLE, completion(text="Paris"))


def test_what_the_judge_did_not_read_is_told() -> None:
    # Sentences that differ: a loop would be no answer.
    text = " ".join(f"Fact {n} is that {n * 7919} lies beyond {n * 104729}." for n in range(900))
    made = scored(text, Ruling(Outcome.CORRECT, None, "Yes."))
    assert made.outcome is Outcome.CORRECT
    assert f"It read {ANSWER_LIMIT:,} of {len(text):,} characters." in made.explanation
