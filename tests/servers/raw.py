"""A server below HTTP: what it does with a connection is one coroutine of the test's."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Self

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class RawServer:
    """Runs a handler for each connection, in a thread of this process, on a free port.

    With `context` it speaks TLS.
    """

    def __init__(self, handler: Handler, context: ssl.SSLContext | None = None) -> None:
        self._handler = handler
        self._context = context
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._writers: list[asyncio.StreamWriter] = []
        self._openings: list[asyncio.Future[Streams]] = []
        self.connections = 0
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def connect(self, port: int | str | None) -> Streams:
        """Connect onward to a server of this machine, until the end of this one at the latest."""
        opening = asyncio.ensure_future(asyncio.open_connection("127.0.0.1", port))
        self._openings.append(opening)
        # A connection that is cancelled while it is made is closed by nobody.
        return await asyncio.shield(opening)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            await self._handler(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        start = asyncio.start_server(self._handle, "127.0.0.1", 0, ssl=self._context)
        server = self._loop.run_until_complete(start)
        host, port = server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"
        self._ready.set()
        self._loop.run_forever()
        server.close()
        self._loop.run_until_complete(self._end(asyncio.all_tasks(self._loop)))
        self._loop.close()

    async def _end(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        handling = [task for task in tasks if task not in self._openings]
        for task in handling:
            task.cancel()
        await asyncio.gather(*handling, *self._openings, return_exceptions=True)
        onward = [opening.result()[1] for opening in self._openings if not opening.exception()]
        for writer in (*self._writers, *onward):
            writer.transport.abort()
        # A transport lets go of its socket in the turn after the one that ended it, one that
        # speaks TLS in the turn after that.
        for _ in range(3):
            await asyncio.sleep(0)


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection with RST: what was sent and not read is lost."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Read one request with its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
    return await reader.readexactly(int(fields.get("Content-Length", 0)))
