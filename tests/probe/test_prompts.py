"""Prompts of exact length, whatever the server's tokenizer makes of words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from evalkit.probe.prompts import Prompts
from evalkit.types import Message

Tokens = Callable[[str], int | None]


def by_words(text: str) -> int:
    return len(text.split()) + 31


def by_letters(text: str) -> int:
    return len(text) // 4 + 12


def in_halves(text: str) -> int:
    # Some words are two tokens.
    return sum(2 if word[0] in "abc" else 1 for word in text.split()) + 7


def made(tokens: Tokens, target: int, *, shared: bool = False) -> tuple[Prompts, list[str], int]:
    asked = 0

    async def count(messages: tuple[Message, ...]) -> int | None:
        nonlocal asked
        asked += 1
        return tokens(messages[0].content or "")

    prompts = Prompts(count, seed=3, shared=shared)

    async def fit() -> None:
        await prompts.calibrate()
        await prompts.fit(target)

    asyncio.run(fit())
    return prompts, [prompts.make(target, n)[0].content or "" for n in range(40)], asked


@pytest.mark.parametrize("tokens", [by_words, in_halves])
@pytest.mark.parametrize("target", [64, 1024, 4001])
def test_every_prompt_has_the_length_that_was_asked_for(tokens: Tokens, target: int) -> None:
    _, texts, asked = made(tokens, target)
    counted = {tokens(text) for text in texts}
    assert counted == {target} or (tokens is in_halves and counted == {target - 1})
    assert asked <= 7


def test_a_tokenizer_by_letters_is_met_within_a_token() -> None:
    _, texts, _ = made(by_letters, 1000)
    assert {by_letters(text) for text in texts} <= {999, 1000, 1001}


def test_words_that_are_one_token_need_two_counts_for_any_length() -> None:
    _, _, asked = made(by_words, 65_536)
    assert asked == 2


def test_no_two_prompts_begin_alike_unless_they_shall() -> None:
    _, texts, _ = made(by_words, 512)
    assert len({text[:60] for text in texts}) == 40
    _, shared, _ = made(by_words, 512, shared=True)
    assert len({text[:-200] for text in shared}) == 1
    assert len(set(shared)) == 40


def test_equal_keys_make_equal_prompts_and_no_count_is_survived() -> None:
    prompts, texts, _ = made(lambda text: None, 100)
    assert prompts.exact is None
    assert prompts.make(100, 0)[0].content == texts[0]
    assert 90 <= len(texts[0].split()) <= 110
