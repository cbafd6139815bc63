import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.base import SCORERS
from evalkit.scoring.choice import ChoiceScorer
from evalkit.types import Family, Flag, Language, Outcome
from tests.scoring.samples import make_sample

OPTIONS = ["Paris", "London", "Rome", "Berlin"]


def read(text: str, language: Language = "en", **target: object) -> str | None:
    sample = make_sample(Family.FACTS, {"letter": "B", **target}, "?", language)
    return ChoiceScorer()(sample, text).answer


def test_it_is_registered_under_its_name() -> None:
    assert SCORERS.get("choice") == ChoiceScorer()


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("**B**", "B"),
        ("B. London", "B"),
        ("B: London", "B"),
        ("b) no; the answer is B", "B"),
        ("The answer is (C).", "C"),
        ("The correct answer is option D because A is too small", "D"),
        ("Answer: **D**", "D"),
        ("#### C", "C"),
        (r"So $\boxed{C}$", "C"),
        (r"\boxed{\text{D}}", "D"),
        ("A is wrong, C is wrong.\nAnswer: D", "D"),
        ("The answer is A.", "A"),
        ("I would choose option C here.", "C"),
        ("Let $A = B + C$ be a sum.\n\nD", "D"),
        ("I think a city like that is C", "C"),
        ("The answer is A and B", "AB"),
        ("The answer is not A. It is C.", "C"),
    ],
)
def test_english_letters(text: str, letter: str) -> None:
    assert read(text, count=5) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("答案是B。", "B"),
        ("答案：Ｃ", "C"),
        ("故选 D", "D"),
        ("正确选项是 C，因为 A 不对", "C"),
        ("所以选项E是正确的。", "E"),
        ("A:不是。基因还能直接控制性状。", "A"),
        ("本题选（B）", "B"),
        ("答案是AC", "AC"),
    ],
)
def test_chinese_letters(text: str, letter: str) -> None:
    assert read(text, "zh", count=5) == letter


@pytest.mark.parametrize(
    "text",
    [
        "A city is a large town, and I like it.",
        "Let $A$ be a matrix and $B$ its inverse: $AB = I$.",
        "A. Paris\nB. London\nC. Rome\nD. Berlin",
        "It may be B or it may be C.",
        "CIA, FBI and NASA",
        "J. Smith said so",
    ],
)
def test_other_letters_are_no_choices(text: str) -> None:
    sample = make_sample(Family.FACTS, {"letter": "B", "count": 4})
    judgement = ChoiceScorer()(sample, text)
    assert (judgement.outcome, judgement.reason) == (None, "extraction")


def test_an_option_may_be_named_by_its_text() -> None:
    assert read("It is London, of course.", options=OPTIONS) == "B"
    assert read("London or Rome", options=OPTIONS) is None


def test_letters_beyond_the_options_are_none() -> None:
    assert read("E", options=OPTIONS) is None
    assert read("J", count=10) == "J"


def test_several_options_are_wrong() -> None:
    sample = make_sample(Family.FACTS, {"letter": "B", "count": 4})
    assert ChoiceScorer()(sample, "Answer: A, B").outcome is Outcome.INCORRECT
    assert ChoiceScorer()(sample, "Answer: B").outcome is Outcome.CORRECT


def test_declining_is_abstaining_and_disputes_are_flagged() -> None:
    sample = make_sample(Family.FACTS, {"letter": "B", "count": 4})
    assert ChoiceScorer()(sample, "I don't know.").outcome is Outcome.ABSTAINED
    disputed = ChoiceScorer()(sample, "The answer is B. Then again, it could be C")
    assert (disputed.outcome, disputed.flags) == (Outcome.CORRECT, (Flag.EXTRACTORS_DISAGREE,))
    assert ChoiceScorer()(sample, "The answer is B").flags == ()


@pytest.mark.parametrize(
    "unit", ["A ", "A, ", "\\[", "$A", "\\boxed{", "answer is A ", "A.\n", "选"]
)
def test_letters_without_end_are_read_in_linear_time(unit: str) -> None:
    started = time.process_time()
    read(unit * (100_000 // len(unit)), options=OPTIONS)
    assert time.process_time() - started < 10


@given(st.lists(st.text() | st.sampled_from(["A", "B", "answer is ", "(", "选", "$", "\n"])))
def test_no_text_raises(parts: list[str]) -> None:
    read("".join(parts), options=OPTIONS)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("A is wrong. B is right. C is wrong. D is wrong.", "B"),
        ("If A is correct, then C is false too. So D is the correct one; B is wrong.", "D"),
        ("A项错误，C项正确，D项错误。", "C"),
        ("A is right and B is right.", None),
    ],
)
def test_the_option_that_is_called_right(text: str, letter: str | None) -> None:
    assert read(text) == letter
