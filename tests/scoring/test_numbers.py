import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import find_numbers, parse_number


def values(text: str) -> list[Fraction]:
    return [number.value for number in find_numbers(fold_numbers(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,234,567 people", ["1234567"]),
        ("1\u202f234 and 5\u00a0000", ["1234", "5000"]),
        ("1,23", ["1", "23"]),
        ("-5, −7 and 10-3", ["-5", "-7", "10", "3"]),
        ("-$5", ["-5"]),
        ("负3", ["-3"]),
        ("3.14 and .5 and 7.", ["3.14", "0.5", "7"]),
        ("3/4 and 1 1/2", ["3/4", "3/2"]),
        ("½ and 2½", ["1/2", "5/2"]),
        (r"\frac{3}{4} and \dfrac{1}{2}", ["3/4", "1/2"]),
        (r"1{,}000", ["1000"]),
        ("１２．５％", ["12.5"]),
        ("3万人 and 1.5亿", ["30000", "150000000"]),
        ("共12个", ["12"]),
        ("H2O, x3, v1_2", []),
        ("11/2", ["11/2"]),
        (r"-\frac{1}{2}, \frac{-1}{2}, \frac34", ["-1/2", "-1/2", "3/4"]),
        (r"2\frac{1}{2}", ["5/2"]),
        (r"50\% of \$30", ["50", "30"]),
        (r"3 \times 10^{5} and 1.5e-3 and 2×10^3", ["300000", "0.0015", "2000"]),
        ("3 x 10 and 5 million and 2 thousand", ["3", "10", "5000000", "2000"]),
        ("negative 4", ["-4"]),
        ("4分之3, 百分之12.5", ["3/4", "12.5"]),
        ("3百万, 2千万, 1万亿, 3千米", ["3000000", "20000000", "1000000000000", "3"]),
        ("5/0", []),
    ],
)
def test_digits(text: str, expected: list[str]) -> None:
    assert values(text) == [Fraction(value) for value in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three hundred and sixty-five", [365]),
        ("twenty-four or seven", [24, 7]),
        ("two thousand five hundred", [2500]),
        ("one of them has nine", [9]),
        ("three billion", [3 * 10**9]),
        ("three quarters, two-thirds and one half", ["3/4", "2/3", "1/2"]),
        ("often, bone, tenfold", []),
    ],
)
def test_english_words(text: str, expected: list[int | str]) -> None:
    found = [number.value for number in find_number_words(text, "en")]
    assert found == [Fraction(value) for value in expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三百六十五天", ["365"]),
        ("十二个和二十个", ["12", "20"]),
        ("一九四九年", ["1949"]),
        ("一亿二千万", ["120000000"]),
        ("三分之一", ["1/3"]),
        ("负五", ["-5"]),
        ("三点一四", ["3.14"]),
        ("一共一样一定", []),
        ("星期三", []),
    ],
)
def test_chinese_words(text: str, expected: list[str]) -> None:
    assert [n.value for n in find_number_words(text, "zh")] == [Fraction(v) for v in expected]


def test_percentages_ranks_and_markers_are_told_apart() -> None:
    percent, rank = find_numbers("50% of the 3rd")
    assert percent.percent
    assert not percent.ordinal
    assert rank.ordinal
    (chinese,) = find_number_words("百分之五十", "zh")
    assert (chinese.value, chinese.percent) == (50, True)
    marked = find_numbers("1. Add 5\n2) Take 3\nStep 4: 7")
    assert [number.value for number in marked if not number.marker] == [5, 3, 7]
    assert not find_numbers("12.")[0].marker


def test_targets_that_are_no_numbers_are_errors() -> None:
    assert parse_number("1,200.5") == Fraction("1200.5")
    for text in ("", "x", "1/0"):
        with pytest.raises(ValueError, match=r"."):
            parse_number(text)


@pytest.mark.parametrize(
    "text",
    [unit * (200_000 // len(unit)) for unit in ("9", "1,", "1,111", "1/", "-", "十", "one ", ". ")]
    + [unit * (200_000 // len(unit)) for unit in ("3 ", "\\frac{", "1 1/", "分之", "-$")],
    ids=lambda text: text[:6],
)
def test_hostile_input_is_read_in_linear_time(text: str) -> None:
    started = time.process_time()
    folded = fold_numbers(text)
    numbers = find_numbers(folded)
    words = [*find_number_words(folded, "zh"), *find_number_words(folded, "en")]
    assert time.process_time() - started < 10
    assert all(abs(number.value) < 10**200 for number in (*numbers, *words))


@given(st.integers(-(10**12), 10**12))
def test_every_integer_is_read_back(value: int) -> None:
    assert values(f"It is {value:,} in all") == [value]
    assert values(f"It is {value} in all") == [value]


@given(st.text(st.characters()))
def test_no_text_raises(text: str) -> None:
    folded = fold_numbers(text)
    find_numbers(folded)
    find_number_words(folded, "en")
    find_number_words(folded, "zh")
