"""`kind: launch`: a server that evalkit starts by a command, watches and ends.

Requests go through the same client as to every other server. A server that dies in the
middle of a run is started again and asked again what was in flight; one that keeps dying is
an outage.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from evalkit.endpoints.base import ENDPOINTS, SERVER_LOG, EndpointOptions, TimedReply
from evalkit.endpoints.launch_reasons import Reason
from evalkit.endpoints.launch_server import Place, Server, client_settings
from evalkit.endpoints.launch_settings import LaunchSettings
from evalkit.endpoints.openai import OpenAIEndpoint
from evalkit.endpoints.ports import HOST, free_port, require_port
from evalkit.endpoints.settings import check_settings
from evalkit.errors import (
    ConfigError,
    ConnectError,
    CutBody,
    LaunchError,
    ServerError,
    Timeout,
    UsageError,
)
from evalkit.types import Identity, Message, Reply, Sampling

_PORT_TRIES = 3
_KEPT = "What was answered is kept; the same command goes on from there."

T = TypeVar("T")

_log = logging.getLogger(__name__)


class LaunchEndpoint:
    """Starts its server when it is entered and ends it when it is left."""

    def __init__(self, name: str, settings: LaunchSettings, options: EndpointOptions) -> None:
        self._name = name
        self._settings = settings
        self._options = options
        self._server: Server | None = None
        self._left_out: frozenset[str] = frozenset()
        self._deaths: list[str] = []
        self._failed: LaunchError | None = None
        self._mending = asyncio.Lock()
        self._log: Path | None = None

    @property
    def name(self) -> str:
        """Name in the configuration."""
        return self._name

    @property
    def label(self) -> str:
        """Model and program, unless the configuration says otherwise."""
        return self._settings.label or f"{self._settings.model} ({self._settings.program})"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, model={self._settings.model!r})"

    async def __aenter__(self) -> Self:
        """Start the server, and wait for its first real answer.

        Raises:
            ConfigError: When its port is in use.
            LaunchError: When it does not start, with the reason from its log.
            EndpointError: When it refuses the key or does not serve the model.
        """
        self._deaths, self._failed = [], None
        self._log = self._log_path()
        try:
            await self._start()
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the server and everything that it started; the device is free then."""
        await self._stop()
        kept = error is not None and not self._options.redact
        if self._options.log_path is None and self._log is not None and not kept:
            self._log.unlink(missing_ok=True)

    async def identity(self) -> Identity:
        """Read what the server says about itself; the command is part of what it is.

        Raises:
            EndpointError: When the server does not answer.
        """
        served = await self._ask(lambda client: client.identity())
        settings = self._settings
        return replace(
            served,
            kind="launch",
            # The port is another one each time.
            base_url=None,
            command_hash=self.command_hash(),
            details={"command": settings.shown(settings.command), **served.details},
        )

    @property
    def deaths(self) -> tuple[str, ...]:
        """Why the server ended in the middle of work, each time since it was entered."""
        return tuple(self._deaths)

    @property
    def port(self) -> int | None:
        """Where the server listens; `None` while it does not run."""
        return None if self._server is None else self._server.port

    def command_hash(self) -> str:
        """Hash what decides what is served, without starting it."""
        return self._settings.command_hash()

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """Ask once; a request that was in flight when the server died is asked again.

        Raises:
            LaunchError: When the server is gone and was started again too often.
            EndpointError: See `Endpoint.send`.
        """
        return await self._ask(lambda client: client.send(messages, sampling))

    async def send_timed(
        self, messages: tuple[Message, ...], sampling: Sampling, extra: Mapping[str, Any]
    ) -> TimedReply:
        """Ask once, as a stream; see `Timed` and `send`.

        Raises:
            EndpointError: See `send`.
        """
        return await self._ask(lambda client: client.send_timed(messages, sampling, extra))

    def body(self, messages: tuple[Message, ...], sampling: Sampling) -> dict[str, Any]:
        """Return the JSON that `send` would post."""
        return self._running().client.body(messages, sampling)

    def leave_out(self, fields: Collection[str]) -> None:
        """Send these sampling fields no more, also to a server that is started again."""
        self._left_out |= set(fields)
        self._running().client.leave_out(fields)

    def scrub(self, text: str) -> str:
        """Take the endpoint's secrets out of what the server said."""
        return self._running().client.scrub(text)

    async def exchange(self, page: str, data: bytes | None = None) -> tuple[int, bytes]:
        """Get a page of the server, or post to it; see `Inspectable`.

        Raises:
            EndpointError: When there is no whole response.
        """
        return await self._ask(lambda client: client.exchange(page, data))

    async def _ask(self, act: Callable[[OpenAIEndpoint], Awaitable[T]]) -> T:
        while True:
            # While a dead server is replaced there is none.
            async with self._mending:
                server = self._running()
            try:
                return await act(server.client)
            except (ConnectError, CutBody, ServerError, Timeout):
                if not await self._replaced(server):
                    raise

    async def _replaced(self, server: Server) -> bool:
        """Whether another server took the place of one that failed; starts it if need be.

        Raises:
            LaunchError: When it died too often, or does not start any more.
        """
        async with self._mending:
            # Others who were in flight may have been here before.
            if self._running() is not server:
                return True
            if not await server.is_down():
                return False
            reason = server.reason()
            if self._options.redact:
                # From here on its last words may quote a prompt.
                reason = Reason("its last words are redacted")
            self._deaths.append(reason.text)
            if len(self._deaths) > self._settings.restarts:
                self._failed = self._outage(reason)
                raise self._failed
            self._say(f"{self._name} died ({reason.text}); it is started again")
            await self._stop()
            try:
                await self._start()
            except LaunchError as error:
                self._failed = LaunchError(error.message, hint=f"{error.hint} {_KEPT}")
                raise self._failed from error
            return True

    def _outage(self, reason: Reason) -> LaunchError:
        again = " again" if len(self._deaths) > 1 else ""
        log = None if self._options.redact else f"Its log: {self._log}."
        return LaunchError(
            f"The server of endpoint '{self._name}' died{again}: {reason.text}.",
            hint=" ".join(filter(None, (reason.hint, log, _KEPT))),
        )

    async def _start(self) -> None:
        port, log = self._settings.port, self._log
        assert log is not None
        for left in reversed(range(_PORT_TRIES)):
            if port is not None:
                self._require_free(port)
            place = Place(port or free_port(), log)
            self._server = Server(self._name, self._settings, self._options, place)
            try:
                await self._server.start()
                await self._server.become_ready()
                self._server.client.leave_out(self._left_out)
            except LaunchError:
                # Between our look and the server's somebody else may have taken it.
                if port is not None or not left or not self._server.reason().port_taken:
                    raise
                await self._stop()
            else:
                return

    async def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            await server.stop()

    def _running(self) -> Server:
        if self._failed is not None:
            raise LaunchError(self._failed.message, hint=self._failed.hint)
        if self._server is None:
            raise RuntimeError("an endpoint is used inside 'async with'")
        return self._server

    def _require_free(self, port: int) -> None:
        try:
            require_port(port, "Stop what listens there, or choose another port.")
        except UsageError as error:
            raise ConfigError(
                f"Endpoint '{self._name}': {error.message}", hint=error.hint
            ) from None

    def _log_path(self) -> Path:
        if self._options.log_path is not None:
            return self._options.log_path.with_name(SERVER_LOG)
        # A check has no folder; the log stays when something goes wrong.
        descriptor, path = tempfile.mkstemp(prefix=f"evalkit-{self._name}-", suffix=".log")
        os.close(descriptor)
        return Path(path)

    def _say(self, text: str) -> None:
        _log.warning("%s", text)
        if self._options.notify is not None:
            self._options.notify(text)


@ENDPOINTS.register("launch")
def launch_endpoint(name: str, raw: Mapping[str, Any], options: EndpointOptions) -> LaunchEndpoint:
    """Make an endpoint of `kind: launch` from its configuration.

    Raises:
        ConfigError: Naming endpoint and key; also when the program is not there, before
            anything was begun.
    """
    settings = check_settings(LaunchSettings, name, raw)
    missing = settings.missing_program()
    if missing is not None:
        raise ConfigError(
            f"Endpoint '{name}': the program '{settings.shown((missing,))}' is not found.",
            hint="Install it, or give its path.",
        )
    # A key that is missing is said now, not after the model was loaded.
    OpenAIEndpoint(name, client_settings(settings, f"http://{HOST}"), options)
    return LaunchEndpoint(name, settings, options)
