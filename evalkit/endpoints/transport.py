"""One HTTP exchange: a session, its deadlines, and typed errors without secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import aiohttp

from evalkit.endpoints.connection import Connection, broken_way
from evalkit.endpoints.credentials import Credentials
from evalkit.endpoints.failures import broken_connection
from evalkit.endpoints.urls import mask_url
from evalkit.errors import ConnectError, CutBody, EndpointError, ProtocolError, Timeout

Sink = Callable[[bytes], bool]
"""Takes a part of a body as it comes; says whether the body is complete already."""

# uvicorn, under most engines, drops a connection that was idle for 5 s: a request that is
# sent at that very moment would be lost.
_KEEP_ALIVE = 4.0
_MOST_BYTES = 64 << 20
_GRACE = 0.5


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds that an exchange may take.

    Attributes:
        connect: Until the connection stands: name, TCP and TLS.
        first_byte: From the start until the first byte of the body. `None`: as long as the
            whole, because a server that does not stream says nothing before it has finished.
        idle: Between two parts of the body.
        total: Everything included.
    """

    connect: float = 10.0
    first_byte: float | None = None
    idle: float = 120.0
    total: float = 300.0


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: its body is empty when a sink took it."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """The connections to one server. Used between `open` and `close`."""

    def __init__(
        self, name: str, credentials: Credentials, deadlines: Deadlines, connection: Connection
    ) -> None:
        self._name = name
        self._credentials = credentials
        self._deadlines = deadlines
        self._connection = connection
        self._session: aiohttp.ClientSession | None = None
        self._places: dict[str, str] = {}

    async def open(self) -> None:
        """Make the session. How many requests are in flight is the caller's matter."""
        context = self._connection.ssl_context
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=_KEEP_ALIVE,
                ssl=True if context is None else context,
            ),
            timeout=aiohttp.ClientTimeout(connect=self._deadlines.connect),
            headers=self._credentials.headers,
            proxy=self._connection.proxy_url,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def where(self, url: str) -> str:
        """Return endpoint and masked URL, for messages."""
        if url not in self._places:
            place = f"Endpoint '{self._name}' ({mask_url(url)})"
            self._places[url] = self._credentials.scrub(place)
        return self._places[url]

    async def exchange(
        self,
        method: str,
        url: str,
        *,
        data: bytes | None = None,
        total: float | None = None,
        sink: Sink | None = None,
    ) -> Answer:
        """Send a request and take the whole response, whatever its status.

        Args:
            method: Of HTTP.
            url: Without credentials.
            data: The body.
            total: Seconds, where the whole must take less than the endpoint's own deadline.
            sink: Takes the body of an event stream.

        Raises:
            ConnectError: Without a connection, or when it breaks before the response.
            Timeout: Naming the deadline that passed, and its seconds.
            CutBody: When the body ends early.
            ProtocolError: When the body does not end.
        """
        if self._session is None:
            raise RuntimeError("an endpoint is used inside 'async with'")
        where = self.where(url)
        watch = _Watch(self._deadlines, total)
        answer = None
        try:
            async with (
                watch.timeout,
                self._session.request(
                    method,
                    url,
                    # aiohttp would look for this kind among all that it knows, each time.
                    data=None if data is None else aiohttp.BytesPayload(data),
                    allow_redirects=False,
                    proxy_headers=self._connection.proxy_headers,
                ) as response,
            ):
                taken = sink if _streams(response) else None
                body = await _take(response, watch, taken, where)
                # A page or an error is told in parts: a secret in it must go before it is cut.
                if response.status != 200 or method == "GET":
                    body = self._credentials.scrub_body(body)
                answer = Answer(response.status, response.headers, body)
                await _drain(response, watch)
                return answer
        except aiohttp.ConnectionTimeoutError as error:
            seconds = self._deadlines.connect
            raise ConnectError(f"{where} accepts no connection within {seconds:g} s.") from error
        except (aiohttp.ClientError, OSError) as error:
            if answer is not None:
                return answer
            raise self._broken(where, error, watch) from error

    def _broken(self, where: str, error: Exception, watch: _Watch) -> EndpointError:
        if isinstance(error, TimeoutError) and watch.timeout.expired():
            return Timeout(f"{where} {watch.missed}.")
        blamed = broken_way(error, where, self._connection.proxy)
        if blamed is not None:
            return blamed
        if isinstance(error, aiohttp.ClientPayloadError):
            return CutBody(f"{where} ended its body early.")
        reason = self._credentials.scrub(broken_connection(error))
        if watch.began:
            return CutBody(f"{where} broke off in the middle of its body: {reason}.")
        return ConnectError(f"{where} cannot be reached: {reason}.")


class _Watch:
    """The deadline that counts at the moment. It moves as the response comes in."""

    def __init__(self, deadlines: Deadlines, total: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle = deadlines.idle
        self._total = deadlines.total if total is None else min(total, deadlines.total)
        now = self._loop.time()
        self._end = now + self._total
        self.began = False
        self.missed = ""
        first = self._total if deadlines.first_byte is None else deadlines.first_byte
        when = self._earlier(now + first, f"did not begin to answer within {first:g} s")
        self.timeout = asyncio.timeout_at(when)

    def rest(self) -> None:
        """Let the time between two parts of the body begin anew."""
        when = self._loop.time() + self._idle
        self.timeout.reschedule(
            self._earlier(when, f"stopped in the middle of its answer for {self._idle:g} s")
        )

    def grace(self) -> None:
        """Give the end of a body that is complete a moment to come."""
        self.timeout.reschedule(min(self._end, self._loop.time() + _GRACE))

    def _earlier(self, when: float, missed: str) -> float:
        if when < self._end:
            self.missed = missed
            return when
        self.missed = f"did not answer within {self._total:g} s"
        return self._end


def _streams(response: aiohttp.ClientResponse) -> bool:
    return response.status < 300 and response.content_type == "text/event-stream"


async def _take(
    response: aiohttp.ClientResponse, watch: _Watch, sink: Sink | None, where: str
) -> bytes:
    """Return the body, or give it to the sink until that has enough."""
    parts: list[bytes] = []
    size = 0
    while part := await response.content.readany():
        watch.began = True
        if not response.content.at_eof():
            watch.rest()
        size += len(part)
        if size > _MOST_BYTES:
            raise ProtocolError(f"{where} sends a body that does not end.")
        if sink is None:
            parts.append(part)
        elif sink(part):
            break
    return b"".join(parts)


async def _drain(response: aiohttp.ClientResponse, watch: _Watch) -> None:
    """Wait for the end of a body that is complete, so that its connection can be used again.

    A server that forgets to end it has answered all the same.
    """
    if not response.content.at_eof():
        watch.grace()
        while await response.content.readany():
            pass
