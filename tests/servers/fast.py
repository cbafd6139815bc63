"""A server that costs next to nothing: for benchmarks, and for runs that are killed often.

`python -m tests.servers.fast` prints its URL. It answers questions that end in a
number, as those of `tests.quiz` do:
`--wrong-every K` gets each K-th wrong, `--delay S` waits so many seconds before a reply.
`GET /asked` says how often each number was asked since the last `GET /asked`.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Self, cast
from urllib.request import urlopen

import orjson
import uvloop

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_NUMBER = re.compile(rb"(\d+)\??\"")


class _State:
    def __init__(self, delay: float, wrong_every: int, counting: bytes) -> None:
        self.delay = delay
        self.wrong_every = wrong_every
        self.counting = counting
        self.asked: Counter[int] = Counter()

    def page(self, path: bytes) -> bytes:
        if path == b"/v1/models":
            return _reply(b'{"object":"list","data":[{"id":"fake","object":"model"}]}')
        if path == b"/asked":
            asked, self.asked = self.asked, Counter()
            return _reply(orjson.dumps(sorted(asked.items())))
        return _reply(b'{"detail":"Not Found"}', status=b"404 Not Found")

    def answer(self, body: bytes) -> bytes:
        found = _NUMBER.findall(body)
        number = int(found[-1]) if found else -1
        if self.counting in body:
            self.asked[number] += 1
        wrong = self.wrong_every and number % self.wrong_every == 0
        word = b"omega" if wrong else b"alpha"
        return _reply(
            b'{"id":"x","object":"chat.completion","created":1,"model":"fake","choices":[{"index":0,'
            b'"message":{"role":"assistant","content":"The code word is %b%d."},'
            b'"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":6,'
            b'"total_tokens":15}}' % (word, number)
        )


class _Connection(asyncio.Protocol):
    """As much of HTTP/1.1 as a client that behaves needs."""

    def __init__(self, state: _State) -> None:
        self._state = state
        self._buffer = b""
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are of no class of asyncio's.
        self._transport = cast(asyncio.WriteTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end]
            found = _LENGTH.search(head)
            whole = end + 4 + (int(found[1]) if found else 0)
            if len(self._buffer) < whole:
                return
            body, self._buffer = self._buffer[end + 4 : whole], self._buffer[whole:]
            self._handle(head, body)

    def _handle(self, head: bytes, body: bytes) -> None:
        method, path, _ = head.split(b" ", 2)
        if method == b"GET":
            self._write(self._state.page(path))
        elif self._state.delay:
            loop = asyncio.get_running_loop()
            loop.call_later(self._state.delay, self._write, self._state.answer(body))
        else:
            self._write(self._state.answer(body))

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


def _reply(body: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        status,
        len(body),
        body,
    )


class FastServer:
    """The server in a process of its own, on a free port; it counts what holds `counting`."""

    def __init__(self, *, delay: float = 0.0, wrong_every: int = 0, counting: str = "") -> None:
        self._command = [
            *(sys.executable, "-m", "tests.servers.fast"),
            *("--delay", str(delay), "--wrong-every", str(wrong_every), "--counting", counting),
        ]
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.communicate(timeout=10)

    def asked(self) -> Counter[int]:
        """How often each number was asked since the last call."""
        with urlopen(f"{self.url}/asked", timeout=10) as reply:
            pairs: Sequence[tuple[int, int]] = orjson.loads(reply.read())
        return Counter(dict(pairs))


async def _serve(state: _State) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(state), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--wrong-every", type=int, default=0)
    parser.add_argument("--counting", default="")
    given = parser.parse_args()
    uvloop.run(_serve(_State(given.delay, given.wrong_every, given.counting.encode())))


if __name__ == "__main__":
    main()
