"""What can go wrong between a client and a server, one maker of a bad reply for each kind."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from aiohttp import web

Answer = Callable[[], Mapping[str, Any]]
Maker = Callable[["Scene"], Awaitable[web.StreamResponse]]

STATUSES = {
    "429": (429, "slow down"),
    "500": (500, "something broke"),
    "503": (503, "loading model"),
    "408": (408, "took too long"),
    "400": (400, "temperature must be a number"),
    "400-context": (400, "This model's maximum context length is 16 tokens."),
    "401": (401, "invalid key"),
    "403": (403, "not allowed"),
    "404": (404, "The model does not exist."),
}


def _choice(content: str | None, finish: str, **message: Any) -> dict[str, Any]:
    whole = {"role": "assistant", "content": content, **message}
    return {"id": "x", "choices": [{"index": 0, "message": whole, "finish_reason": finish}]}


BODIES: Mapping[str, Any] = {
    "error-200": {"error": {"message": "engine died"}},
    "error-200-code": {"error": {"message": "bad gateway behind", "code": 502}},
    "detail-200": {"detail": "Internal error"},
    "no-choices": {"id": "x", "choices": []},
    "abort-200": _choice("half of an ans", "abort"),
    "null": _choice(None, "stop"),
    "null-length": _choice(None, "length", reasoning_content="long thoughts"),
}


class Scene:
    """What a maker knows: the request, the answer it would have had, and the fault's numbers."""

    def __init__(
        self,
        request: web.Request,
        answer: Mapping[str, Any],
        *,
        streamed: bool,
        usage: bool,
        seconds: float,
        leaving: asyncio.Event,
    ) -> None:
        self.request = request
        self.answer = answer
        self.streamed = streamed
        self.usage = usage
        self.seconds = seconds
        self.leaving = leaving

    @property
    def body(self) -> bytes:
        if not self.streamed:
            return json.dumps(self.answer).encode()
        return b"".join(sse(part) for part in chunks(self.answer, usage=self.usage))

    async def begin(self, **headers: str) -> web.StreamResponse:
        kind = "text/event-stream" if self.streamed else "application/json"
        response = web.StreamResponse(headers={"Content-Type": kind, **headers})
        await response.prepare(self.request)
        return response

    def drop(self) -> None:
        """Break the connection as a dying server does."""
        if self.request.transport is not None:
            self.request.transport.abort()


def sse(data: Mapping[str, Any] | str) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"data: {text}\n\n".encode()


def chunks(answer: Mapping[str, Any], *, usage: bool) -> list[Mapping[str, Any] | str]:
    """Cut an answer into what vLLM streams for it."""
    choice = answer["choices"][0]
    message = choice["message"]

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> Mapping[str, Any]:
        one = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "x", "model": answer.get("model"), "choices": [one], "usage": None}

    found: list[Mapping[str, Any] | str] = [chunk({"role": "assistant", "content": None})]
    for key in ("reasoning_content", "reasoning", "content"):
        text = message.get(key) or ""
        found += [chunk({key: text[at : at + 5]}) for at in range(0, len(text), 5)]
    found.append(chunk({}, choice["finish_reason"]))
    if usage:
        found.append({"id": "x", "choices": [], "usage": answer.get("usage")})
    return [*found, "[DONE]"]


def retry_after(value: str) -> str:
    """Return a header's value; `date+3` stands for the date in three seconds."""
    if not value.startswith("date+"):
        return value
    when = datetime.now(UTC) + timedelta(seconds=float(value.removeprefix("date+")))
    return format_datetime(when, usegmt=True)


async def reset(scene: Scene) -> web.StreamResponse:
    scene.drop()
    return web.Response()


async def hang(scene: Scene) -> web.StreamResponse:
    await scene.leaving.wait()
    return web.Response(status=503)


async def slow(scene: Scene) -> web.StreamResponse:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(scene.leaving.wait(), scene.seconds)
    response = await scene.begin()
    await response.write(scene.body)
    return response


async def drip(scene: Scene) -> web.StreamResponse:
    response = await scene.begin()
    for at in range(len(scene.body)):
        await response.write(scene.body[at : at + 1])
        await asyncio.sleep(scene.seconds)
    return response


async def stall(scene: Scene) -> web.StreamResponse:
    """Stop in the middle of the body, without a word."""
    response = await scene.begin()
    await response.write(scene.body[: len(scene.body) // 2])
    await scene.leaving.wait()
    return response


async def cut(_scene: Scene) -> web.StreamResponse:
    return web.Response(text='{"id": "x", "choices": [{"mess', content_type="application/json")


async def html(_scene: Scene) -> web.StreamResponse:
    return web.Response(text="<html><body>Bad gateway</body></html>", content_type="text/html")


async def short(scene: Scene) -> web.StreamResponse:
    response = await scene.begin(**{"Content-Length": "1000000"})
    await response.write(scene.body[:20])
    scene.drop()
    return response


async def chunk_cut(scene: Scene) -> web.StreamResponse:
    """Break the connection before the last chunk of a chunked body."""
    response = await scene.begin()
    await response.write(scene.body[: len(scene.body) // 2])
    scene.drop()
    return response


async def _events(scene: Scene, *parts: bytes) -> web.StreamResponse:
    scene.streamed = True
    response = await scene.begin()
    for part in parts:
        await response.write(part)
    return response


def _sse(scene: Scene) -> list[bytes]:
    return [sse(part) for part in chunks(scene.answer, usage=scene.usage)]


async def sse_cut(scene: Scene) -> web.StreamResponse:
    """End cleanly after half of the answer."""
    return await _events(scene, *_sse(scene)[:3])


async def sse_garbage(scene: Scene) -> web.StreamResponse:
    """Send whatever the standard says to ignore, around a whole answer."""
    noise = (b": ping\n\n", b"data:\n\n", b"event: ping\n\n", b"retry: 3\nid: 7\n\n", b"what?\n")
    parts = [noise[at % len(noise)] + part for at, part in enumerate(_sse(scene))]
    return await _events(scene, *parts)


async def sse_hole(scene: Scene) -> web.StreamResponse:
    """Send one part of the answer broken."""
    parts = _sse(scene)
    parts[2] = b'data: {"choices": [{"del\n\n'
    return await _events(scene, *parts)


async def sse_error(scene: Scene) -> web.StreamResponse:
    """Fail after some text and end as if nothing had happened, as vLLM does."""
    error = sse({"error": {"message": "engine died", "code": 500}})
    return await _events(scene, *_sse(scene)[:3], error, sse("[DONE]"))


async def sse_error_field(scene: Scene) -> web.StreamResponse:
    """Fail as llama.cpp did until September 2025."""
    error = b'error: {"code": 500, "message": "engine died"}\n\n'
    return await _events(scene, *_sse(scene)[:3], error, sse("[DONE]"))


async def sse_empty(scene: Scene) -> web.StreamResponse:
    return await _events(scene, sse("[DONE]"))


async def sse_no_usage(scene: Scene) -> web.StreamResponse:
    return await _events(scene, *(sse(part) for part in chunks(scene.answer, usage=False)))


async def sse_no_done(scene: Scene) -> web.StreamResponse:
    """Leave out the last word after a whole answer."""
    return await _events(scene, *_sse(scene)[:-1])


async def sse_open(scene: Scene) -> web.StreamResponse:
    """Say everything and never end the body."""
    response = await _events(scene, *_sse(scene))
    await scene.leaving.wait()
    return response


MAKERS: Mapping[str, Maker] = {
    "reset": reset,
    "hang": hang,
    "slow": slow,
    "drip": drip,
    "stall": stall,
    "cut": cut,
    "html": html,
    "short": short,
    "chunk-cut": chunk_cut,
    "sse-cut": sse_cut,
    "sse-garbage": sse_garbage,
    "sse-hole": sse_hole,
    "sse-error": sse_error,
    "sse-error-field": sse_error_field,
    "sse-empty": sse_empty,
    "sse-no-usage": sse_no_usage,
    "sse-no-done": sse_no_done,
    "sse-open": sse_open,
}

KINDS = (*STATUSES, *BODIES, *MAKERS)

# What a client makes of each kind; names of classes in `evalkit.errors`.
HEALS = {
    "429": "RateLimited",
    "500": "ServerError",
    "503": "ServerError",
    "408": "ServerError",
    "error-200": "ProtocolError",
    "error-200-code": "ServerError",
    "detail-200": "ProtocolError",
    "no-choices": "ProtocolError",
    "abort-200": "ProtocolError",
    "reset": "ConnectError",
    "hang": "Timeout",
    "slow": "Timeout",
    "stall": "Timeout",
    "cut": "CutBody",
    "html": "CutBody",
    "short": "CutBody",
    "chunk-cut": "CutBody",
    "sse-cut": "CutBody",
    "sse-hole": "CutBody",
    "sse-error": "ServerError",
    "sse-error-field": "ServerError",
    "sse-empty": "ProtocolError",
}
STAYS = {"400": "BadRequest", "400-context": "ContextLengthError"}
STOPS = {"401": "AuthError", "403": "AuthError", "404": "NotFoundError"}
NULL = {"null": "stop", "null-length": "length"}
HARMLESS = ("drip", "sse-garbage", "sse-no-usage", "sse-no-done", "sse-open")
