import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.text import MAX_CHARS, clip, contains_any, find_phrase, normalise, sentences


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Brasília", "brasilia"),
        ("ＣＯ₂", "co2"),
        ("Don’t", "don't"),
        ("Pa\u200bris\u202e", "paris"),
        ("a\t b\n c", "a b\nc"),
    ],
)
def test_forms_that_differ_only_in_writing_are_equal(raw: str, expected: str) -> None:
    assert normalise(raw) == expected


def test_latin_phrases_stand_at_word_borders_and_chinese_ones_anywhere() -> None:
    assert not list(find_phrase("because of august", "au"))
    assert len(list(find_phrase("au, (au) au.", "au"))) == 3
    assert len(list(find_phrase("首都是北京市", "北京"))) == 1
    assert len(list(find_phrase("在1949年", "1949"))) == 1
    assert not list(find_phrase("anything", ""))


def test_contains_any_normalises_the_phrases() -> None:
    assert contains_any("the pacific ocean", ["Atlantic", "PACIFIC"])
    assert not contains_any("the pacific ocean", ["Atlantic"])


def test_sentences_end_at_stops_but_not_after_titles_or_in_numbers() -> None:
    assert sentences("Mrs. Hale has 3.5 kg. J. Smith too! 你好。再见") == [
        "Mrs. Hale has 3.5 kg.",
        "J. Smith too!",
        "你好。",
        "再见",
    ]


def test_long_text_keeps_its_head_and_its_tail() -> None:
    text = "a" * MAX_CHARS + "b" * MAX_CHARS
    clipped = clip(text)
    assert len(clipped) <= MAX_CHARS + 1
    assert (clipped[0], clipped[-1]) == ("a", "b")


@given(st.text(st.characters()))
def test_no_text_raises(text: str) -> None:
    normalise(text)
    sentences(text)
    list(find_phrase(normalise(text), "a"))


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_of_plain_ascii_leads_to_the_same(text: str) -> None:
    # A lone accent is dropped, and makes the text go the long way.
    assert normalise(text) == normalise(text + "\u0301")


@pytest.mark.parametrize(
    "text",
    [
        "It was Rep. Joe Tate.",
        "J.B.S. Haldane won it.",
        'Named "St. Mary" and "Sts. Simon and Jude".',
    ],
)
def test_a_title_ends_no_sentence(text: str) -> None:
    assert sentences(text) == [text]
