"""One start of a launched server: its process, its health, its first real answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path

from evalkit.endpoints.base import EndpointOptions
from evalkit.endpoints.connection import Connection
from evalkit.endpoints.credentials import Credentials
from evalkit.endpoints.deadlines import Deadlines
from evalkit.endpoints.launch_process import Order, ServerProcess
from evalkit.endpoints.launch_reasons import Reason, clean, reason_of
from evalkit.endpoints.launch_settings import LaunchSettings
from evalkit.endpoints.openai import OpenAIEndpoint
from evalkit.endpoints.openai_settings import OpenAISettings
from evalkit.endpoints.ports import HOST
from evalkit.endpoints.transport import Transport
from evalkit.endpoints.urls import parse_address
from evalkit.errors import (
    AuthError,
    ConnectError,
    CutBody,
    EndpointError,
    LaunchError,
    NotFoundError,
    RateLimited,
    ServerError,
    Timeout,
)
from evalkit.types import Message, Sampling

_HELLO = (Message("user", "Say OK."),)
_SHORT = Sampling(max_tokens=4)
_FIRST_TRIES = 3
_POLL_SECONDS, _POLL_MOST = 0.05, 1.0
_HEALTH_SECONDS = 5.0
_SLOW = 0
# A server that fails may take this long to end, or to answer again.
_SETTLE_SECONDS = 15.0
_TELL_SECONDS = 15.0
_NO_SUCH_PAGE = {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
_GUARDED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a start of a server lives."""

    port: int
    log: Path


class Server:
    """A server that was started once. It is never started again: another `Server` is."""

    def __init__(
        self, name: str, settings: LaunchSettings, options: EndpointOptions, place: Place
    ) -> None:
        self._name = name
        self._settings = settings
        self._log_path = place.log
        self._notify: Callable[[str], None] = options.notify or _log.info
        self._process: ServerProcess | None = None
        words = tuple(settings.fill(w, port=place.port, log=place.log) for w in settings.command)
        env = {
            name: settings.fill(text, port=place.port, log=place.log)
            for name, text in settings.env.items()
        }
        self._order = Order(
            name=name,
            command=words,
            shown=settings.shown(words),
            # A crash must not take the last lines with it.
            env={"PYTHONUNBUFFERED": "1"} | env,
            log=place.log,
            secrets=settings.secrets(),
            grace=settings.stop_timeout,
        )
        self.port = place.port
        self._root = f"http://{HOST}:{place.port}"
        self.client = OpenAIEndpoint(name, client_settings(settings, self._root), options)
        address = parse_address(self._root)
        self._pages = Transport(
            name,
            Credentials.gather(name, address, settings.api_key_env, settings.headers),
            Deadlines(connect=_HEALTH_SECONDS, total=_HEALTH_SECONDS),
            Connection(),
        )

    async def start(self) -> None:
        """Start the process and open the connections; it is not ready yet.

        Raises:
            LaunchError: When the program cannot be executed.
            StoreError: When the log cannot be written.
        """
        self._notify(f"starting {self._name}: {self._order.shown} (log: {self._log_path})")
        await self._pages.open()
        await self.client.__aenter__()
        self._process = await ServerProcess.start(self._order)

    async def stop(self) -> None:
        """End it with everything that it started, and close the connections."""
        try:
            await self.client.__aexit__(None, None, None)
            await self._pages.close()
        finally:
            if self._process is not None:
                await self._process.stop()

    async def become_ready(self) -> None:
        """Wait until it is healthy and has really answered.

        Raises:
            LaunchError: When it ends before, or takes too long, with the reason from its log.
            AuthError: When it refuses the key.
            NotFoundError: When it does not serve the model.
        """
        seconds = self._settings.ready_timeout
        teller = asyncio.create_task(self._tell_often())
        try:
            async with asyncio.timeout(seconds):
                await self._until_healthy()
                await self._until_answered()
        except TimeoutError:
            raise self._failure(
                f"was not ready within {seconds:g} s", hint="Raise ready_timeout."
            ) from None
        finally:
            teller.cancel()

    async def is_down(self) -> bool:
        """Whether it is gone for good, after an answer failed; it may take a moment to say."""
        deadline = asyncio.get_running_loop().time() + _SETTLE_SECONDS
        while not self.ended:
            status = await self._health()
            # One that is slow to answer is at work: its requests have deadlines of their own.
            if status == _SLOW or (status or 500) < HTTPStatus.INTERNAL_SERVER_ERROR:
                return False
            if asyncio.get_running_loop().time() > deadline:
                return True
            await self._ended_within(_POLL_MOST / 4)
        return True

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process is None or self._process.ended.is_set()

    def reason(self) -> Reason:
        """Say why it ended, or fails; without any key."""
        if self._process is None:
            return Reason("it was not started")
        reason = reason_of(self._process.log_end(), self._process.exit_code)
        return replace(reason, text=self._settings.scrub(reason.text))

    async def _until_healthy(self) -> None:
        delay = _POLL_SECONDS
        while not await self._is_healthy():
            await self._ended_within(delay)
            self._require_process("ended before it was ready")
            delay = min(_POLL_MOST, delay * 1.5)

    async def _until_answered(self) -> None:
        failed, delay = 0, _POLL_SECONDS
        while True:
            try:
                await self.client.send(_HELLO, _SHORT)
            except (AuthError, NotFoundError):
                self._require_process("ended before it was ready")
                raise
            except (ConnectError, CutBody, RateLimited, ServerError, Timeout) as error:
                loading = error.status == HTTPStatus.SERVICE_UNAVAILABLE
                failed += isinstance(error, (CutBody, ServerError)) and not loading
                # Its last words come before its end.
                await self._ended_within(delay)
                if failed == _FIRST_TRIES:
                    await self.is_down()
                    raise self._failure(
                        "says that it is ready and fails the first request "
                        f"({self._settings.scrub(error.message)})"
                    ) from error
                self._require_process("ended at the first request")
                delay = min(_POLL_MOST, delay * 2)
            except EndpointError:
                # A refused field, say: an answer all the same, and the preflight's matter.
                return
            else:
                return

    async def _is_healthy(self) -> bool:
        status = await self._health()
        if status is None or status == _SLOW:
            return False
        missing = self._settings.health is None and status in (_NO_SUCH_PAGE | _GUARDED)
        return status < HTTPStatus.MULTIPLE_CHOICES or missing

    async def _health(self) -> int | None:
        """Return the status of the page, 0 when it takes too long, `None` for no answer."""
        try:
            answer = await self._pages.exchange(
                "GET", self._root + (self._settings.health or "/health")
            )
        except Timeout:
            return _SLOW
        except EndpointError:
            return None
        # Somebody else may listen there meanwhile.
        return None if self.ended else answer.status

    async def _ended_within(self, seconds: float) -> None:
        if self._process is not None:
            try:
                async with asyncio.timeout(seconds):
                    await self._process.ended.wait()
            except TimeoutError:
                return

    def _require_process(self, what: str) -> None:
        if self.ended:
            raise self._failure(what)

    def _failure(self, what: str, hint: str | None = None) -> LaunchError:
        reason = self.reason()
        advice = " ".join(filter(None, (reason.hint or hint, f"Its log: {self._log_path}.")))
        return LaunchError(
            f"Endpoint '{self._name}': its server {what}: {reason.text}.", hint=advice
        )

    async def _tell_often(self) -> None:
        waited = 0.0
        while True:
            await asyncio.sleep(_TELL_SECONDS)
            waited += _TELL_SECONDS
            lines = self._process.log_end() if self._process is not None else []
            last = next((line for line in map(clean, reversed(lines)) if line), "nothing yet")
            shown = self._settings.scrub(last)[:100]
            self._notify(f"{self._name} is not ready after {waited:.0f} s; it says: {shown}")


def client_settings(settings: LaunchSettings, root: str) -> OpenAISettings:
    """Return how to ask a server that listens at an address."""
    shared = {
        name: getattr(settings, name)
        for name in OpenAISettings.model_fields
        if name not in ("kind", "base_url")
    }
    return OpenAISettings(base_url=root, **shared)
