from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.errors import ScoringError
from evalkit.scoring.base import Judgement
from evalkit.scoring.judging import expected_language, judge, judge_all
from evalkit.types import (
    Completion,
    CompletionError,
    Family,
    Flag,
    Message,
    Outcome,
    Sample,
    Score,
    ScoreStatus,
    Timing,
    Usage,
)

SAMPLE = Sample(
    id="s1",
    taskset="facts",
    family=Family.FACTS,
    language="en",
    category="capitals",
    messages=(Message("user", "What is the capital of France?"),),
    target={},
)
RIGHT = Judgement(Outcome.CORRECT, 1.0, "Paris", "It is Paris.")
WRONG = Judgement(Outcome.INCORRECT, 0.0, "Lyon", "It is not Lyon.", (Flag.HALLUCINATED,))
LOOP = "The capital is Paris, and it is a large city. " * 40
REFUSAL = "I'm sorry, but I can't help with that."


@dataclass(frozen=True)
class Fixed:
    """A scorer that always says the same, or raises."""

    says: Judgement | BaseException
    name: str = "fixed"
    version: int = 7

    def __call__(self, sample: Sample, text: str) -> Judgement:
        assert text.strip(), "empty answers never reach a scorer"
        if isinstance(self.says, BaseException):
            raise self.says
        return self.says


def completion(
    text: str | None = "Paris.", finish_reason: str | None = "stop", error: str | None = None
) -> Completion:
    return Completion(
        sample_id="s1",
        taskset="facts",
        epoch=3,
        prompt_hash="p",
        fingerprint="f",
        text=None if error else text,
        reasoning=None,
        finish_reason=None if error else finish_reason,
        usage=Usage(),
        timing=Timing(0.0, 0.1),
        attempts=(),
        error=CompletionError(error, "what the server said") if error else None,
    )


def score(of: Completion, says: Judgement | BaseException = RIGHT) -> Score:
    return judge(SAMPLE, of, Fixed(says))


def test_a_healthy_answer_gets_what_the_scorer_says() -> None:
    made = score(completion())
    assert (made.status, made.outcome, made.value) == (ScoreStatus.SCORED, Outcome.CORRECT, 1.0)
    assert (made.answer, made.explanation, made.flags) == ("Paris", "It is Paris.", ())
    assert (made.sample_id, made.taskset, made.epoch, made.fingerprint) == ("s1", "facts", 3, "f")
    assert (made.scorer, made.scorer_version) == ("fixed", 7)
    assert score(completion(), WRONG).flags == (Flag.HALLUCINATED,)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("Timeout", "infra:Timeout"),
        ("ServerError", "infra:ServerError"),
        ("AuthError", "infra:AuthError"),
        ("ContextLengthError", "request:ContextLengthError"),
        ("BadRequest", "request:BadRequest"),
    ],
)
def test_what_was_never_answered_is_missing_and_not_wrong(kind: str, reason: str) -> None:
    made = score(completion(error=kind))
    assert (made.status, made.outcome, made.value) == (ScoreStatus.MISSING, None, None)
    assert made.reason == reason
    assert made.explanation == "what the server said"
    assert made.flags == ()


@pytest.mark.parametrize(
    ("text", "finish_reason", "flags"),
    [
        (None, "stop", (Flag.EMPTY,)),
        (None, None, (Flag.EMPTY,)),
        ("", "stop", (Flag.EMPTY,)),
        (" \n\t\u3000", "stop", (Flag.EMPTY,)),
        ("\u200b\ufeff", "stop", (Flag.EMPTY,)),
        # The whole budget went into reasoning.
        (None, "length", (Flag.TRUNCATED,)),
        ("", "length", (Flag.TRUNCATED, Flag.EMPTY)),
    ],
)
def test_an_empty_answer_is_an_abstention(
    text: str | None, finish_reason: str | None, flags: tuple[Flag, ...]
) -> None:
    made = score(completion(text, finish_reason))
    assert (made.status, made.outcome, made.value) == (ScoreStatus.SCORED, Outcome.ABSTAINED, 0.0)
    assert made.flags == flags


@pytest.mark.parametrize("says", [RIGHT, WRONG])
@pytest.mark.parametrize(
    ("text", "finish_reason", "flag"),
    [("Paris is the", "length", Flag.TRUNCATED), (LOOP, "stop", Flag.LOOP)],
)
def test_a_model_failure_is_not_correct_and_never_a_hallucination(
    says: Judgement, text: str, finish_reason: str, flag: Flag
) -> None:
    made = score(completion(text, finish_reason), says)
    assert (made.status, made.outcome, made.value) == (ScoreStatus.SCORED, Outcome.ABSTAINED, 0.0)
    assert flag in made.flags
    assert Flag.HALLUCINATED not in made.flags
    assert made.answer == says.answer
    assert says.explanation in made.explanation
    assert flag.value in made.explanation


def test_bad_format_from_a_scorer_is_a_model_failure_too() -> None:
    made = score(completion(), replace(RIGHT, flags=(Flag.BAD_FORMAT,)))
    assert (made.outcome, made.value) == (Outcome.ABSTAINED, 0.0)


def test_nothing_to_extract_is_unscored() -> None:
    made = score(completion(), Judgement.unscored("extraction", "No number."))
    assert (made.status, made.outcome, made.value) == (ScoreStatus.UNSCORED, None, None)
    assert (made.reason, made.explanation) == ("extraction", "No number.")
    assert made.flags == (Flag.BAD_FORMAT,)


def test_unscored_keeps_what_health_saw() -> None:
    made = score(completion("The", "length"), Judgement.unscored("extraction", "No number."))
    assert made.status is ScoreStatus.UNSCORED
    assert made.flags == (Flag.TRUNCATED, Flag.BAD_FORMAT)


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("这个国家的首都是一座很大的城市，名字叫做巴黎。", Flag.WRONG_LANGUAGE),
        ("The \ufffd\ufffd\ufffd capital is Paris.", Flag.GARBLED),
    ],
)
def test_other_signs_are_flags_only(text: str, flag: Flag) -> None:
    assert (made := score(completion(text))).flags == (flag,)
    assert made.outcome is Outcome.CORRECT
    assert score(completion(text), WRONG).outcome is Outcome.INCORRECT


def test_a_refusal_abstains_unless_the_scorer_found_it_right() -> None:
    wrong = score(completion(REFUSAL), WRONG)
    assert (wrong.outcome, wrong.value, wrong.flags) == (Outcome.ABSTAINED, 0.0, (Flag.REFUSED,))
    right = score(completion(REFUSAL), RIGHT)
    assert (right.outcome, right.value, right.flags) == (Outcome.CORRECT, 1.0, (Flag.REFUSED,))


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), RecursionError(), KeyError("x")])
def test_a_scorer_that_fails_is_an_error_of_that_sample(error: Exception) -> None:
    made = score(completion(), error)
    assert (made.status, made.outcome, made.value) == (ScoreStatus.ERROR, None, None)
    assert made.reason == type(error).__name__


def test_a_scorer_does_not_swallow_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt):
        score(completion(), KeyboardInterrupt())


@pytest.mark.parametrize(
    "says",
    [
        Judgement(Outcome.CORRECT, None, None, ""),
        Judgement(None, 1.0, None, ""),
        Judgement(Outcome.CORRECT, 1.5, None, ""),
        Judgement(Outcome.CORRECT, float("nan"), None, ""),
    ],
)
def test_a_judgement_that_breaks_its_contract_is_an_error(says: Judgement) -> None:
    made = score(completion(), says)
    assert (made.status, made.value, made.reason) == (ScoreStatus.ERROR, None, "ScoringError")


def test_programs_have_no_language_and_metadata_may_set_another() -> None:
    assert expected_language(SAMPLE) == "en"
    assert expected_language(replace(SAMPLE, family=Family.CODE)) is None
    assert expected_language(replace(SAMPLE, metadata={"answer_language": "zh"})) == "zh"
    assert expected_language(replace(SAMPLE, metadata={"answer_language": "any"})) is None


def test_all_are_scored_lazily_and_in_order() -> None:
    asked: list[str] = []

    def scorer_for(taskset: str) -> Fixed:
        asked.append(taskset)
        return Fixed(RIGHT)

    scores = judge_all({("facts", "s1"): SAMPLE}, (completion(t) for t in ("a", "")), scorer_for)
    assert asked == []
    assert [made.outcome for made in scores] == [Outcome.CORRECT, Outcome.ABSTAINED]
    assert asked == ["facts", "facts"]


def test_a_completion_of_an_unknown_sample_is_not_passed_over() -> None:
    with pytest.raises(ScoringError, match="'s1'"):
        list(judge_all({}, [completion()], lambda _: Fixed(RIGHT)))


@given(
    st.none() | st.text(alphabet=st.characters(exclude_categories=()), max_size=300),
    st.sampled_from(["stop", "length", "content_filter", None]),
    st.sampled_from([RIGHT, WRONG, Judgement.unscored("extraction", "")]),
)
def test_every_score_keeps_the_contract(
    text: str | None, finish_reason: str | None, says: Judgement
) -> None:
    made = score(completion(text, finish_reason), says)
    assert (made.status is ScoreStatus.SCORED) == (made.value is not None)
    assert (made.outcome is None) == (made.value is None)
    assert (made.value == 1.0) == (made.outcome is Outcome.CORRECT)
    assert len(set(made.flags)) == len(made.flags)


@dataclass(frozen=True)
class Final(Fixed):
    """A scorer whose word stands, whatever became of the answer: another tool's rule."""

    final: bool = True

    def __call__(self, sample: Sample, text: str) -> Judgement:
        assert isinstance(self.says, Judgement)
        return self.says


@pytest.mark.parametrize("text", ["Paris and", "", " ", LOOP, REFUSAL])
def test_a_final_word_stands_and_the_failure_stays_a_flag(text: str) -> None:
    for says in (RIGHT, replace(WRONG, flags=())):
        said = judge(SAMPLE, completion(text, "length"), Final(says))
        assert (said.outcome, said.value) == (says.outcome, says.value)
        assert Flag.TRUNCATED in said.flags
    # Null content is no answer that a rule could read.
    assert judge(SAMPLE, completion(None), Final(RIGHT)).outcome is Outcome.ABSTAINED


def test_measured_texts_are_neither_healthy_nor_sick() -> None:
    asked = replace(SAMPLE, messages=(*SAMPLE.messages, Message("continuation", " Paris")))
    numbers = "[" + ", ".join(["[-1.25, false]"] * 60) + "]"
    assert judge(asked, completion(numbers), Final(RIGHT)).flags == ()
    assert judge(SAMPLE, completion(numbers), Final(RIGHT)).flags != ()
