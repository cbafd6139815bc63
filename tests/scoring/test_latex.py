from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.latex import (
    decide,
    delimit,
    find_math,
    is_comparable,
    normalise_latex,
    rational,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"\dfrac{1}{2}", r"\frac12"),
        (r"\left( 1, 2 \right)", "(1,2)"),
        (r"10{,}000", "10,000"),
        (r"\$18.90", "18.9"),
        (r"90^\circ", "90"),
        (r"x = 5", "5"),
        (r"f(x) = 5", "5"),
        (r"\text{Evelyn}", "Evelyn"),
        (r"-\frac{1}{2}", r"\frac{-1}{2}"),
        ("0.5", r"\tfrac{1}{2}"),
        ("1/2", "0.50"),
        ("1,22", "1.22"),
        ("−3", "-3"),
    ],
)
def test_other_writing_is_equal(one: str, other: str) -> None:
    assert decide(one, other) is True
    assert decide(other, one) is True


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("5", "6", False),
        (r"\frac{1}{2}", "0.51", False),
        ("-3", "3", False),
        ("1,22", "1.23", None),
        ("1,220", "1.22", False),
        (r"50\%", "0.5", None),
        ("x+1", "1+x", None),
        ("(1,2)", "(2,1)", None),
        ("1/0", "1", None),
        ("", "", None),
    ],
)
def test_what_is_not_plainly_equal(one: str, other: str, verdict: bool | None) -> None:
    assert decide(one, other) is verdict


@given(st.fractions(max_denominator=10**6))
def test_every_fraction_is_read_back(value: Fraction) -> None:
    above, below = abs(value.numerator), value.denominator
    sign = "-" if value < 0 else ""
    assert rational(normalise_latex(rf"{sign}\dfrac{{{above}}}{{{below}}}")) == value
    assert rational(normalise_latex(f"{sign}{above}/{below}")) == value


def test_formulas_are_found_in_their_order() -> None:
    text = r"$$a$$ costs \$5, $b$ \(c\) \[d" + "\n" + r"e\]"
    assert find_math(text) == ["a", "b", "c", "d\ne"]


def test_answers_that_nobody_would_read_are_not_comparable() -> None:
    assert is_comparable(r"\frac{1}{2}")
    assert not is_comparable("x" * 2_001)
    assert not is_comparable("(" * 41)


def test_an_expression_is_delimited_once() -> None:
    assert delimit("5") == "$\\boxed{5}$"
    assert delimit("$5$") == "$5$"
    assert delimit(r"\boxed{5}") == "$\\boxed{5}$"
    assert r"\mathrm" not in delimit(r"\mathrm{e}")


@given(st.text(st.characters()), st.text(st.sampled_from(list("\\frac{}12-/%,.^ x"))))
def test_no_text_raises(one: str, other: str) -> None:
    decide(one, other)
    find_math(one)
