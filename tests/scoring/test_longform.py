import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.longform import LongformScorer
from evalkit.types import Family, Flag, Language, Outcome
from tests.scoring.samples import make_sample

SCORER = LongformScorer()
PROMPT = """Write 60 to 100 words about a hotel. Use only these facts:
- Name: Blue Harbor Hotel
- City: Lisbon
- Rooms: 40
- Floors: 12
- Owner: Peter Novak
- Closed on: Monday
- Founded in: May 1975"""
TARGET = {
    "facts": [
        {"name": "city", "values": ["Lisbon"], "rivals": ["Porto"]},
        {"name": "rooms", "values": ["40"], "number": "40", "before": ["rooms"]},
        {"name": "owner", "values": ["Peter Novak"], "person": "Peter"},
        {"name": "year", "values": ["1975"], "number": "1975", "after": ["founded in"]},
        {"name": "closed", "values": ["Monday"], "contradictions": ["open on Monday"]},
    ],
    "required": 3,
}
GOOD = "The hotel in Lisbon has 40 rooms. Peter Novak owns it, and it is closed on Monday."


def judge(text: str, prompt: str = PROMPT, language: Language = "en") -> Judgement:
    return SCORER(make_sample(Family.LONGFORM, TARGET, prompt, language), text)


def test_it_is_registered_under_its_name() -> None:
    assert SCORERS.get("longform") == SCORER


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("40", "forty"),
        f"{GOOD} It is not open on Monday, and it is better than Porto.",
        f"{GOOD} It has two cats and seven dogs. In the 20th century it may have been older.",
        f"1. {GOOD}\n2. It has 12 floors.",
        f"**Welcome To Peter House**\n{GOOD}",
        f"{GOOD} On Mondays it sleeps.",
    ],
)
def test_a_text_that_keeps_to_the_sheet_is_correct(text: str) -> None:
    judgement = judge(text)
    assert (judgement.outcome, judgement.value, judgement.flags) == (Outcome.CORRECT, 1.0, ())


@pytest.mark.parametrize(
    ("addition", "named"),
    [
        ("It is in Porto.", "city contradicted: Porto"),
        ("It has 12 rooms.", "rooms contradicted: 12 rooms"),
        ("It has twelve rooms.", "rooms contradicted: twelve rooms"),
        ("Peter Garcia is the owner.", "owner contradicted: Peter Garcia"),
        ("It was founded in 40.", "year contradicted: founded in 40"),
        ("It is open on Monday.", "closed contradicted: open on Monday"),
        ("It was sold in 1999.", "invented number: 1999"),
        ("It has twenty lifts.", "invented number: twenty"),
        ("It is closed on Tuesday.", "invented date: Tues"),
        ("It was founded in August.", "invented date: August"),
    ],
)
def test_contradictions_and_inventions_are_named(addition: str, named: str) -> None:
    judgement = judge(f"{GOOD} {addition}")
    assert judgement.outcome is Outcome.INCORRECT
    assert judgement.value == 0.0
    assert judgement.flags == (Flag.HALLUCINATED,)
    assert named in judgement.explanation


def test_too_few_facts_without_a_contradiction_are_abstained() -> None:
    judgement = judge("The Blue Harbor Hotel in Lisbon is lovely.")
    assert (judgement.outcome, judgement.value, judgement.flags) == (Outcome.ABSTAINED, 0.0, ())
    assert "1 of 5 facts kept" in judgement.explanation
    assert "owner" in judgement.explanation


def test_the_hour_may_be_written_with_minutes() -> None:
    assert judge(f"{GOOD} Come at 12:00 am.").outcome is Outcome.CORRECT
    assert judge(f"{GOOD} Come at 12:00am.").outcome is Outcome.CORRECT
    assert judge(f"{GOOD} Come at 12:30 am.").outcome is Outcome.INCORRECT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("酒店在青岛，有四十间客房，星期一休息。", "correct"),
        ("酒店在青岛，有一间大厅和40间客房，周一休息。", "correct"),
        ("酒店在青岛，有30间客房，星期一休息。", "incorrect"),
        ("酒店在青岛，有40间客房，星期二休息。", "incorrect"),
        ("酒店在青岛，有40间客房，三月开业。", "incorrect"),
        ("酒店在青岛，月光很美。", "abstained"),
    ],
)
def test_chinese_texts(text: str, expected: str) -> None:
    target = {
        "facts": [
            {"name": "城市", "values": ["青岛"]},
            {"name": "客房", "values": [], "number": "40", "before": ["间"]},
            {"name": "休息日", "values": ["星期一", "周一"]},
        ],
        "required": 3,
    }
    prompt = "资料：\n- 城市：青岛\n- 客房：40间\n- 休息日：星期一"
    judgement = SCORER(make_sample(Family.LONGFORM, target, prompt, "zh"), text)
    assert judgement.outcome == expected


@given(st.text(st.characters()), st.sampled_from(["en", "zh"]))
def test_no_text_raises(text: str, language: Language) -> None:
    assert judge(text, language=language).outcome is not None


@pytest.mark.parametrize(
    "unit", ["Peter A", "40 rooms ", "十间", "open on Monday ", "\ud800\x00\u202e", "1\n"]
)
def test_a_megabyte_does_no_harm(unit: str) -> None:
    assert judge(unit * (1_000_000 // len(unit))).outcome is not None
