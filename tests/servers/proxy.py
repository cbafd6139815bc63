"""A proxy in front of a real llama.cpp server that spoils a comparison in one way.

Everything that it does not spoil comes from the server as it is, identity pages included.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
from aiohttp import web

from tests.servers.fake import FakeServer

KINDS = (
    "none",
    "bos-missing",
    "bos-doubled",
    "template",
    "system",
    "context",
    "context-hidden",
    "max-tokens",
    "temperature",
    "penalty",
    "stop",
    "reasoning",
    "logprobs-shifted",
    "logprobs-renormalized",
    "logprobs-log10",
)
_RENDERED = ("bos-missing", "bos-doubled", "template", "context", "context-hidden")
CONTEXT = 512
CAP = 20
_BOS = "<|im_start|>"
_SYSTEM = "You are a pirate. Speak in rhymes, at length, and never answer directly."


class Proxy:
    """The handlers."""

    def __init__(self, upstream: str, kind: str) -> None:
        assert kind in KINDS, kind
        self._upstream = upstream
        self._kind = kind
        self._session: aiohttp.ClientSession | None = None

    def app(self) -> web.Application:
        app = web.Application(client_max_size=16 << 20)
        app.router.add_post("/v1/chat/completions", self.chat)
        app.router.add_route("*", "/{page:.*}", self.page)
        app.cleanup_ctx.append(self._connect)
        return app

    async def _connect(self, _app: web.Application) -> AsyncIterator[None]:
        # llama.cpp drops a connection that is idle for 5 s, at the very moment of the next use.
        connector = aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(connector=connector) as self._session:
            yield

    async def page(self, request: web.Request) -> web.Response:
        data = await request.read()
        return await self._forward(request.method, request.path, data)

    async def chat(self, request: web.Request) -> web.Response:
        data = await request.read()
        try:
            body = json.loads(data)
            messages = body["messages"]
        except (ValueError, KeyError):
            return await self._forward("POST", request.path, data)
        self._spoil_request(body)
        if self._kind in _RENDERED and not body.get("stream"):
            return await self._rendered(body, messages)
        response = await self._forward("POST", request.path, json.dumps(body).encode())
        if response.status != 200 or body.get("stream"):
            return response
        assert isinstance(response.body, bytes)
        answer = json.loads(response.body)
        self._spoil_answer(answer["choices"][0])
        return web.json_response(answer)

    def _spoil_request(self, body: dict[str, Any]) -> None:
        if self._kind == "system":
            body["messages"] = [{"role": "system", "content": _SYSTEM}, *body["messages"]]
        elif self._kind == "max-tokens":
            body["max_tokens"] = min(body["max_tokens"], CAP)
        elif self._kind == "temperature":
            body |= {"temperature": 0.8, "seed": -1}
        elif self._kind == "penalty":
            body |= {"repeat_penalty": 1.3, "repetition_penalty": 1.3}
        elif self._kind == "stop":
            body.pop("stop", None)

    def _spoil_answer(self, choice: dict[str, Any]) -> None:
        if self._kind == "reasoning":
            message = choice["message"]
            message["content"] = f"<think>\nHm.\n</think>\n\n{message['content']}"
        rows = (choice.get("logprobs") or {}).get("content") or []
        if self._kind == "logprobs-shifted":
            for row, following in itertools.pairwise(rows):
                row |= following
            del rows[-1:]
        for row in rows:
            for entry in (row, *row.get("top_logprobs", ())):
                if self._kind == "logprobs-log10":
                    entry["logprob"] /= math.log(10)
            if self._kind == "logprobs-renormalized" and row.get("top_logprobs"):
                _renormalize(row)

    async def _rendered(self, body: dict[str, Any], messages: Any) -> web.Response:
        page = await self._json("/apply-template", {"messages": messages})
        prompt = page.get("prompt")
        if not isinstance(prompt, str):
            return await self._forward("POST", "/v1/chat/completions", json.dumps(body).encode())
        counted = None
        if self._kind == "bos-missing":
            prompt = prompt.removeprefix(_BOS)
        elif self._kind == "bos-doubled":
            prompt = _BOS + prompt
        elif self._kind == "template":
            prompt = "".join(f"### {m['role']}: {m['content']}\n" for m in messages) + "### answer:"
        else:
            special = {"content": prompt, "add_special": True, "parse_special": True}
            tokens = (await self._json("/tokenize", special))["tokens"]
            counted = len(tokens) if self._kind == "context-hidden" else None
            prompt = tokens[-CONTEXT:]
        del body["messages"]
        body["prompt"] = prompt
        response = await self._forward("POST", "/v1/completions", json.dumps(body).encode())
        if response.status != 200:
            return response
        assert isinstance(response.body, bytes)
        answer = json.loads(response.body)
        for choice in answer["choices"]:
            choice["message"] = {"role": "assistant", "content": choice.pop("text")}
        if counted is not None:
            answer["usage"]["prompt_tokens"] = counted
        return web.json_response(answer)

    async def _json(self, page: str, body: Mapping[str, Any]) -> dict[str, Any]:
        response = await self._forward("POST", page, json.dumps(body).encode())
        assert isinstance(response.body, bytes)
        found: dict[str, Any] = json.loads(response.body)
        return found

    async def _forward(self, method: str, page: str, data: bytes) -> web.Response:
        assert self._session is not None
        async with self._session.request(method, self._upstream + page, data=data) as response:
            kind = response.content_type
            return web.Response(
                status=response.status, body=await response.read(), content_type=kind
            )


def _renormalize(row: dict[str, Any]) -> None:
    total = math.log(sum(math.exp(entry["logprob"]) for entry in row["top_logprobs"]))
    for entry in (row, *row["top_logprobs"]):
        entry["logprob"] -= total


class ProxyServer(FakeServer):
    """A proxy in a thread of this process, on a free port."""

    def __init__(self, upstream: str, kind: str) -> None:
        super().__init__()
        self.server = Proxy(upstream, kind)  # type: ignore[assignment]
