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


SHEET = {
    "kind": "sheet",
    "facts": [
        {"name": "city", "values": ["Lisbon"]},
        {"name": "rooms", "values": ["40"], "number": "40", "before": ["rooms"]},
        {"name": "owner", "values": ["Peter Novak"], "is": "person", "after": ["owned by"]},
        {"name": "floors", "values": ["12"], "number": "12", "before": ["floors"], "asked": False},
    ],
    "required": 2,
    "length": {"least": 20, "most": 60},
    "open": [{"name": "age", "before": ["years old"]}],
    "names": True,
}
WHOLE = "It is in Lisbon. It has 40 rooms. It is owned by Peter Novak."
FILLER = " Nobody hurries there at all."


def graded(text: str) -> Judgement:
    return SCORER(make_sample(Family.LONGFORM, SHEET, PROMPT), text)


def test_a_sheet_is_worth_a_half_and_half_of_f1() -> None:
    whole = WHOLE + FILLER * 2
    assert (graded(whole).outcome, graded(whole).value) == (Outcome.CORRECT, 1.0)
    # S = 3, N = 1, K = 3: precision 3/4, recall 1.
    assert graded(f"{whole} It has 11 floors.").value == pytest.approx(6 / 7 / 2)
    # S = 2, N = 0, K = 3.
    dropped = graded(whole.replace("It is in Lisbon. ", "Well, well, well. "))
    assert (dropped.outcome, dropped.value) == (Outcome.CORRECT, pytest.approx((1 + 4 / 5) / 2))
    assert "dropped: city" in dropped.explanation
    assert graded(FILLER * 6).outcome is Outcome.ABSTAINED


def test_a_text_that_is_too_short_or_too_long_is_worth_its_share() -> None:
    assert graded(WHOLE).value == pytest.approx((1 + 14 / 20) / 2)
    assert "14 words, 20 asked" in graded(WHOLE).explanation
    assert graded("Lisbon, 40, Peter Novak.").outcome is Outcome.ABSTAINED
    long = graded(WHOLE + FILLER * 27)
    assert (long.outcome, long.value) == (Outcome.CORRECT, pytest.approx((1 + 75 / 149) / 2))


def test_the_length_that_is_asked_is_no_number_of_the_text() -> None:
    assert "invented number: 60" in graded(f"{WHOLE}{FILLER} It has 60 chairs.").explanation


def test_a_name_is_told_once_and_found_in_a_cut_line() -> None:
    cut = (
        f"{WHOLE} The cook is from Gold Coast. The Gold Coast's sun is hot, and all the birds sing"
    )
    assert graded(cut).explanation.count("Gold Coast") == 1


def test_the_age_of_the_house_is_not_that_of_the_cook() -> None:
    text = f"{WHOLE} The cook is 51 years old."
    assert graded(f"{text} The 50-year-old hotel is fine.").outcome is Outcome.CORRECT
    assert graded(f"{text} It is more than 50 years old.").outcome is Outcome.CORRECT
    assert graded(f"{text} It has stood here for 90 winters.").outcome is Outcome.INCORRECT


def test_a_second_value_contradicts_the_text_itself() -> None:
    once = WHOLE + FILLER + " The cook is 51 years old. Yes, 51 years old."
    assert graded(once).outcome is Outcome.CORRECT
    twice = graded(once.replace("Yes, 51", "Yes, 52"))
    assert twice.outcome is Outcome.INCORRECT
    assert "age contradicts itself: 51, then 52 (late, at 122)" in twice.explanation
    both = graded(f"{WHOLE} It has 41 rooms.")
    assert "rooms contradicted: 41 rooms, and 40 elsewhere" in both.explanation


@pytest.mark.parametrize(("before", "part"), [(0, "early"), (15, "middle"), (30, "late")])
def test_findings_tell_where_they_stand(before: int, part: str) -> None:
    lead = "“It’s ½ past three,” says ① guest.\n" + WHOLE + FILLER * before
    text = f"{lead} It has 99 rooms.{FILLER * (30 - before)}"
    explanation = graded(text).explanation
    assert f"rooms contradicted: 99 rooms, and 40 elsewhere ({part}, at {text.index('99')})" in (
        explanation
    )
    assert f"{part} 1" in explanation


QUESTIONS = {
    "kind": "answers",
    "questions": [
        {"name": "who", "values": ["Ida Falk", "Falk"], "rivals": ["Emil Dahl"]},
        {"name": "rooms", "values": ["40"], "number": "40"},
        {"name": "street", "values": [], "unknown": True},
    ],
}


@pytest.mark.parametrize(
    ("text", "outcome", "right"),
    [
        ("1. Ida Falk\n2. 40 rooms\n3. not stated", "correct", 3),
        ("**1.** Falk\n**2.** forty\n**3.** The notes do not say.", "correct", 3),
        ("Answers:\n1) It was Ida Falk, not Emil Dahl.\n2) 40\n3) Unknown", "correct", 3),
        ("1. Ida Falk\n- she lives there\n2. 40\n3. Not mentioned in the notes", "correct", 3),
        ("Ida Falk\n40\nnot stated", "correct", 3),
        ("1. **Who?** Ida Falk\n2. **How many?** 40\n3. **Where?** Not stated.", "correct", 3),
        ("1. Originally Emil Dahl, but then Ida Falk\n2. 40\n3. n/a", "correct", 3),
        ("（１）Ida Falk\n（２）第二题是四十\n（３）文中未提及", "correct", 3),
        ("1. Emil Dahl\n2. 40\n3. not stated", "incorrect", 2),
        ("1. Ida Falk\n2. 41\n3. not stated", "incorrect", 2),
        ("1. Ida Falk\n2. 40\n3. Hill Street", "incorrect", 2),
        ("1. Emil Dahl or Ida Falk\n2. 40\n3. not stated", "incorrect", 2),
        ("1. Ida Falk\n2. not stated\n3. not stated", "abstained", 2),
        ("1. Ida Falk\n2. 40", "abstained", 2),
        ("1. Who is it?\n2. How many?\n3. Where?", "abstained", 0),
        ("I think that Ida Falk had something to do with it.", "abstained", 1),
        ("第1题：Ida Falk\n第2题：四十\n第3题：未提及", "correct", 3),
    ],
)
def test_answers_are_read_one_by_one(text: str, outcome: str, right: int) -> None:
    language: Language = "zh" if "第" in text else "en"
    sample = make_sample(Family.LONGFORM, QUESTIONS, "Answer.", language)
    judgement = SCORER(sample, text)
    value = (right / 3 + (outcome == "correct")) / 2
    assert (judgement.outcome, judgement.value) == (outcome, pytest.approx(value)), judgement
    assert (Flag.HALLUCINATED in judgement.flags) == (outcome == "incorrect")


@pytest.mark.parametrize("unit", ["1. 40\n", "Ida Falk ", "not ", "Peter Novak owned by ", "周一"])
def test_a_megabyte_of_answers_and_graded_text_does_no_harm(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    for target in (QUESTIONS, SHEET):
        for language in ("en", "zh"):
            sample = make_sample(Family.LONGFORM, target, PROMPT, language)
            assert SCORER(sample, text).value is not None


@given(st.text(st.characters()), st.sampled_from(["en", "zh"]))
def test_no_text_raises(text: str, language: Language) -> None:
    assert judge(text, language=language).outcome is not None


@pytest.mark.parametrize(
    "unit", ["Peter A", "40 rooms ", "十间", "open on Monday ", "\ud800\x00\u202e", "1\n"]
)
def test_a_megabyte_does_no_harm(unit: str) -> None:
    assert judge(unit * (1_000_000 // len(unit))).outcome is not None
