"""A server below HTTP: what it does with a connection is one coroutine of the test's."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable
from typing import Self

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
        self.connections = 0
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
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
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()


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
