"""A server's process: started through the guard, watched, ended with all that came of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from evalkit.endpoints import launch_guard
from evalkit.errors import LaunchError, StoreError

_TAIL = 1 << 17


@dataclass(frozen=True, slots=True)
class Order:
    """How to start a server.

    Attributes:
        name: Of the endpoint, for messages.
        command: Program and arguments.
        shown: The command as people may read it.
        env: Set beside evalkit's own environment.
        log: Where its output goes; what is there stays.
        secrets: Masked in its output.
        grace: Seconds between SIGTERM and SIGKILL.
    """

    name: str
    command: tuple[str, ...] = field(repr=False)
    shown: str
    env: Mapping[str, str] = field(repr=False)
    log: Path
    secrets: tuple[str, ...] = field(repr=False)
    grace: float


class ServerProcess:
    """A started server. It ends when `stop` is called, or when evalkit ends in any way."""

    def __init__(self, order: Order, guard: subprocess.Popen[bytes], begin: int) -> None:
        self._order = order
        self._guard = guard
        self._begin = begin
        self._writer: asyncio.StreamWriter | None = None
        self._listener: asyncio.Task[None] | None = None
        self.exit_code: int | None = None
        self.ended = asyncio.Event()

    @classmethod
    async def start(cls, order: Order) -> ServerProcess:
        """Start a server; it is not ready yet.

        Raises:
            LaunchError: When the program cannot be executed.
            StoreError: When its log cannot be written.
        """
        own, guards = socket.socketpair()
        try:
            process = _start_guard(order, guards)
        except BaseException:
            own.close()
            raise
        finally:
            guards.close()
        try:
            await process._order_server(own)
        except BaseException:
            own.close()
            await process.stop()
            raise
        return process

    async def stop(self) -> None:
        """End the server and everything that it started, and wait until nothing is left.

        Raises:
            CancelledError: Nothing waits then, and the guard ends the server all the same.
        """
        try:
            if self._writer is not None and self._listener is not None:
                # The end of its input is the guard's order to end the server.
                with contextlib.suppress(OSError):
                    self._writer.write_eof()
                await asyncio.wait([self._listener])
        finally:
            if self._writer is not None:
                self._writer.close()
            if self._listener is not None:
                self._listener.cancel()
        await asyncio.to_thread(self._guard.wait)

    def log_end(self) -> list[str]:
        """Return the last lines of what this server has said since it was started."""
        try:
            with self._order.log.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._begin, size - _TAIL))
                return log.read(_TAIL).decode("utf-8", "replace").splitlines()
        except OSError:
            return []

    async def _order_server(self, own: socket.socket) -> None:
        reader, self._writer = await asyncio.open_unix_connection(sock=own)
        order = {
            "command": self._order.command,
            "env": dict(self._order.env),
            "log": str(self._order.log),
            "secrets": self._order.secrets,
            "grace": self._order.grace,
            "parent": os.getpid(),
        }
        self._writer.write(json.dumps(order).encode() + b"\n")
        await self._writer.drain()
        said = await reader.readline()
        told = json.loads(said) if said else {"failed": "its guard ended"}
        if "failed" in told:
            raise LaunchError(
                f"Endpoint '{self._order.name}': '{self._order.command[0]}' cannot be started: "
                f"{told['failed']}."
            )
        self._listener = asyncio.create_task(self._listen(reader))

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            async for line in reader:
                self.exit_code = json.loads(line).get("exited", self.exit_code)
                self.ended.set()
        if self.exit_code is None:
            # The guard itself was killed, and the system killed the server after it.
            self.exit_code = -signal.SIGKILL
        self.ended.set()


def _start_guard(order: Order, channel: socket.socket) -> ServerProcess:
    try:
        order.log.parent.mkdir(parents=True, exist_ok=True)
        with order.log.open("ab") as log:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            log.write(f"--- {now} evalkit starts: {order.shown}\n".encode("utf-8", "replace"))
            log.flush()
            guard = subprocess.Popen(
                # Isolated: it needs nothing but the standard library.
                [sys.executable, "-I", "-S", launch_guard.__file__],
                stdin=channel.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=log,
                # A Ctrl-C in the terminal is for evalkit, which drains first.
                start_new_session=True,
            )
            return ServerProcess(order, guard, log.tell())
    except OSError as error:
        raise StoreError(f"{order.log} cannot be written: {error.strerror or error}.") from error
