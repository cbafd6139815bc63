import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.facts import FactsScorer
from evalkit.types import Family, Flag, Language, Outcome
from tests.scoring.samples import make_sample

SCORER = FactsScorer()
CAPITAL = {"kind": "answer", "aliases": ["Canberra"], "rivals": ["Sydney", "Melbourne"]}
CAPITAL_ZH = {"kind": "answer", "aliases": ["堪培拉", "Canberra"], "rivals": ["悉尼", "墨尔本"]}
LEGS = {"kind": "number", "value": "8"}
NOTHING = {"kind": "unanswerable", "corrections": ["never walked on the Moon"]}


def judge(
    target: dict[str, object],
    text: str,
    prompt: str = "What is the capital of Australia?",
    language: Language = "en",
) -> Judgement:
    return SCORER(make_sample(Family.FACTS, target, prompt, language), text)


def outcome(
    target: dict[str, object],
    text: str,
    prompt: str = "What is the capital of Australia?",
    language: Language = "en",
) -> str:
    judgement = judge(target, text, prompt, language)
    assert judgement.outcome is not None
    assert judgement.value == float(judgement.outcome is Outcome.CORRECT)
    assert (Flag.HALLUCINATED in judgement.flags) == (judgement.outcome is Outcome.INCORRECT)
    return judgement.outcome.value


def test_it_is_registered_under_its_name() -> None:
    assert SCORERS.get("facts") == SCORER


@pytest.mark.parametrize(
    "text",
    [
        "Canberra",
        "The capital of Australia is **Canberra**.",
        "CANBERRA!",
        "It is Canberra, not Sydney.",
        "Sydney is the largest city, but the capital is Canberra.",
        "The capital is not Sydney but Canberra.",
        "Canberra lies between Sydney and Melbourne.",
        "I'm not sure, but I think it is Canberra.",
        "Canberra. I don't know much more about it.",
        "Not only Canberra is the capital.",
    ],
)
def test_asserting_the_answer_is_correct(text: str) -> None:
    assert outcome(CAPITAL, text) == "correct"


@pytest.mark.parametrize(
    "text",
    [
        "The capital is Sydney.",
        "It is not Canberra.",
        "Canberra is not the capital.",
        "Canberra or Sydney.",
        "Sydney/Canberra",
        "The capital is Sydney, which is near Canberra.",
        "Sydney. Some say Canberra.",
        "Perth, of course.",
        "Canberrax",
        "I'm not sure, but I think it is Sydney.",
        "I don't know. Maybe it is Perth.",
        "Rather than Canberra it was Sydney.",
    ],
)
def test_asserting_anything_else_is_a_hallucination(text: str) -> None:
    assert outcome(CAPITAL, text) == "incorrect"


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "I don’t know the answer to that.",
        "I'm sorry, but I do not have any information about it.",
        "I cannot answer this question.",
        "I'm not sure.",
        "The text does not say.",
        "I don't know, but I can help you with other questions.",
        "What is the capital of Australia?",
    ],
)
def test_declining_is_abstained(text: str) -> None:
    assert outcome(CAPITAL, text) == "abstained"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("堪培拉。", "correct"),
        ("澳大利亚的首都是堪培拉市。", "correct"),
        ("不是悉尼，而是堪培拉。", "correct"),
        ("悉尼。", "incorrect"),
        ("首都不是堪培拉，是悉尼。", "incorrect"),
        ("堪培拉或悉尼。", "incorrect"),
        ("可能是珀斯。", "incorrect"),
        ("我不知道，但可能是悉尼。", "incorrect"),
        ("我不知道。", "abstained"),
        ("无法确定。", "abstained"),
        ("I don't know.", "abstained"),
    ],
)
def test_chinese_answers(text: str, expected: str) -> None:
    assert outcome(CAPITAL_ZH, text, "澳大利亚的首都是哪座城市？", "zh") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A spider has 8 legs.", "correct"),
        ("Eight.", "correct"),
        ("One spider has eight legs, 4 on each side.", "correct"),
        ("1. It has 8 legs.", "correct"),
        ("It has 6 legs, not 8.", "incorrect"),
        ("It does not have 8 legs.", "incorrect"),
        ("It has not 6 but 8 legs.", "correct"),
        ("It has many legs.", "incorrect"),
        ("I don't know.", "abstained"),
    ],
)
def test_the_first_number_that_is_new_decides(text: str, expected: str) -> None:
    assert outcome(LEGS, text, "How many legs does one spider have?") == expected


def test_a_number_that_is_reckoned_out_loud_is_the_last_one() -> None:
    target = {"kind": "number", "value": "200", "place": "last"}
    prompt = "How many millimeters are 20 centimeters?"
    worked = "You multiply 20 centimeters by 10, which is 200 millimeters."
    assert outcome(target, worked, prompt) == "correct"
    assert outcome(target, "It is 20 times 100, so 2000.", prompt) == "incorrect"


def test_a_number_of_the_passage_may_be_the_answer() -> None:
    prompt = "Passage: The house has 12 rooms and 3 doors.\nQuestion: How many rooms are there?"
    target = {"kind": "number", "value": "12"}
    assert outcome(target, "There are 12 rooms.", prompt) == "correct"
    assert outcome(target, "There are 3 rooms.", prompt) == "incorrect"


def test_a_number_may_be_off_by_its_tolerance() -> None:
    target = {"kind": "number", "value": "100", "tolerance": "0.5"}
    assert outcome(target, "About 99.6 degrees.") == "correct"
    assert outcome(target, "About 99.4 degrees.") == "incorrect"


@pytest.mark.parametrize(
    "text",
    [
        "I don't know.",
        "Velmoria does not exist.",
        "There is no such country.",
        "There is no country called Velmoria.",
        "Velmoria is a fictional country.",
        "Einstein never walked on the Moon.",
        "The text does not mention it.",
        "I'm not aware of a country called Velmoria. However, Velmoria may be a place in a game.",
    ],
)
def test_declining_or_correcting_is_right_where_there_is_no_answer(text: str) -> None:
    assert outcome(NOTHING, text, "What is the capital of Velmoria?") == "correct"


@pytest.mark.parametrize(
    "text",
    [
        "The capital of Velmoria is Velmor City.",
        "I'm not sure, but it is probably Velmor City.",
        "In 1969.",
    ],
)
def test_any_assertion_is_a_hallucination_where_there_is_no_answer(text: str) -> None:
    assert outcome(NOTHING, text, "What is the capital of Velmoria?") == "incorrect"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("维尔莫里亚并不存在。", "correct"),
        ("没有这个国家。", "correct"),
        ("短文没有提到。", "correct"),
        ("首都是维尔城。", "incorrect"),
        ("我不知道，不过应该是维尔城。", "incorrect"),
    ],
)
def test_chinese_answers_where_there_is_none(text: str, expected: str) -> None:
    assert outcome(NOTHING, text, "维尔莫里亚的首都是哪里？", "zh") == expected


def test_repeating_the_question_is_neither_right_nor_a_hallucination() -> None:
    prompt = "What is the capital of Velmoria?"
    assert outcome(NOTHING, "what is the capital of Velmoria", prompt) == "abstained"


@given(
    st.text(st.characters()),
    st.sampled_from([CAPITAL, CAPITAL_ZH, LEGS, NOTHING]),
    st.sampled_from(["en", "zh"]),
)
def test_no_text_raises(text: str, target: dict[str, object], language: Language) -> None:
    assert judge(target, text, "?", language).outcome is not None


@pytest.mark.parametrize(
    "unit",
    ["Canberra ", "not ", "or ", "不", "I don't know. ", "9", "\ud800\x00\u202e", "a.", " is"],
)
@pytest.mark.parametrize("target", [CAPITAL, LEGS, NOTHING], ids=["answer", "number", "nothing"])
def test_a_megabyte_does_no_harm(unit: str, target: dict[str, object]) -> None:
    assert judge(target, unit * (1_000_000 // len(unit))).outcome is not None


@pytest.mark.parametrize(
    ("value", "place", "question", "language", "text"),
    [
        ("504", "last", "21 days are how many hours?", "en", "504 hours (21 days times 24 hours)."),
        ("504", "last", "21 days are how many hours?", "en", "504, since a day has 24 hours."),
        ("720", "last", "12小时等于多少分钟？", "zh", "720分钟，因为1小时等于60分钟。"),
        ("720", "last", "12小时等于多少分钟？", "zh", "12小时等于720分钟（12×60）"),
        ("29", "first", "1764年2月有多少天？", "zh", "1764年能被4整除，是闰年，2月有29天"),
        (
            "29",
            "first",
            "How many days does February 1832 have?",
            "en",
            "Since 1832 is divisible by 4, it has 29 days.",
        ),
        ("1903", "first", "In which year?", "en", "London, born 1876, published it in 1903."),
        ("24", "last", "How many hours has a day?", "en", "(24)"),
    ],
)
def test_what_only_explains_a_number_is_not_the_answer(
    value: str, place: str, question: str, language: Language, text: str
) -> None:
    target = {"kind": "number", "value": value, "place": place}
    assert outcome(target, text, question, language) == "correct"


def test_the_longer_of_two_names_is_what_is_said() -> None:
    target = {"kind": "answer", "aliases": ["Danish krone", "krone"], "rivals": ["Norwegian krone"]}
    question = "What is the currency of Denmark?"
    assert outcome(target, "The Norwegian krone.", question) == "incorrect"
    assert outcome(target, "The Danish krone.", question) == "correct"
    assert outcome(target, "The krone.", question) == "correct"


def test_a_quotation_of_several_sentences_is_found() -> None:
    target = {"kind": "answer", "aliases": ["Foolishness, Dante. Might controls everything."]}
    said = 'He said: "Foolishness, Dante. Might controls everything."'
    assert outcome(target, said, "What did he say?") == "correct"
    assert outcome(target, "Foolishness, Dante. Nothing else.", "What?") == "incorrect"


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("On July 20, 1969", "en", "correct"),
        ("20/07/1969", "en", "correct"),
        ("Apollo 11 landed in 1969.", "en", "correct"),
        ("人类27岁的1969年", "zh", "correct"),
        ("二十世纪的1969年", "zh", "correct"),
        ("On July 20, 1959", "en", "incorrect"),
        ("In the 1970s.", "en", "incorrect"),
        ("20世纪70年代", "zh", "incorrect"),
    ],
)
def test_a_year_is_read_from_a_date(text: str, language: Language, said: str) -> None:
    question = {"en": "In which year was the Moon reached?", "zh": "哪一年登月？"}[language]
    target = {"kind": "number", "value": "1969", "tolerance": "1"}
    assert outcome(target, text, question, language) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Sydney? No, Canberra.", "correct"),
        ("Canberra? No, Sydney.", "incorrect"),
        ("Many people say that it is Sydney, but it is Canberra.", "correct"),
        ("Everyone says Canberra, but it's actually Sydney.", "incorrect"),
        ("Canberra?", "correct"),
    ],
)
def test_what_is_asked_or_said_by_others_is_not_the_answer(text: str, said: str) -> None:
    assert outcome(CAPITAL, text) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("悉尼？不，是堪培拉。", "correct"),
        ("有人说是堪培拉，其实是悉尼。", "incorrect"),
        ("很多人以为是悉尼，但其实是堪培拉。", "correct"),
    ],
)
def test_what_others_say_in_chinese_is_not_the_answer(text: str, said: str) -> None:
    assert outcome(CAPITAL_ZH, text, "澳大利亚的首都是哪里？", "zh") == said
