"""HTTP/1.1 over plain TCP, as most servers of models speak it, at a fifth of aiohttp's CPU.

One request at a time on a connection; connections are kept for the next one. TLS, proxies
and headers that change how a message is framed stay with aiohttp: see
docs/adr/0006-http-client.md.
"""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

import aiohappyeyeballs
from yarl import URL

from evalkit.endpoints.deadlines import Watch
from evalkit.endpoints.http1 import Late, Line, NotAccepted, Response, Sink

# uvicorn, under most engines, drops a connection that was idle for 5 s: a request that is
# sent at that very moment would be lost.
KEEP_ALIVE = 4.0
_NAME_SECONDS = 10.0
# As browsers do (RFC 8305): the next address is tried when one has not answered by then.
_NEXT_ADDRESS = 0.25
_FRAMING = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "te"}
    | {"trailer", "transfer-encoding", "upgrade"}
)
Place = tuple[str, int]


def can_send(headers: Mapping[str, str]) -> bool:
    """Whether these headers leave the framing of messages alone."""
    return all(name.lower() not in _FRAMING for name in headers)


class Direct:
    """The connections to servers of one endpoint."""

    def __init__(self, headers: Mapping[str, str], connect_seconds: float, most: int) -> None:
        self._headers = dict(headers)
        self._connect_seconds = connect_seconds
        self._most = most
        self._closed = False
        self._targets: dict[tuple[str, str], tuple[Place, bytes]] = {}
        self._idle: defaultdict[Place, deque[Line]] = defaultdict(deque)
        self._addresses: dict[Place, tuple[float, Sequence[aiohappyeyeballs.AddrInfoType]]] = {}

    def close(self) -> None:
        """Close the connections that nobody uses, and each other one when it comes back."""
        self._closed = True
        for lines in self._idle.values():
            for line in lines:
                line.close()
        self._idle.clear()

    async def exchange(
        self, method: str, url: str, data: bytes | None, watch: Watch, sink: Sink | None
    ) -> Response:
        """Send a request and take the whole response.

        Args:
            method: Of HTTP.
            url: Without credentials.
            data: The body.
            watch: Its deadlines.
            sink: Takes the body of an event stream.

        Raises:
            NotAccepted: When no connection stands in time.
            Late: When the watch's deadline passes.
            Endless: When the response does not end.
            CutShort: When the body ends early.
            OSError: When there is no connection, or it breaks before the response.
        """
        place, head = self._target(method, url)
        line = self._kept(place) or await self._connect(place, watch)
        try:
            await line.ask(head + b"\r\n" if data is None else _with_body(head, data), watch, sink)
            return line.response()
        finally:
            if line.reusable and not self._closed:
                self._idle[place].append(line)
            else:
                line.close()

    def _target(self, method: str, url: str) -> tuple[Place, bytes]:
        """Return where a URL leads, and the head of a request up to the length of its body."""
        found = self._targets.get((method, url))
        if found is None:
            parts = URL(url)
            headers = {"Host": parts.host_port_subcomponent, "Accept": "*/*"}
            headers |= {"Accept-Encoding": "identity", **self._headers}
            lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            head = f"{method} {parts.raw_path_qs} HTTP/1.1\r\n{lines}".encode()
            found = (parts.raw_host or "", parts.port or 80), head
            self._targets[method, url] = found
        return found

    def _kept(self, place: Place) -> Line | None:
        lines, now = self._idle[place], asyncio.get_running_loop().time()
        while lines and now - lines[0].rested > KEEP_ALIVE:
            lines.popleft().close()
        while lines:
            line = lines.pop()
            if line.reusable:
                return line
        return None

    async def _connect(self, place: Place, watch: Watch) -> Line:
        loop = asyncio.get_running_loop()
        until = min(watch.when, loop.time() + self._connect_seconds)
        timeout = asyncio.timeout_at(until)
        try:
            async with timeout:
                addresses = await self._resolve(place)
                sock = await aiohappyeyeballs.start_connection(
                    addresses, happy_eyeballs_delay=_NEXT_ADDRESS, interleave=1
                )
                _, line = await loop.create_connection(lambda: Line(self._most), sock=sock)
                return line
        except TimeoutError:
            if timeout.expired():
                raise Late if until == watch.when else NotAccepted from None
            raise

    async def _resolve(self, place: Place) -> Sequence[aiohappyeyeballs.AddrInfoType]:
        loop = asyncio.get_running_loop()
        until, found = self._addresses.get(place, (0.0, ()))
        if loop.time() >= until:
            found = await loop.getaddrinfo(*place, type=socket.SOCK_STREAM)
            self._addresses[place] = loop.time() + _NAME_SECONDS, found
        return found


def _with_body(head: bytes, data: bytes) -> bytes:
    return b"%bContent-Length: %d\r\n\r\n%b" % (head, len(data), data)
