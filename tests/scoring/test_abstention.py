from collections import Counter

import pytest

from evalkit.scoring.abstention import read_stance
from evalkit.types import Language
from tests.agreement import ROOT
from tests.agreement.__main__ import section
from tests.agreement.agreement_facts import LANGUAGES, SPLITS, abstention_rows, phrases


def test_the_phrases_are_many_and_halved() -> None:
    labelled = phrases()
    assert len({phrase.id for phrase in labelled}) == len(labelled) >= 400
    assert len({(phrase.question, phrase.text) for phrase in labelled}) == len(labelled)
    counts = Counter((p.split, p.language, p.abstains) for p in labelled)
    assert len(counts) == len(SPLITS) * len(LANGUAGES) * 2
    assert min(counts.values()) >= 40


def test_abstentions_are_told_as_people_tell_them() -> None:
    rows = {row.name: row for row in abstention_rows()}
    whole = rows["abstention, all phrases"]
    assert (whole.precision or 0) >= 0.95
    assert (whole.recall or 0) >= 0.95
    for name, row in rows.items():
        if "heldout" in name:
            assert (row.precision or 0) >= 0.9, name
            assert (row.recall or 0) >= 0.85, name


def test_the_documented_figures_are_those_of_the_phrases() -> None:
    page = (ROOT / "docs" / "scorer-agreement.md").read_text(encoding="utf-8")
    for line in section("facts", abstention_rows()).splitlines()[4:]:
        assert line in page


ASKED: dict[str, tuple[str, Language]] = {
    "year": ("In which year did the Berlin Wall fall?", "en"),
    "who": ("Who painted the Mona Lisa?", "en"),
    "invented": ("What is the capital of Velmoria?", "en"),
    "capital": ("法国的首都是哪里？", "zh"),
    "invented_zh": ("维尔莫里亚的首都是哪里？", "zh"),
    "year_zh": ("柏林墙是哪一年倒塌的？", "zh"),
    "who_zh": ("《红楼梦》的作者是谁？", "zh"),
}


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("year", "The Berlin Wall is a famous wall. I do not know when it fell."),
        ("year", "I don't know the exact year."),
        ("who", "The painter of the Mona Lisa is not something I know."),
        ("who", "Can't say."),
        ("who", "I would need to look that up."),
        ("who", "My knowledge does not cover this."),
        (
            "invented",
            "I have no information about it. If you meant Moldova, its capital is Chisinau.",
        ),
        ("invented", "I couldn't find a country called Velmoria. It may be a misspelling."),
        ("capital", "对不起，我没有相关的知识。"),
        ("capital", "不会。"),
        ("capital", "I don't know."),
        ("invented_zh", "据我所知，没有相关资料提到维尔莫里亚的首都。"),
        ("invented_zh", "维尔莫里亚？我没听说过这个国家。"),
        ("year_zh", "具体年份我记不得了。"),
        ("who_zh", "《红楼梦》是中国古典小说，但我不知道作者是谁。"),
    ],
)
def test_declining_is_seen(asked: str, text: str) -> None:
    assert read_stance(text, *ASKED[asked]).abstains


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("year", "I'm not sure about the day, but the year was 1989."),
        ("year", "1989. I don't have details about the exact day."),
        ("who", "I'm not certain, but Leonardo da Vinci comes to mind."),
        ("who", "Leonardo da Vinci painted it. It is unclear who the sitter was."),
        ("who", "No one knows who she was, but the painter was Leonardo."),
        ("year_zh", "具体日期我不清楚，年份是1989年。"),
        ("year_zh", "1989年，原因很复杂，我不太了解。"),
        ("who_zh", "曹雪芹。后四十回的作者尚无定论。"),
        ("who_zh", "一般认为是曹雪芹，但也有人说无法确定。"),
    ],
)
def test_an_answer_with_something_else_unknown_is_an_answer(asked: str, text: str) -> None:
    assert not read_stance(text, *ASKED[asked]).abstains


@pytest.mark.parametrize("unit", ["I don't know. ", "不知道，", "not ", "the text ", "is unknown "])
def test_endless_declining_is_read_in_bounded_time(unit: str) -> None:
    stance = read_stance(unit * (200_000 // len(unit)), *ASKED["who"])
    assert isinstance(stance.abstains, bool)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("As an AI, I don't have access to that information.", "en"),
        ("As an AI assistant, I don't know.", "en"),
        ("Being an AI, I'm not sure.", "en"),
        ("I'm just an AI, so I don't know.", "en"),
        ("It's unclear.", "en"),
        ("作为一个人工智能助手，我无法得知。", "zh"),
        ("我是一个AI，不清楚这个问题。", "zh"),
    ],
)
def test_to_say_what_one_is_asserts_nothing(text: str, language: Language) -> None:
    question = {"en": "What is the capital of France?", "zh": "法国的首都是哪里？"}[language]
    assert read_stance(text, question, language).abstains


@pytest.mark.parametrize(
    ("text", "language"),
    [("As an AI, I can tell you it is Paris.", "en"), ("作为AI，我知道是巴黎。", "zh")],
)
def test_who_says_what_one_is_may_answer(text: str, language: Language) -> None:
    question = {"en": "What is the capital of France?", "zh": "法国的首都是哪里？"}[language]
    assert not read_stance(text, question, language).abstains
