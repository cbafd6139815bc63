"""Two that pass bytes on, on real sockets: a forward proxy, and TLS in front of a server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
from urllib.parse import urlsplit

from tests.servers.raw import RawServer


class TlsFront(RawServer):
    """Speaks TLS with its clients and plain HTTP with the server behind it."""

    def __init__(self, behind: str, context: ssl.SSLContext) -> None:
        super().__init__(self._forward, context)
        self._behind = urlsplit(behind).port

    @property
    def port(self) -> int | None:
        return urlsplit(self.url).port

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await self.connect(self._behind)
        await _join(reader, writer, there, onward)


class ForwardProxy(RawServer):
    """Passes on what it is asked to. `log` holds the first line and the headers of each ask.

    Every name leads to this machine, so that a test can use names that are not there.
    """

    def __init__(self, user: str | None = None, password: str = "") -> None:
        super().__init__(self._ask_for)
        self.log: list[tuple[str, dict[str, str]]] = []
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._wanted = None if user is None else f"Basic {token}"

    async def _ask_for(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.rstrip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        self.log.append((first, headers))
        if self._wanted is not None and headers.get("Proxy-Authorization") != self._wanted:
            writer.write(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            return
        method, target, _ = first.split(" ")
        tunnel = method == "CONNECT"
        port = target.rpartition(":")[2] if tunnel else urlsplit(target).port
        there, onward = await self.connect(port)
        if tunnel:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            onward.write(head.replace(target, urlsplit(target).path, 1).encode())
        await _join(reader, writer, there, onward)


async def _join(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    there: asyncio.StreamReader,
    onward: asyncio.StreamWriter,
) -> None:
    """Copy both ways until one side ends, or the test does."""
    ways = [
        asyncio.ensure_future(_copy(reader, onward)),
        asyncio.ensure_future(_copy(there, writer)),
    ]
    try:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        onward.transport.abort()


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while part := await source.read(65536):
        target.write(part)
        await target.drain()
