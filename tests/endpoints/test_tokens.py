from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from evalkit.endpoints.tokens import TokenPages
from evalkit.errors import ServerError
from evalkit.types import Message

HELLO = (Message("user", "Hi"),)


class Pages:
    """Answers as a server does, and remembers what it was asked."""

    def __init__(self, pages: Mapping[str, tuple[int, Any]]) -> None:
        self.pages = pages
        self.asked: list[tuple[str, dict[str, Any]]] = []

    async def __call__(self, page: str, data: bytes) -> tuple[int, Any]:
        self.asked.append((page, json.loads(data)))
        return self.pages.get(page, (404, None))


def both(pages: Pages, engine: str | None) -> tuple[Any, Any]:
    async def go() -> tuple[Any, Any]:
        tokens = TokenPages(pages, "m", engine)
        return await tokens.tokens("Hi"), await tokens.rendered(HELLO)

    return asyncio.run(go())


def test_vllm_renders_messages_itself() -> None:
    pages = Pages({"/tokenize": (200, {"count": 2, "max_model_len": 9, "tokens": [5, 6]})})
    assert both(pages, "vLLM") == ((5, 6), (5, 6))
    assert pages.asked[0][1]["prompt"] == "Hi"
    assert pages.asked[1][1]["messages"] == [{"role": "user", "content": "Hi"}]
    assert pages.asked[1][1]["add_generation_prompt"] is True


@pytest.mark.parametrize("engine", ["llama.cpp", "llama.cpp (xllamacpp)"])
def test_llama_cpp_renders_on_a_page_of_its_own(engine: str) -> None:
    pages = Pages(
        {
            "/apply-template": (200, {"prompt": "<|im_start|>Hi"}),
            "/tokenize": (200, {"tokens": [1, 7]}),
        }
    )
    assert both(pages, engine) == ((1, 7), (1, 7))
    # Special tokens in what was rendered are read as such, and the model's BOS is added.
    last = pages.asked[-1][1]
    assert last["content"] == "<|im_start|>Hi"
    assert (last["parse_special"], last["add_special"]) == (True, True)


def test_a_server_without_such_a_page_is_asked_once() -> None:
    pages = Pages({})
    assert both(pages, None) == (None, None)
    assert len(pages.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        (200, None),
        (200, []),
        (200, {}),
        (200, {"tokens": []}),
        (200, {"tokens": "12"}),
        (200, {"tokens": [1, "2"]}),
        (200, {"tokens": [{"id": 1}]}),
        (500, {"tokens": [1]}),
    ],
)
def test_what_is_no_list_of_ids_is_none(answer: tuple[int, Any]) -> None:
    assert both(Pages({"/tokenize": answer}), None) == (None, None)


def test_an_error_is_none() -> None:
    async def broken(page: str, data: bytes) -> tuple[int, Any]:
        raise ServerError("died")

    assert asyncio.run(TokenPages(broken, "m", None).tokens("Hi")) is None
