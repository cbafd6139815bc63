"""The process between evalkit and a server that it launched: it ends the server, come what may.

It is started by its path, knows nothing of evalkit and imports the standard library alone.
Its standard input is one end of a socket pair; the other one is evalkit's. It reads one line
of JSON (the order), starts the server in a session of its own, and writes one line for what
happens: `{"started": pid}`, `{"failed": text}`, `{"exited": code}`.

When evalkit closes its end, which the system does for it after a crash or SIGKILL, everything
that the server has started is told to end (SIGTERM) and killed after a grace. On Linux orphans
of the server become children of this process (PR_SET_CHILD_SUBREAPER), so that also those
are found that left the process group.

The server's output passes through here, so that keys which it prints do not reach the log.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_SIGKILL_SECONDS = 10.0
_LEFTOVER_SECONDS = 3.0
_TICK = 0.05
_BLOCK = 1 << 16
_PDEATHSIG, _CHILD_SUBREAPER = 1, 36
_LINUX = sys.platform == "linux"


class Guard:
    """One server and everything that comes of it."""

    def __init__(self, channel: socket.socket, order: dict[str, Any]) -> None:
        self._channel = channel
        self._order = order
        self._log = Log(Path(order["log"]), [secret.encode() for secret in order["secrets"]])
        self._parent: int = order["parent"]
        self._selector = selectors.DefaultSelector()
        self._server: subprocess.Popen[bytes] | None = None
        self._stopping = False

    def run(self) -> None:
        """Start the server, watch it until it or evalkit ends, and leave nothing behind."""
        self._listen()
        try:
            server = self._start()
        except (OSError, subprocess.SubprocessError) as error:
            self._tell(failed=getattr(error, "strerror", None) or str(error))
            return
        self._server = server
        self._tell(started=server.pid)
        while not self._stopping and server.poll() is None:
            self._turn(1.0)
            self._reap(server.pid)
            # Somebody may have copied evalkit's end of the pair by a fork.
            self._stopping = self._stopping or os.getppid() != self._parent
        grace = float(self._order["grace"])
        if server.returncode is not None:
            self._turn(0)
            self._tell(exited=server.returncode)
            grace = min(grace, _LEFTOVER_SECONDS)
        self._end(server.pid, grace)
        self._log.close()

    def _listen(self) -> None:
        # A handler and not SIG_IGN, which the server would inherit.
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGTERM, self._on_term)
        woken, wake = socket.socketpair()
        for end in (woken, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        self._wake = wake
        self._selector.register(woken, selectors.EVENT_READ, lambda: woken.recv(_BLOCK))
        self._selector.register(self._channel, selectors.EVENT_READ, self._on_channel)

    def _start(self) -> subprocess.Popen[bytes]:
        prctl = _prctl()
        if prctl is not None:
            prctl(_CHILD_SUBREAPER, 1)

        def in_child() -> None:
            if prctl is not None:
                prctl(_PDEATHSIG, signal.SIGKILL)

        server = subprocess.Popen(
            self._order["command"],
            env={**os.environ, **self._order["env"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=in_child,
        )
        assert server.stdout is not None
        self._output = server.stdout.fileno()
        os.set_blocking(self._output, False)
        self._selector.register(self._output, selectors.EVENT_READ, self._on_output)
        return server

    def _turn(self, seconds: float) -> None:
        for key, _ in self._selector.select(seconds):
            with contextlib.suppress(BlockingIOError):
                key.data()

    def _on_channel(self) -> None:
        try:
            heard = self._channel.recv(_BLOCK)
        except OSError:
            heard = b""
        if not heard:
            self._stopping = True
            self._selector.unregister(self._channel)

    def _on_output(self) -> None:
        while True:
            block = os.read(self._output, _BLOCK)
            if not block:
                self._selector.unregister(self._output)
                self._log.flush()
                return
            self._log.write(block)

    def _on_term(self, *_: object) -> None:
        self._stopping = True

    def _tell(self, **what: object) -> None:
        with contextlib.suppress(OSError):
            self._channel.sendall(json.dumps(what).encode() + b"\n")

    def _end(self, group: int, grace: float) -> None:
        for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, _SIGKILL_SECONDS)):
            deadline = time.monotonic() + patience
            self._signal(group, number)
            while self._alive(group):
                if time.monotonic() > deadline:
                    break
                self._turn(_TICK)
                if number == signal.SIGKILL:
                    self._signal(group, number)
            else:
                break
        self._turn(0)

    def _reap(self, server: int) -> None:
        """Take note of the end of adopted orphans; the server's own is for `Popen`."""
        if not _LINUX:
            return
        with contextlib.suppress(ChildProcessError):
            while True:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if seen is None or seen.si_pid == server:
                    return
                os.waitpid(seen.si_pid, os.WNOHANG)

    def _signal(self, group: int, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        for pid in descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)

    def _alive(self, group: int) -> bool:
        if self._server is not None:
            self._server.poll()
        self._reap(group)
        if _LINUX:
            return bool(descendants())
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True


class Log:
    """The server's log, with keys masked."""

    def __init__(self, path: Path, secrets: list[bytes]) -> None:
        self._file = path.open("ab", buffering=0)
        # The longest first: a shorter one may be a part of it.
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)
        self._rest = b""

    def write(self, block: bytes) -> None:
        """Write whole lines; what follows the last of them waits for its end."""
        if not self._secrets:
            self._put(block)
            return
        data = self._rest + block
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if not end and len(data) > _BLOCK:
            end = len(data) - len(self._secrets[0])
        self._rest = data[end:]
        self._put(self._masked(data[:end]))

    def flush(self) -> None:
        """Write what has no end of line."""
        rest, self._rest = self._rest, b""
        self._put(self._masked(rest))

    def close(self) -> None:
        """Write what is left."""
        self.flush()
        self._file.close()

    def _masked(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, b"***")
        return data

    def _put(self, data: bytes) -> None:
        # On a full disk the server goes on without a log.
        with contextlib.suppress(OSError):
            if data:
                self._file.write(data)


def descendants() -> list[int]:
    """Return the processes that came of this one and still run; none where /proc is missing."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in brackets, may hold anything.
            state, parent = (entry / "stat").read_text("latin-1").rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        children.setdefault(int(parent), []).append(0 if state in "ZX" else int(entry.name))
    found: list[int] = []
    heads = [os.getpid()]
    while heads:
        below = [pid for pid in children.pop(heads.pop(), []) if pid]
        found += below
        heads += below
    return found


def _prctl() -> Any:
    """Return the system call, or `None` where there is none."""
    if not _LINUX:
        return None
    import ctypes

    try:
        return ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None


def _read_order(channel: socket.socket) -> dict[str, Any] | None:
    line = b""
    while not line.endswith(b"\n"):
        block = channel.recv(_BLOCK)
        if not block:
            return None
        line += block
    order: dict[str, Any] = json.loads(line)
    return order


def main() -> None:
    """Read the order and carry it out."""
    # Not as descriptor 0: the server's own standard input takes its place.
    channel = socket.socket(fileno=os.dup(0))
    order = _read_order(channel)
    if order is not None:
        Guard(channel, order).run()


if __name__ == "__main__":
    main()
