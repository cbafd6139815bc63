import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.scoring.aliases import alias
from evalkit.scoring.text import normalise


def named(name: str, text: str) -> bool:
    return bool(alias(name).mentions(normalise(text)))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("April 7, 2016", "on April 7 , 2016"),
        ("23 September 1889", "It was founded on September 23rd, 1889."),
        ("2016-04-07", "the 7th of April 2016"),
        ("Partial weight-bearing", "partial weight bearing"),
        ("adenosine diphosphate (ADP)", "It is ADP."),
        ("adenosine diphosphate (ADP)", "Adenosine diphosphate."),
        ("about 3.99 degrees", "It leans by 3.99 degrees."),
        ("the President", "President Lincoln"),
        ("thylakoid membranes", "in the thylakoid membrane"),
        ("Key West, Florida", "Key West Florida"),
        ("14", "fourteen"),
        ("1,000", "1000 of them"),
        ("20%", "20 percent"),
        ("两百", "共两百人"),
        ("堪培拉", "首都堪培拉市"),
        ("Au", "The symbol is Au."),
        ("阿瑟·米勒", "阿瑟•米勒"),
        ("阿瑟·米勒", "美国剧作家阿瑟米勒"),
        ("圣埃克苏佩里", "安托万·德·圣-埃克苏佩里"),
    ],
)
def test_a_name_is_found_in_other_writing(name: str, text: str) -> None:
    assert named(name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("14", "14.5"),
        ("2", "1/2"),
        ("20", "20%"),
        ("5", "1.5"),
        ("Au", "because"),
        ("Iran", "Iranian"),
        ("U.S.", "tell us"),
        ("new york", "York, new and old"),
        ("March 5, 1912", "March 1912"),
    ],
)
def test_another_name_is_not(name: str, text: str) -> None:
    assert not named(name, text)


@pytest.mark.parametrize("unit", ["a b ", "a,", "14 ", "the ", "-", "十"])
def test_a_long_text_is_searched_in_linear_time(unit: str) -> None:
    text = normalise(unit * (100_000 // len(unit)))
    started = time.process_time()
    for name in ("a b a b", "14", "the a", "a (b a)"):
        alias(name).mentions(text)
    assert time.process_time() - started < 5


@given(st.text(max_size=30), st.text(max_size=100))
def test_no_name_raises(name: str, text: str) -> None:
    alias(name).mentions(normalise(text))
