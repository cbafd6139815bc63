"""What a server's own tokenizer and chat template make of a text, where it shows them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import orjson

from evalkit.errors import EndpointError
from evalkit.types import Message

Post = Callable[[str, bytes], Awaitable[tuple[int, Any]]]
"""Posts to a page below the server's root: status, and JSON or `None`."""


class TokenPages:
    """`/tokenize` of vLLM, SGLang and llama.cpp, and `/apply-template` of llama.cpp.

    A server that has no such page is asked once only.
    """

    def __init__(self, post: Post, model: str, engine: str | None) -> None:
        self._post = post
        self._model = model
        self._templates = engine is not None and engine.startswith("llama.cpp")
        self._there = True

    async def tokens(self, text: str) -> tuple[int, ...] | None:
        """Return the ids of a text, special tokens in it read as such; `None` when not told."""
        # llama.cpp reads `content`, the others `prompt`; each passes over what it does not know.
        return await self._ids(
            {
                "model": self._model,
                "content": text,
                "prompt": text,
                "add_special": True,
                "add_special_tokens": True,
                "parse_special": True,
            }
        )

    async def rendered(self, messages: tuple[Message, ...]) -> tuple[int, ...] | None:
        """Return the ids that a conversation becomes before the model answers."""
        said = [{"role": m.role, "content": m.content} for m in messages]
        if not self._templates:
            return await self._ids(
                {"model": self._model, "messages": said, "add_generation_prompt": True}
            )
        page = await self._page("/apply-template", {"messages": said})
        prompt = page.get("prompt")
        return await self.tokens(prompt) if isinstance(prompt, str) else None

    async def _ids(self, body: Mapping[str, Any]) -> tuple[int, ...] | None:
        ids = (await self._page("/tokenize", body)).get("tokens")
        if not isinstance(ids, list) or not ids or not all(isinstance(i, int) for i in ids):
            return None
        return tuple(ids)

    async def _page(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self._there:
            return {}
        try:
            status, data = await self._post(path, orjson.dumps(body))
        except EndpointError:
            return {}
        self._there = status not in {404, 405, 501}
        return data if status == 200 and isinstance(data, Mapping) else {}
