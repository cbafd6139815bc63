from __future__ import annotations

import base64
import json
import random
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.endpoints.masking import MASK, Secrets

KEY = "sk-proj-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
KEYS = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=60)


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@given(key=KEYS, before=st.text(max_size=5), after=st.text(max_size=5), seed=st.integers())
def test_no_spelling_of_a_key_is_left(key: str, before: str, after: str, seed: int) -> None:
    rng = random.Random(seed)
    spellings = [
        key,
        quote(key, safe=""),
        "".join(rng.choice([c, f"%{ord(c):02X}", f"&#{ord(c)};", f"\\u{ord(c):04x}"]) for c in key),
        json.dumps(key)[1:-1],
        key.encode().hex(),
    ]
    secrets = Secrets([key])
    for spelling in spellings:
        assert spelling not in secrets.scrub(f"{before} {spelling} {after}")


@given(key=KEYS, before=st.text(max_size=7), cut=st.integers(0, 20))
def test_a_key_within_base64_is_masked(key: str, before: str, cut: int) -> None:
    coded = base64_of(before + key + "zz")
    left = Secrets([key]).scrub(coded[: len(coded) - cut])
    longest = max((len(part) for part in left.split(MASK)), default=0)
    assert longest <= len(base64_of(before)) + 15


@given(key=KEYS, start=st.integers(0, 30), length=st.integers(8, 30))
def test_a_part_of_a_key_is_masked_where_it_is_told(key: str, start: int, length: int) -> None:
    part = key[start : start + length]
    if len(part) >= 8:
        assert part not in Secrets([key]).scrub(f"key {part} …")


@pytest.mark.parametrize("start", range(0, 26))
def test_a_long_part_of_a_key_is_masked_in_an_answer(start: int) -> None:
    part = KEY[start : start + 23]
    assert part not in Secrets([KEY]).scrub_answer(f"say {part}, please")


def test_an_answer_keeps_its_words() -> None:
    secrets = Secrets(["EMPTY", "secret", "password", "abc", KEY])
    answer = "The EMPTY secret password abc of sk-proj- begins keys; kL1m is no key."
    assert secrets.scrub_answer(answer) == answer
    assert secrets.scrub_answer(f"{KEY} {base64_of('u:' + KEY)}").count(MASK) == 2


def test_a_short_secret_is_masked_as_a_word() -> None:
    assert Secrets(["pw"]).scrub("pw, (pw) and pwd") == "***, (***) and pwd"
    assert repr(Secrets([KEY])) == "Secrets(1)"


def test_the_longest_secret_goes_first() -> None:
    assert Secrets(["hunter2", "hunter2-and-more"]).scrub("hunter2-and-more") == MASK
