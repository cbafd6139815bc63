"""A streaming server that keeps to a clock and writes down what it really did.

Times are of `time.perf_counter`, which the client shares, so that a figure can be held against
the truth of this very request.
"""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

import orjson

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Pace:
    """How it answers, in seconds.

    Attributes:
        first: Until the first token, and `a_token` more for each token of the prompt.
        gap: Between two parts.
        part: Tokens in each part.
        alone: Whether the first token comes by itself, as where a draft follows it.
        status: Other than 200: an error.
        context: Tokens it says that it holds.
        refuses: Fields that it answers with 400.
        holds: Tokens of the longest prompt that it takes, whatever it says.
    """

    first: float = 0.05
    a_token: float = 0.0
    gap: float = 0.01
    part: int = 1
    alone: bool = False
    status: int = 200
    context: int | None = None
    usage: bool = True
    refuses: tuple[str, ...] = ()
    holds: int = 1 << 30
    one_at_a_time: bool = False
    stall: float = 0.0


@dataclass(slots=True)
class Seen:
    """One request as the server saw it."""

    arrived: float
    prompt: str
    prompt_tokens: int
    max_tokens: int
    measured: bool
    writes: list[float] = field(default_factory=list)
    done: float = 0.0


class ClockedServer:
    """Serves one model, in the event loop that it is entered in.

    Client and server then take turns on one thread: what delays one delays the other, so that
    a busy machine does not come between a figure and its truth.
    """

    def __init__(self, pace: Pace, plan: Callable[[int, Pace], Pace] | None = None) -> None:
        self.pace = pace
        self.seen: list[Seen] = []
        self._plan = plan or (lambda number, pace: pace)
        self._tasks: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def target(self) -> str:
        """What the command line is given."""
        return f"http://127.0.0.1:{self._port}#clocked"

    @property
    def streamed(self) -> list[Seen]:
        """The requests of rounds and warm-ups: streams of more than a token."""
        return [one for one in self.seen if one.measured]

    async def __aenter__(self) -> Self:
        self._lock = asyncio.Lock()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                arrived = time.perf_counter()
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                path = head.split(b" ", 2)[1]
                if path == b"/v1/chat/completions":
                    await self._answer(writer, orjson.loads(body), arrived)
                else:
                    writer.write(self._page(path))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _page(self, path: bytes) -> bytes:
        if path != b"/v1/models":
            return b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"
        card = {"id": "clocked", "max_model_len": self.pace.context}
        return whole(200, {"object": "list", "data": [card]})

    async def _answer(
        self, writer: asyncio.StreamWriter, asked: dict[str, object], arrived: float
    ) -> None:
        prompt = str(asked["messages"][0]["content"])  # type: ignore[index]
        limit = int(str(asked["max_tokens"]))
        measured = bool(asked.get("stream")) and limit > 1
        seen = Seen(arrived, prompt, len(prompt.split()) + 9, limit, measured)
        self.seen.append(seen)
        pace = replace(self.pace, first=0.0)
        if measured:
            pace = self._plan(len(self.streamed) - 1, self.pace)
        if refused := [name for name in self.pace.refuses if name in asked]:
            told = {"message": f"Unrecognized request argument: {refused[0]}"}
            writer.write(whole(400, {"error": told}))
        elif seen.prompt_tokens > self.pace.holds:
            told = {"message": "This model's maximum context length is exceeded."}
            writer.write(whole(400, {"error": {**told, "code": "context_length_exceeded"}}))
        elif pace.status != 200:
            writer.write(whole(pace.status, {"error": {"message": "no"}}))
        elif not asked.get("stream"):
            usage = {"prompt_tokens": seen.prompt_tokens, "completion_tokens": 1}
            message = {"role": "assistant", "content": "yes"}
            choice = {"index": 0, "message": message, "finish_reason": "length"}
            body = {"choices": [choice], "model": "clocked"}
            writer.write(whole(200, {**body, "usage": usage} if pace.usage else body))
        elif pace.one_at_a_time:
            async with self._lock:
                await self._stream(writer, seen, pace)
        else:
            await self._stream(writer, seen, pace)

    async def _stream(self, writer: asyncio.StreamWriter, seen: Seen, pace: Pace) -> None:
        began = max(seen.arrived, time.perf_counter() if pace.one_at_a_time else 0.0)
        due = began + pace.first + pace.a_token * seen.prompt_tokens + pace.stall
        writer.write(_HEAD + _event({"role": "assistant", "content": ""}))
        sent = 0
        while sent < seen.max_tokens:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            size = 1 if pace.alone and not sent else pace.part
            count = min(size, seen.max_tokens - sent)
            seen.writes.append(time.perf_counter())
            writer.write(_event({"content": " a" * count}))
            sent += count
            due += pace.gap
        tail = _event({}, "length")
        if pace.usage:
            usage = {"prompt_tokens": seen.prompt_tokens, "completion_tokens": sent}
            tail += chunk(b"data: " + orjson.dumps({"choices": [], "usage": usage}) + b"\n\n")
        seen.done = time.perf_counter()
        writer.write(tail + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return chunk(b"data: " + orjson.dumps({"model": "clocked", "choices": [choice]}) + b"\n\n")


def chunk(data: bytes) -> bytes:
    """A chunk of a body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def whole(status: int, body: object) -> bytes:
    """A response with a JSON body."""
    data = orjson.dumps(body)
    head = b"HTTP/1.1 %d X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % (status, len(data)) + data


@contextmanager
def in_thread(*servers: ClockedServer) -> Iterator[None]:
    """Serve beside the caller, who blocks: the command line, say."""
    loop, ready, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with AsyncExitStack() as stack:
            for server in servers:
                await stack.enter_async_context(server)
            ready.set()
            await stop.wait()

    def work() -> None:
        loop.run_until_complete(serve())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
