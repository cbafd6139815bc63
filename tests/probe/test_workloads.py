"""The prompts that ship, and how they are made to fit."""

from __future__ import annotations

import asyncio

import pytest

from evalkit.errors import ContextLengthError
from evalkit.probe.workloads import MixedPrompts, WorkPrompt, fitted, load_workloads
from evalkit.speculation import WORKLOADS
from evalkit.types import Message


def words(messages: tuple[Message, ...]) -> int:
    return len(messages[0].content.split())


def test_six_prompts_of_each_kind_ship_in_both_languages() -> None:
    prompts = load_workloads(("en", "zh"), 6)
    assert len({prompt.key for prompt in prompts}) == len(prompts) == 6 * 2 * len(WORKLOADS)
    texts = [prompt.messages[0].content for prompt in prompts]
    assert len(set(texts)) == len(texts)
    assert not any("{material}" in text for text in texts)
    chinese = [p for p in prompts if "/zh/" in p.key]
    assert all(any("\u4e00" <= c <= "\u9fff" for c in p.text) for p in chinese)
    long = [p for p in prompts if p.workload == "long_input"]
    others = [p for p in prompts if p.workload != "long_input"]
    assert min(words(p.messages) for p in long) > 2 * max(words(p.messages) for p in others)
    # No long input begins as another does.
    assert len({p.messages[0].content[:80] for p in long}) == len(long)
    assert len(load_workloads(("en",), 2)) == 2 * len(WORKLOADS)


@pytest.mark.parametrize("refuses", [False, True])
def test_long_inputs_lose_pieces_until_they_fit(refuses: bool) -> None:
    asked: list[str] = []

    async def count(messages: tuple[Message, ...]) -> int | None:
        asked.append(messages[0].content)
        if refuses and words(messages) > 150:
            raise ContextLengthError("too long", status=400)
        return words(messages)

    prompts = load_workloads(("en",), 2)
    found = asyncio.run(fitted(prompts, count, 150))
    assert [p.key for p in found] == [p.key for p in prompts]
    assert all(words(p.messages) <= 150 for p in found if len(p.pieces) > 1)
    assert all(p.pieces for p in found if p.workload == "long_input")
    # What is counted is never what is asked: a prefix cache would know it.
    assert not set(asked) & {p.messages[0].content for p in found}


def test_what_fits_or_is_not_counted_stays_whole() -> None:
    async def unknown(messages: tuple[Message, ...]) -> int | None:
        return None

    prompts = load_workloads(("en",), 6)
    assert asyncio.run(fitted(prompts, unknown, 10)) == prompts


def test_a_mix_is_the_same_for_every_arm_and_begins_anew_each_time() -> None:
    prompts = [WorkPrompt(f"a/en/{n}", "a", f"text {n}") for n in range(12)]
    one, other = (MixedPrompts(prompts, 3) for _ in range(2))
    keys = [(0, "closed", "2", "round", number, place) for number in range(6) for place in range(2)]
    made = [one.make(*key) for key in keys]
    assert made == [other.make(*key) for key in keys]
    texts = [messages[0].content for messages in made]
    assert len({text[:8] for text in texts}) == len(texts)
    assert len({text.partition(") ")[2] for text in texts}) >= 10
