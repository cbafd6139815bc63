"""One HTTP exchange: a session, its deadlines, and typed errors without secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp

from evalkit.endpoints.connection import Connection, broken_way
from evalkit.endpoints.credentials import Credentials
from evalkit.endpoints.deadlines import Deadlines, Watch
from evalkit.endpoints.direct import KEEP_ALIVE, Direct, can_send
from evalkit.endpoints.failures import broken_connection
from evalkit.endpoints.http1 import CutShort, Endless, Late, NotAccepted, Sink
from evalkit.endpoints.urls import mask_url
from evalkit.errors import ConnectError, CutBody, EndpointError, ProtocolError, Timeout

_MOST_BYTES = 64 << 20


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
        self._direct: Direct | None = None
        self._places: dict[str, str] = {}

    async def open(self) -> None:
        """Make the session. How many requests are in flight is the caller's matter."""
        context, headers = self._connection.ssl_context, self._credentials.headers
        if context is None and self._connection.proxy is None and can_send(headers):
            self._direct = Direct(headers, self._deadlines.connect, _MOST_BYTES)
            return
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=KEEP_ALIVE,
                ssl=True if context is None else context,
            ),
            timeout=aiohttp.ClientTimeout(connect=self._deadlines.connect),
            headers=headers,
            proxy=self._connection.proxy_url,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._direct is not None:
            self._direct.close()
            self._direct = None
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
        watch = Watch(self._deadlines, total, asyncio.get_running_loop().time())
        if self._direct is not None:
            answer = await self._directly(self._direct, method, url, data, watch, sink)
        else:
            answer = await self._by_session(method, url, data, watch, sink)
        # A page or an error is told in parts: a secret in it must go before it is cut.
        if answer.status != 200 or method == "GET":
            body = self._credentials.scrub_body(answer.body)
            return Answer(answer.status, answer.headers, body)
        return answer

    async def _directly(
        self,
        direct: Direct,
        method: str,
        url: str,
        data: bytes | None,
        watch: Watch,
        sink: Sink | None,
    ) -> Answer:
        try:
            got = await direct.exchange(method, url, data, watch, sink)
        except NotAccepted as error:
            raise self._not_accepted(url) from error
        except Late as error:
            raise Timeout(f"{self.where(url)} {watch.missed}.") from error
        except Endless as error:
            raise _endless(self.where(url)) from error
        except CutShort as error:
            raise self._cut(self.where(url), error.__cause__) from error
        except OSError as error:
            raise self._unreachable(self.where(url), error) from error
        return Answer(got.status, got.headers, got.body)

    async def _by_session(
        self, method: str, url: str, data: bytes | None, watch: Watch, sink: Sink | None
    ) -> Answer:
        if self._session is None:
            raise RuntimeError("an endpoint is used inside 'async with'")
        where = self.where(url)
        timeout = asyncio.timeout_at(watch.when)
        answer = None
        try:
            async with (
                timeout,
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
                body = await _take(response, timeout, watch, taken, where)
                answer = Answer(response.status, response.headers, body)
                await _drain(response, timeout, watch)
                return answer
        except aiohttp.ConnectionTimeoutError as error:
            raise self._not_accepted(url) from error
        except (aiohttp.ClientError, OSError) as error:
            if answer is not None:
                return answer
            if isinstance(error, TimeoutError) and timeout.expired():
                raise Timeout(f"{where} {watch.missed}.") from error
            raise self._broken(where, error, watch) from error

    def _broken(self, where: str, error: Exception, watch: Watch) -> EndpointError:
        blamed = broken_way(error, where, self._connection.proxy)
        if blamed is not None:
            return blamed
        if isinstance(error, aiohttp.ClientPayloadError):
            return self._cut(where, None)
        return self._cut(where, error) if watch.began else self._unreachable(where, error)

    def _not_accepted(self, url: str) -> ConnectError:
        seconds = self._deadlines.connect
        return ConnectError(f"{self.where(url)} accepts no connection within {seconds:g} s.")

    def _cut(self, where: str, cause: BaseException | None) -> CutBody:
        if cause is None:
            return CutBody(f"{where} ended its body early.")
        return CutBody(f"{where} broke off in the middle of its body: {self._reason(cause)}.")

    def _unreachable(self, where: str, error: Exception) -> ConnectError:
        return ConnectError(f"{where} cannot be reached: {self._reason(error)}.")

    def _reason(self, error: BaseException) -> str:
        return self._credentials.scrub(broken_connection(error))


def _endless(where: str) -> ProtocolError:
    return ProtocolError(f"{where} sends a body that does not end.")


def _streams(response: aiohttp.ClientResponse) -> bool:
    return response.status < 300 and response.content_type == "text/event-stream"


async def _take(
    response: aiohttp.ClientResponse,
    limit: asyncio.Timeout,
    watch: Watch,
    sink: Sink | None,
    where: str,
) -> bytes:
    """Return the body, or give it to the sink until that has enough."""
    parts: list[bytes] = []
    size = 0
    while part := await response.content.readany():
        watch.began = True
        if not response.content.at_eof():
            limit.reschedule(watch.rest(asyncio.get_running_loop().time()))
        size += len(part)
        if size > _MOST_BYTES:
            raise _endless(where)
        if sink is None:
            parts.append(part)
        elif sink(part):
            break
    return b"".join(parts)


async def _drain(response: aiohttp.ClientResponse, limit: asyncio.Timeout, watch: Watch) -> None:
    """Wait for the end of a body that is complete, so that its connection can be used again.

    A server that forgets to end it has answered all the same.
    """
    if not response.content.at_eof():
        limit.reschedule(watch.grace(asyncio.get_running_loop().time()))
        while await response.content.readany():
            pass
