"""Runs a program that nobody has read, and says whether it passes its tests.

It is used only behind `--allow-code`, and `layers()` says what protected the machine, for
the report. Three processes take part: a fork server (`sandbox_server.py` starts it,
`sandbox_doors.py` and `sandbox_zygote.py` are its inside), the driver that it forks for a
run (`sandbox_driver.py`), and the answer, which the driver forks. The verdict comes from
the driver alone, over a socket of this run with a nonce; the answer has neither tests,
nonce nor socket.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from evalkit.errors import SandboxError
from evalkit.scoring.sandbox_server import POOL, Started, is_own_world, level

_GRACE = 5.0


class RunKind(StrEnum):
    """How a run ended."""

    PASSED = "passed"
    SYNTAX = "syntax"
    EXCEPTION = "exception"
    WRONG_RESULT = "wrong_result"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    EXIT = "exit"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use. `processes` counts threads too."""

    cpu_seconds: int = 4
    wall_seconds: float = 15.0
    memory_bytes: int = 512 * 1024 * 1024
    file_bytes: int = 1024 * 1024
    open_files: int = 32
    processes: int = 16


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended, one line of detail, and its wall time in seconds."""

    kind: RunKind
    detail: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return self.kind is RunKind.PASSED


def run_program(
    source: str,
    tests: str | Sequence[Sequence[Any]],
    *,
    entry_point: str,
    limits: Limits | None = None,
) -> RunResult:
    """Run a program in the sandbox and test what it defines.

    Args:
        source: The program. Its output is dropped and its standard input is empty.
        tests: Python source of asserts, which may call anything that the program
            defines; or pairs `[arguments, expected result]` for `entry_point`.
        entry_point: The function that must exist.
        limits: What it may use.

    Raises:
        SandboxError: When the tests are malformed, or the sandbox itself failed, which says
            nothing of the program.
    """
    _check_tests(tests)
    limits = limits or Limits()
    nonce = secrets.token_hex(16)
    started = time.monotonic()
    report = _run(_frames(source, tests, entry_point, limits, nonce), limits)
    if _is_genuine(report, nonce):
        return RunResult(
            RunKind(report["kind"]), _one_line(report["detail"]), float(report["seconds"])
        )
    seconds = time.monotonic() - started
    status = report.get("status")
    if status is None or not os.WIFSIGNALED(status):
        raise SandboxError("The sandbox gave no verdict.", hint="Score again.")
    if report["cpu"] > limits.cpu_seconds / 2 or seconds > limits.wall_seconds:
        return RunResult(RunKind.TIMEOUT, "no verdict before the deadline", seconds)
    detail = f"the tests' process was killed by signal {os.WTERMSIG(status)}"
    return RunResult(RunKind.EXIT, detail, seconds)


def layers() -> tuple[str, ...]:
    """Return the names of the layers that protect this machine, as found by a trial run.

    The first is the level: `bubblewrap`, `unshare` or `limits`.

    Raises:
        SandboxError: When nothing safe works here.
    """
    return _layers(level())


@functools.cache
def _layers(name: str) -> tuple[str, ...]:
    del name
    nonce = secrets.token_hex(16)
    limits = Limits()
    report = _run(_frames("def f():\n    return 1\n", [[[], 1]], "f", limits, nonce), limits)
    if not _is_genuine(report, nonce) or report["kind"] != RunKind.PASSED:
        raise SandboxError(f"The sandbox does not work here: {report.get('detail', report)}.")
    return tuple(report["layers"])


def _check_tests(tests: str | Sequence[Sequence[Any]]) -> None:
    if isinstance(tests, str):
        try:
            compile(tests, "tests.py", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            raise SandboxError(f"The tests are not a Python program: {error}.") from error
    elif not all(len(test) == 2 and isinstance(test[0], list) for test in tests):
        raise SandboxError("Tests are pairs of a list of arguments and an expected result.")
    if not tests:
        raise SandboxError("There are no tests.")


def _one_line(text: str) -> str:
    """Make a hostile program's words fit for reports and terminals."""
    line = " ".join(text.split())[:400]
    return "".join(char if char.isprintable() else "\ufffd" for char in line)


def _frames(
    source: str,
    tests: str | Sequence[Sequence[Any]],
    entry_point: str,
    limits: Limits,
    nonce: str,
) -> bytes:
    job = {"source": source, "entry_point": entry_point, **asdict(limits)}
    secret = {"tests": tests if isinstance(tests, str) else list(tests), "nonce": nonce}
    parts = [json.dumps(value).encode() for value in (job, secret)]
    return b"".join(struct.pack("!I", len(part)) + part for part in parts)


def _run(frames: bytes, limits: Limits) -> dict[str, Any]:
    """Have a fork server run two frames; return the first frame that came back.

    A server that is gone says nothing of the program: another one is asked, once.

    Raises:
        SandboxError: When no server can be started, or none answers.
    """
    for last in (False, True):
        try:
            with POOL.server(level()) as server:
                report = _exchange(server, frames, limits.wall_seconds)
                if not report:
                    raise ConnectionResetError("it ended without a word")
                if not (is_own_world(report.get("layers")) or server.layers[0] == "limits"):
                    raise _Spent(report)
                return report
        except _Spent as spent:
            # Whatever it left behind ends with its server.
            return spent.report
        except (OSError, ValueError) as error:
            if last or isinstance(error, TimeoutError):
                raise SandboxError(f"The sandbox failed: {error}.", hint="Score again.") from error
    raise AssertionError


class _Spent(Exception):
    """A run that leaves its server unfit for another."""

    def __init__(self, report: dict[str, Any]) -> None:
        super().__init__()
        self.report = report


def _exchange(server: Started, frames: bytes, seconds: float) -> dict[str, Any]:
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            socket.send_fds(server.control, [str(seconds).encode()], [theirs.fileno()])
        ours.settimeout(seconds + _GRACE)
        with suppress(BrokenPipeError, ConnectionResetError):
            ours.sendall(frames)
        received = b""
        while len(received) < 4 or len(received) < 4 + struct.unpack_from("!I", received)[0]:
            part = ours.recv(65536)
            if not part:
                return {}
            received += part
    report = json.loads(received[4 : 4 + struct.unpack_from("!I", received)[0]])
    return report if isinstance(report, dict) else {}


def _is_genuine(report: dict[str, Any], nonce: str) -> bool:
    return secrets.compare_digest(str(report.get("nonce")), nonce)
