"""Several servers behind one name: they serve the same, and one that is down is survived."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from evalkit.endpoints.base import Endpoint, EndpointOptions, Inspectable, Timed, TimedReply
from evalkit.errors import ConnectError, EndpointError, NotFoundError, ServerError, Timeout
from evalkit.fingerprint import identity_key
from evalkit.types import Identity, Message, Reply, Sampling

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
# A gateway without a server behind it, a server that loads, and a gateway that waits in vain.
_UNAVAILABLE = frozenset({502, 503, 504})
# Evidence beside the key that tells one build from another.
_TELLING = ("root", "n_params", "size")

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Server(Endpoint, Inspectable, Timed, Protocol):
    """An endpoint with an address."""

    @property
    def url(self) -> str:
        """Base of its API, without credentials."""


class ReplicatedEndpoint:
    """Gives each request to the server with the fewest in flight.

    A server that cannot be reached is left out for a moment, each time for longer; then one
    request tries it, after its identity was read again. It retries nothing itself: the
    runner's next try goes to another server.
    """

    def __init__(
        self,
        name: str,
        label: str,
        servers: Sequence[Server],
        options: EndpointOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._label = label
        self._options = options
        self._clock = clock
        self._replicas = [_Replica(server) for server in servers]
        self._reference: Identity | None = None
        self._stack = AsyncExitStack()

    @property
    def name(self) -> str:
        """Name in the configuration."""
        return self._name

    @property
    def label(self) -> str:
        """Model and hosts, unless the configuration says otherwise."""
        return self._label

    @property
    def url(self) -> str:
        """All addresses, in alphabetical order, with spaces between them."""
        return " ".join(sorted(replica.url for replica in self._replicas))

    @property
    def servers(self) -> tuple[Server, ...]:
        """All of them; see `Several`."""
        return tuple(replica.server for replica in self._replicas)

    def __repr__(self) -> str:
        return f"ReplicatedEndpoint({self._name!r}, {self.url!r})"

    async def __aenter__(self) -> Self:
        """Open every session."""
        async with AsyncExitStack() as stack:
            for replica in self._replicas:
                await stack.enter_async_context(replica.server)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close them, and write down what each server did."""
        await self._stack.aclose()
        self._report()

    async def identity(self) -> Identity:
        """Read every server's identity; equal whichever of them are up.

        Raises:
            EndpointError: When none can be reached, one refuses, or two differ.
        """
        asked = [replica for replica in self._replicas if replica.refusal is None]
        found = await asyncio.gather(*(self._read(replica) for replica in asked))
        known = [
            (replica, one)
            for replica, one in zip(asked, found, strict=True)
            if isinstance(one, Identity)
        ]
        if not known:
            raise next((e for e in found if isinstance(e, EndpointError)), self._none_left())
        first, self._reference = known[0]
        for replica, identity in known:
            if differing := _differences(self._reference, identity):
                raise EndpointError(
                    f"The servers of endpoint '{self._name}' differ: "
                    f"{_told(differing, first.url, replica.url)}.",
                    hint="Give a server that serves something else a name of its own.",
                )
            replica.alive()
        return replace(self._reference, base_url=self.url)

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """Ask one server once.

        Raises:
            NotFoundError: When every server turned into something else.
            EndpointError: See `Endpoint.send`.
        """
        return await self._ask(lambda server: server.send(messages, sampling))

    async def send_timed(
        self, messages: tuple[Message, ...], sampling: Sampling, extra: Mapping[str, Any]
    ) -> TimedReply:
        """Ask one server once, as a stream; see `Timed`.

        Raises:
            EndpointError: See `send`.
        """
        return await self._ask(lambda server: server.send_timed(messages, sampling, extra))

    async def _ask(self, act: Callable[[Server], Awaitable[T]]) -> T:
        replica = self._choose()
        replica.in_flight += 1
        began = self._clock()
        try:
            if not replica.trusted:
                await self._verify(replica)
            reply = await act(replica.server)
        except EndpointError as error:
            replica.failed += 1
            if not _gone(error):
                replica.alive()
            elif replica.strike(began, self._clock()):
                _log.info("%s is left out for a while: %s", replica.url, error)
            raise
        finally:
            replica.in_flight -= 1
        replica.answered += 1
        replica.alive()
        return reply

    def body(self, messages: tuple[Message, ...], sampling: Sampling) -> dict[str, Any]:
        """Return the JSON that `send` would post, to whichever server."""
        return self._replicas[0].server.body(messages, sampling)

    def leave_out(self, fields: Collection[str]) -> None:
        """Send these sampling fields no more."""
        for replica in self._replicas:
            replica.server.leave_out(fields)

    def scrub(self, text: str) -> str:
        """Take the secrets of every server out of a text."""
        for replica in self._replicas:
            text = replica.server.scrub(text)
        return text

    async def exchange(self, page: str, data: bytes | None = None) -> tuple[int, bytes]:
        """Get a page of one server, or post to it; see `Inspectable`.

        Raises:
            EndpointError: When there is no whole response.
        """
        replica = self._choose()
        replica.in_flight += 1
        try:
            return await replica.server.exchange(page, data)
        finally:
            replica.in_flight -= 1

    def _choose(self) -> _Replica:
        usable = [replica for replica in self._replicas if replica.refusal is None]
        if not usable:
            raise self._none_left()
        now = self._clock()
        ready = [replica for replica in usable if replica.ready(now)]
        # With none ready an error is better than silence: the runner knows outages.
        return min(ready or usable, key=lambda one: (one.in_flight, one.out_until, one.taken))

    def _none_left(self) -> NotFoundError:
        said = self._replicas[0].refusal
        return NotFoundError(f"No server of endpoint '{self._name}' is left: {said}")

    async def _read(self, replica: _Replica) -> Identity | EndpointError:
        began = self._clock()
        try:
            return await replica.server.identity()
        except EndpointError as error:
            if not _gone(error):
                raise
            replica.strike(began, self._clock())
            _log.info("%s is left out for a while: %s", replica.url, error)
            return error

    async def _verify(self, replica: _Replica) -> None:
        """Make sure that a server is what the others are, before it answers anything.

        Raises:
            ConnectError: When it is something else; it is never asked again.
            EndpointError: When it cannot be asked.
        """
        found = await replica.server.identity()
        if self._reference is None:
            self._reference = found
        differing = _differences(self._reference, found)
        if differing:
            changed = ", ".join(f"{key} {old!r} → {new!r}" for key, (old, new) in differing.items())
            replica.refusal = f"{replica.url} came back as something else ({changed})."
            self._tell(f"{self._name}: {replica.refusal} It is left out.")
            raise ConnectError(replica.refusal)

    def _report(self) -> None:
        log_path = self._options.log_path
        if log_path is None or not any(replica.taken for replica in self._replicas):
            return
        shares = ", ".join(f"{replica.url} {replica.answered}" for replica in self._replicas)
        self._tell(f"{self._name}: answers by server: {shares}")
        with log_path.open("a", encoding="utf-8") as log:
            log.writelines(f"{replica.account()}\n" for replica in self._replicas)

    def _tell(self, text: str) -> None:
        (self._options.notify or _log.info)(text)


class _Replica:
    """One server and how it has been doing."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.url = server.url
        self.in_flight = self.answered = self.failed = self.strikes = self.outs = 0
        self.out_until = self._struck = 0.0
        self.trusted = False
        self.refusal: str | None = None

    @property
    def taken(self) -> int:
        return self.answered + self.failed

    def ready(self, now: float) -> bool:
        """Whether it may be asked: one that was out gets one request to begin with."""
        return now >= self.out_until and (self.trusted or self.in_flight == 0)

    def strike(self, began: float, now: float) -> bool:
        """Leave it out; say whether this is news. What began before the last time is none."""
        if self.strikes and began <= self._struck:
            return False
        self.strikes += 1
        self.outs += 1
        self._struck = now
        self.out_until = now + min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self.strikes - 1))
        self.trusted = False
        return True

    def alive(self) -> None:
        """Give it its share again."""
        self.trusted = True
        self.strikes, self.out_until = 0, 0.0

    def account(self) -> str:
        said = f"{self.url}: {self.answered} answered, {self.failed} failed, {self.outs} times out"
        return said if self.refusal is None else f"{said}; left out: {self.refusal}"


def _gone(error: EndpointError) -> bool:
    """Whether an error speaks of the server, and not of this request."""
    if isinstance(error, (ConnectError, Timeout)):
        return True
    return isinstance(error, ServerError) and error.status in _UNAVAILABLE


def _differences(one: Identity, other: Identity) -> Mapping[str, tuple[Any, Any]]:
    a, b = _telling(one), _telling(other)
    keys = sorted({*a, *b})
    return {key: (a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key)}


def _telling(identity: Identity) -> dict[str, Any]:
    own = {key: identity.details.get(key) for key in _TELLING}
    return {**own, **identity_key(identity), "base_url": None}


def _told(differing: Mapping[str, tuple[Any, Any]], one: str, other: str) -> str:
    return "; ".join(
        f"{key} is {a!r} at {one}, {b!r} at {other}" for key, (a, b) in differing.items()
    )
