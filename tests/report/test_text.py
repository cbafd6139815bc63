from hypothesis import given
from hypothesis import strategies as st

from evalkit.report.text import cut, one_line, visible, without_surrogates

ACTING = "\x00\x07\x1b\x7f\x85\u202e\u2066\ud800\udfff\ufffe\U000e0041"


def test_acting_characters_are_seen_and_do_not_act() -> None:
    shown = visible(f"a{ACTING}b")
    assert not any(char in shown for char in ACTING)
    assert shown.startswith("a␀␇␛␡⟦U+0085⟧⟦U+202E⟧")
    assert shown.endswith("b")


def test_readable_text_is_untouched() -> None:
    text = "Zeile\tzwei\n日本語 العربية 👩‍👩‍👧 \u200f€"
    assert visible(text) == text
    assert visible("a\r\nb") == "a\nb"


@given(st.text(alphabet=st.characters()))
def test_visible_is_always_encodable_and_stable(text: str) -> None:
    shown = visible(text)
    shown.encode()
    assert visible(shown) == shown
    assert "\n" not in one_line(text)


def test_cut_keeps_both_ends_and_says_how_much() -> None:
    text = "a" * 50 + "b" * 1000 + "c" * 50
    short = cut(text, 50, 50, "… {n} characters cut …")
    assert short == "a" * 50 + "\n… 1,000 characters cut …\n" + "c" * 50
    assert cut("short", 3, 2, "{n}") == "short"


def test_surrogates_only() -> None:
    assert without_surrogates("a\ud800\x00") == "a⟦U+D800⟧\x00"
