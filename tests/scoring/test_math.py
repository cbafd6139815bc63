from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.base import SCORERS
from evalkit.scoring.math import MathScorer, extract_answer
from evalkit.types import Family, Flag, Language, Message, Outcome, Sample
from tests.scoring.samples import make_sample

SCORER = MathScorer()


def right(
    text: str, value: str, language: Language = "en", prompt: str = "?", **target: object
) -> bool:
    sample = make_sample(Family.MATH, {"value": value, **target}, prompt, language)
    return SCORER(sample, text).outcome is Outcome.CORRECT


def test_it_is_registered_under_its_name() -> None:
    assert SCORERS.get("math") == SCORER


@pytest.mark.parametrize(
    ("text", "source", "value"),
    [
        ("2 + 3 = 5\n#### 6", "####", "6"),
        (r"so \boxed{\frac{1}{2}} of 9", "\\boxed", "1/2"),
        (r"\boxed{2+3=5} and 8", "\\boxed", "5"),
        ("The answer is 12 apples, not 7.", "the stated answer", "12"),
        ("The answer is 3 + 4 = 7 apples.", "the stated answer", "7"),
        ("Answer: $1,250.50", "the stated answer", "1250.50"),
        ("Answer: The total of the 3 boxes is 12 kg.", "the stated answer", "12"),
        ("So 4.\nA: 5", "the stated answer", "5"),
        ("Final Answer: The final answer is 5. I hope it is correct.", "the final answer", "5"),
        (r"it is \boxed{-\dfrac{1}{2}}", "\\boxed", "-1/2"),
        ("The answer is 3 x 10^4.", "the stated answer", "30000"),
        ("She has three quarters of it.", "the last number", "3/4"),
        ("The answer is 4. No: the answer is 5.", "the stated answer", "5"),
        ("It costs **30** dollars for 10.", "the bold text", "30"),
        ("She has 3, then 2 more: 5 apples.", "the last number", "5"),
        ("She has seven apples.", "the last number", "7"),
        ("1. Add 4 and 5\n2. You get 9", "the last number", "9"),
    ],
)
def test_english_extraction(text: str, source: str, value: str) -> None:
    extracted = extract_answer(text, "en")
    assert extracted is not None
    assert (extracted.source, extracted.number.value == Fraction(value)) == (source, True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5 + 3 = 8。答案是 8。", "8"),
        ("答案：１２个", "12"),
        ("一共有十二个。", "12"),
        ("他吃了三分之一。", "1/3"),
        ("答案是二十四", "24"),
        ("答案应该是24", "24"),
        ("答案是4分之3", "3/4"),
        ("答案是百分之50", "1/2"),
        ("共3百万元", "3000000"),
        ("先算3×4=12，再加5，得17", "17"),
    ],
)
def test_chinese_extraction(text: str, value: str) -> None:
    assert right(text, value, "zh")
    assert not right(text, "999", "zh")


def test_equal_numbers_in_other_writing_are_right() -> None:
    assert all(right(f"The answer is {text}.", "1/2") for text in ("0.5", "1/2", "½", "50%", "2/4"))
    assert not right("The answer is 0.50001.", "1/2")
    assert not right("The answer is 1/3.", "0.3333333333")


def test_a_percentage_that_is_asked_for_is_no_fraction() -> None:
    assert right("25%", "25", percent=True)
    assert right("The answer is 25.", "25", percent=True)
    assert not right("The answer is 0.25.", "25", percent=True)


def test_a_percentage_may_be_told_by_the_question_or_by_the_target() -> None:
    asked = "What percentage of the 40 cars is red?"
    assert right("25%", "25", prompt=asked)
    assert right("25%", "0.25", prompt=asked)
    assert not right("0.25", "25", prompt=asked)
    assert not right("25%", "25", prompt=asked, percent=False)
    assert not right("25%", "25", prompt="How many cars are red?")
    assert right("25%", "25%")
    assert not right("0.25", "25%")


def test_the_last_number_is_a_second_opinion() -> None:
    sample = make_sample(Family.MATH, {"value": "5"})
    assert SCORER(sample, "2 + 3 = 5\n#### 5").flags == ()
    disputed = SCORER(sample, "The answer is 5, which is 2 less than 7.")
    assert (disputed.outcome, disputed.flags) == (Outcome.CORRECT, (Flag.EXTRACTORS_DISAGREE,))


def test_units_of_the_same_kind_are_converted_and_others_are_wrong() -> None:
    assert right("It is 250 cm long.", "2.5", unit="m")
    assert right("It is 2.5 metres.", "2.5", unit="m")
    assert right("2.5", "2.5", unit="m")
    assert not right("It is 2.5 cm long.", "2.5", unit="m")
    assert not right("It is 2.5 kg.", "2.5", unit="m")
    assert right("要180分钟", "3", "zh", unit="小时")


def test_giving_the_question_back_is_no_conversion() -> None:
    question = "How many minutes are there in 2 hours?"
    assert not right("There are 2 hours.", "120", prompt=question, unit="min")
    assert right("There are 120 minutes.", "120", prompt=question, unit="min")


def test_an_answer_without_a_number_is_unscored() -> None:
    judgement = SCORER(make_sample(Family.MATH, {"value": "1"}), "It is a nice day.")
    assert (judgement.outcome, judgement.value, judgement.reason) == (None, None, "extraction")


def test_wrong_answers_are_incorrect_without_a_flag() -> None:
    judgement = SCORER(make_sample(Family.MATH, {"value": "5"}), "The answer is 6.")
    assert (judgement.outcome, judgement.value, judgement.answer) == (Outcome.INCORRECT, 0.0, "6")
    assert judgement.flags == ()


@given(st.text(st.characters()), st.sampled_from(["en", "zh"]))
def test_no_text_raises(text: str, language: Language) -> None:
    SCORER(make_sample(Family.MATH, {"value": "5", "unit": "m"}, "?", language), text)


@pytest.mark.parametrize(
    "unit", ["**1", "\\boxed{", "####", "answer is ", "答案是", "\ud800\x00\u202e"]
)
def test_a_megabyte_of_markers_does_no_harm(unit: str) -> None:
    judgement = SCORER(make_sample(Family.MATH, {"value": "5"}), unit * (1_000_000 // len(unit)))
    assert judgement.outcome is not Outcome.CORRECT


@pytest.mark.parametrize(("text", "language"), [("I don't know.", "en"), ("我不知道。", "zh")])
def test_declining_is_abstaining_and_no_bad_format(text: str, language: Language) -> None:
    sample = Sample(
        "m", "math", Family.MATH, language, "sums", (Message("user", "2 + 2?"),), {"value": "4"}
    )
    assert MathScorer()(sample, text).outcome is Outcome.ABSTAINED
    assert MathScorer()(sample, "Blue.").reason == "extraction"
