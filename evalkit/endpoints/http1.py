"""One connection of HTTP/1.1, and the response that is coming in on it.

What a message is, httptools decides (llhttp, the parser of Node.js).
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import httptools
from multidict import CIMultiDict

from evalkit.endpoints.deadlines import Watch

Sink = Callable[[bytes], bool]
"""Takes a part of a body as it comes; says whether the body is complete already."""

_MOST_HEAD = 1 << 18
_WITHOUT_BODY = frozenset({204, 304})
_ZIPPED = frozenset({"gzip", "x-gzip", "deflate"})
# zlib's own head or gzip's, whichever is there.
_ANY_ZIP = 47


class Late(Exception):
    """The watch's deadline has passed."""


class NotAccepted(Exception):
    """No connection stood in time."""


class Endless(Exception):
    """More came than any answer is."""


class CutShort(ConnectionError):
    """The body ended early; the cause says how, if the system told."""


class NotHttp(ConnectionError):
    """What came is no response."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back; the body is empty when a sink took it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Line(asyncio.Protocol):
    """One connection, and the response that is coming in on it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpResponseParser(self)
        # What aiohttp allows a server, and browsers.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self._transport: asyncio.Transport | None = None
        self._done: asyncio.Future[None] | None = None
        self._watch: Watch
        self._timer: asyncio.TimerHandle
        self._fault: BaseException | None = None
        self._kept = True
        self.rested = 0.0

    @property
    def reusable(self) -> bool:
        """Whether another request may go out here."""
        return self._kept and self._transport is not None and not self._transport.is_closing()

    def close(self) -> None:
        """Close it at once."""
        self._kept = False
        if self._transport is not None:
            self._transport.abort()

    async def ask(self, request: bytes, watch: Watch, sink: Sink | None) -> None:
        """Send a request and wait for the end of its response; for the errors see `Direct`."""
        assert self._transport is not None
        self._watch, self._sink = watch, sink
        self._headers: CIMultiDict[str] = CIMultiDict()
        self._body = bytearray()
        self._status = self._received = 0
        self._headed = self._part = self._enough = self._complete = False
        self._unzip: zlib._Decompress | None = None
        self._fault = None
        self._done = self._loop.create_future()
        self._timer = self._loop.call_at(watch.when, self._late)
        # Whatever ends this before its time leaves a response on its way: of no use to others.
        self._kept = False
        self._transport.write(request)
        try:
            await self._done
        finally:
            self._timer.cancel()
            self._done = None

    def response(self) -> Response:
        """Return what came."""
        return Response(self._status, self._headers, bytes(self._body))

    # ---- what asyncio tells ----------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection (asyncio)."""
        # uvloop's transports are of no class of asyncio's.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take what came (asyncio)."""
        if self._done is None or self._done.done():
            # Nobody asked for this.
            self.close()
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError as error:
            self._fault = self._fault or error.__context__ or error
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            # After a whole message: the connection is spoilt, the answer is not.
            self._kept = False
            if not self._complete:
                self._fault = NotHttp("what it sends is not HTTP")
        if self._received > self._most or (self._received > _MOST_HEAD and not self._headed):
            self._fault = self._fault or Endless()
        self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits how it ended (asyncio)."""
        self._kept = False
        if self._done is None or self._done.done():
            return
        if self._enough or (self._headed and exc is None and self._ends_with_connection()):
            self._complete = True
        elif self._headed:
            self._fault = CutShort()
            self._fault.__cause__ = exc
        else:
            self._fault = exc or ConnectionError("Server disconnected")
        self._go_on()

    def _go_on(self) -> None:
        """After something came: end, or move the deadline."""
        assert self._done is not None
        if self._complete and self._unzip is not None and not self._unzip.eof:
            self._fault = self._fault or CutShort()
        if self._fault is not None:
            self._kept = False
            self._done.set_exception(self._fault)
        elif self._complete:
            self.rested = self._loop.time()
            self._done.set_result(None)
        elif self._part:
            self._part = False
            move = self._watch.grace if self._enough else self._watch.rest
            self._move(move(self._loop.time()))

    def _move(self, when: float) -> None:
        # A later deadline is looked at when the earlier one passes: no timer for each part.
        if when < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(when, self._late)

    def _late(self) -> None:
        if self._done is None or self._done.done():
            return
        # Clocks of event loops are coarse.
        if self._loop.time() < self._watch.when - 0.002:
            self._timer = self._loop.call_at(self._watch.when, self._late)
        elif self._enough:
            self._done.set_result(None)
        else:
            self._done.set_exception(Late())

    # ---- what the parser tells -------------------------------------------------------

    def on_message_begin(self) -> None:
        """Notice a second message in answer to one request (httptools)."""
        self._kept = self._kept and not self._complete

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header (httptools)."""
        if not self._complete:
            text = value.decode("utf-8", "surrogateescape")
            self._headers.add(name.decode("latin-1"), text)

    def on_headers_complete(self) -> None:
        """Decide what becomes of the body (httptools)."""
        if not self._complete:
            self._status = self._parser.get_status_code()
            self._headed = self._status >= 200
            if not _streams(self._status, self._headers):
                self._sink = None
            # It was asked not to; some do all the same.
            encoding = self._headers.get("Content-Encoding", "identity").strip().lower()
            if encoding in _ZIPPED:
                self._unzip = zlib.decompressobj(_ANY_ZIP)
            elif encoding != "identity":
                self._fault = NotHttp("it compresses its body in a way that nobody asked for")

    def on_body(self, part: bytes) -> None:
        """Take a part of the body (httptools)."""
        if self._complete or self._enough or self._fault is not None:
            return
        if self._unzip is not None:
            part = self._unzipped(self._unzip, part)
        self._watch.began = self._part = True
        if self._sink is None:
            self._body += part
        else:
            self._enough = self._sink(part)

    def _unzipped(self, unzip: zlib._Decompress, part: bytes) -> bytes:
        try:
            part = unzip.decompress(part, self._most)
        except zlib.error:
            self._fault = NotHttp("its body is not compressed as it says")
            return b""
        self._received += len(part)
        return part

    def on_message_complete(self) -> None:
        """Take note that the response is whole (httptools)."""
        if self._headed:
            self._kept = not self._complete and self._parser.should_keep_alive()
            self._complete = True
        else:
            # 100 Continue and the like: the response is still to come.
            self._headers.clear()

    def _ends_with_connection(self) -> bool:
        """Whether the end of the connection is how the end of this body is told."""
        framed = "Content-Length" in self._headers or "Transfer-Encoding" in self._headers
        return not framed or self._status in _WITHOUT_BODY


def _streams(status: int, headers: Mapping[str, str]) -> bool:
    kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    return status < 300 and kind == "text/event-stream"
