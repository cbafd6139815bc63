"""A streaming server in a process of its own that ails as it is told: leaks, slows down, fails.

`python -m tests.servers.ailing '{"port": 0, "leak": 1.0}'` prints its port.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import orjson

from tests.servers.clocked import chunk, whole

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_PIECE = 65536


@dataclass(frozen=True, slots=True)
class Ails:
    """What is wrong with it; times are seconds since it began.

    Attributes:
        leak: Bytes a second that it takes and keeps.
        slower: Share a second by which it becomes slower.
        failing: From when to when half of all requests fail.
        other_after: When its answers become others.
        noisy: Whether answers vary at any time.
        pace: Seconds of a request, beside those of its tokens.
        version: What it says of itself.
    """

    port: int = 0
    leak: float = 0.0
    slower: float = 0.0
    failing: tuple[float, float] = (0.0, 0.0)
    other_after: float = 1e9
    noisy: bool = False
    pace: float = 0.05
    version: str = "1"


class _Server:
    def __init__(self, ails: Ails) -> None:
        self.ails = ails
        self.began = time.perf_counter()
        self.stamp = time.time()
        self.kept: list[bytearray] = []
        self.answered = 0

    def age(self) -> float:
        return time.perf_counter() - self.began

    async def leak(self) -> None:
        while True:
            while len(self.kept) * _PIECE < self.ails.leak * self.age():
                self.kept.append(bytearray(b"x") * _PIECE)
            await asyncio.sleep(0.05)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length[1])) if length else b""
                path = head.split(b" ", 2)[1]
                if path == b"/v1/chat/completions":
                    await self.answer(writer, orjson.loads(body))
                else:
                    writer.write(self.page(path))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def page(self, path: bytes) -> bytes:
        if path == b"/v1/models":
            return whole(200, {"object": "list", "data": [{"id": "m", "max_model_len": 4096}]})
        if path == b"/version":
            return whole(200, {"version": self.ails.version})
        if path == b"/metrics":
            text = f"process_start_time_seconds {self.stamp}\nanswered_total {self.answered}\n"
            return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text.encode())
        return b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"

    async def answer(self, writer: asyncio.StreamWriter, asked: dict[str, object]) -> None:
        begin, end = self.ails.failing
        if begin <= self.age() < end and random.random() < 0.5:
            writer.write(whole(500, {"error": {"message": "no"}}))
            return
        tokens = int(str(asked["max_tokens"]))
        prompt = len(str(asked["messages"][0]["content"])) // 4 + 8  # type: ignore[index]
        seconds = self.ails.pace + prompt * 4e-5 + tokens * 4e-4
        seconds *= 1 + self.ails.slower * self.age()
        usage = {"prompt_tokens": prompt, "completion_tokens": tokens}
        self.answered += 1
        if asked.get("stream"):
            writer.write(_HEAD)
            await asyncio.sleep(seconds / 2)
            writer.write(_event("a"))
            await asyncio.sleep(seconds / 2)
            end_of_it = chunk(b"data: " + orjson.dumps({"choices": [], "usage": usage}) + b"\n\n")
            writer.write(_event("b", "length") + end_of_it)
            writer.write(chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
            return
        await asyncio.sleep(seconds)
        text = "another one" if self.age() > self.ails.other_after else "the usual one"
        if self.ails.noisy and random.random() < 0.3:
            text = "a rare one"
        choice = {"index": 0, "message": {"role": "assistant", "content": text}}
        body = {"model": "m", "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}
        writer.write(whole(200, body))


def _event(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return chunk(b"data: " + orjson.dumps({"model": "m", "choices": [choice]}) + b"\n\n")


@contextmanager
def ailing(ails: Ails | None = None) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run one; yield its process and port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.ailing", json.dumps(asdict(ails or Ails()))],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=30)


async def _main(ails: Ails) -> None:
    made = _Server(ails)
    server = await asyncio.start_server(made.serve, "127.0.0.1", ails.port)
    print(server.sockets[0].getsockname()[1], flush=True)
    leaking = asyncio.create_task(made.leak())
    await server.serve_forever()
    leaking.cancel()


if __name__ == "__main__":
    asyncio.run(_main(Ails(**json.loads(sys.argv[1]))))
