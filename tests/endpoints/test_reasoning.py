from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.endpoints.reasoning import split_think
from evalkit.endpoints.wire import parse_reply
from evalkit.types import Timing

FENCED = "Use this:\n```\nhm\n</think>\n```\nDone."


@pytest.mark.parametrize(
    ("text", "reasoning", "answer"),
    [
        ("<think>a b</think>\n\n42", "a b", "42"),
        ("\n<think>\na\n</think>42", "a", "42"),
        ("a b\n</think>\n42", "a b", "42"),
        ("<think>cut in the middle", "cut in the middle", ""),
        ("<think></think>42", "", "42"),
        ("just 42", None, "just 42"),
        ("  spaces stay ", None, "  spaces stay "),
        ("The tag <think> is closed by </think>.", None, "The tag <think> is closed by </think>."),
        # Several blocks.
        ("<think>a</think>\n<think>b</think>\n42", "a\nb", "42"),
        ("<think>a</think><think>b</think>42", "a\nb", "42"),
        ("a</think>\n<think>b</think>\n42", "a\nb", "42"),
        ("<think>a</think>4\n<think>b</think>2", "a\nb", "4\n2"),
        ("Sure.\n<think>a</think>42", "a", "Sure.\n42"),
        ("<think>a</think>4\n<think>b, cut", "a\nb, cut", "4\n"),
        # Tags that an answer writes about.
        (FENCED, None, FENCED),
        ("Close it with `</think>`.", None, "Close it with `</think>`."),
        ("```\n<think>\n```", None, "```\n<think>\n```"),
        ("<think>a</think>\n" + FENCED, "a", FENCED),
        ("<think>a</think>x <think> y", "a", "x <think> y"),
        # Code within the reasoning.
        ("```\nx\n```\nso\n</think>\n42", "```\nx\n```\nso", "42"),
        ("<think>\n```\nx\n```\n</think>```\n<think>\n```", "```\nx\n```", "```\n<think>\n```"),
    ],
)
def test_think_tags(text: str, reasoning: str | None, answer: str) -> None:
    assert split_think(text) == (reasoning, answer)
    data = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    got = parse_reply(data, Timing(1.0, 2.0))
    assert (got.text, got.reasoning) == (answer, reasoning or None)


PIECES = st.lists(
    st.sampled_from(["<think>", "</think>", "```", "`", "\n", " ", "a", "中"]), max_size=30
)


@given(PIECES)
def test_nothing_is_invented_and_plain_text_stays(pieces: list[str]) -> None:
    text = "".join(pieces)
    reasoning, answer = split_think(text)
    for char in "a中":
        assert ((reasoning or "") + answer).count(char) == text.count(char)
    if "think>" not in text:
        assert (reasoning, answer) == (None, text)


def test_a_hostile_text_costs_no_time() -> None:
    clock = time.process_time()
    for text in (
        "<think>a</think>\n" * 50_000,
        "```\n<think>\n" * 50_000,
        "<think>" * 200_000,
        "</think>" * 200_000,
        "\n" * 500_000 + "<think>",
    ):
        split_think(text)
    assert time.process_time() - clock < 5
