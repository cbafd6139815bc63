"""Two that pass bytes on, on real sockets: a forward proxy, and TLS in front of a server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import ssl
import threading
from typing import Self
from urllib.parse import urlsplit


class _Forwarder:
    """A server in a thread of this process, on a free port of the loopback address."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.port = 0
        self._context = context
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        # A client that refuses the certificate is no news here.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        server = self._loop.run_until_complete(self._serve())
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self) -> asyncio.Server:
        server = await asyncio.start_server(self._guard, "127.0.0.1", 0, ssl=self._context)
        self.port = server.sockets[0].getsockname()[1]
        return server

    async def _guard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await self.handle(reader, writer)
        writer.transport.abort()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError


class TlsFront(_Forwarder):
    """Speaks TLS with its clients and plain HTTP with the server behind it."""

    def __init__(self, behind: str, context: ssl.SSLContext) -> None:
        super().__init__(context)
        self._behind = urlsplit(behind).port

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection("127.0.0.1", self._behind)
        await _join(reader, writer, there, onward)


class ForwardProxy(_Forwarder):
    """Passes on what it is asked to. `log` holds the first line and the headers of each ask.

    Every name leads to this machine, so that a test can use names that are not there.
    """

    def __init__(self, user: str | None = None, password: str = "") -> None:
        super().__init__()
        self.log: list[tuple[str, dict[str, str]]] = []
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._wanted = None if user is None else f"Basic {token}"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        there, onward = await asyncio.open_connection("127.0.0.1", port)
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
    """Copy both ways until one side ends."""
    ways = [
        asyncio.ensure_future(_copy(reader, onward)),
        asyncio.ensure_future(_copy(there, writer)),
    ]
    try:
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
