"""Runs a program that nobody has read, and says whether it passes its tests.

The plain form: a subprocess with limits, an empty environment, a directory of its own
and whatever namespaces the machine grants. It is used only behind `--allow-code`, and
`layers()` says what protected the machine, for the report.

Three processes take part. This one starts the launcher (`sandbox_doors.py`), which
closes doors and becomes the driver (`sandbox_driver.py`), which forks the answer. The
verdict comes from the driver alone, with a nonce; the answer sees neither tests nor
nonce. A stronger launcher replaces `_command` and nothing else.
"""

from __future__ import annotations

import functools
import json
import os
import secrets
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from evalkit.errors import SandboxError

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
    output, status, errors = _execute(_frames(source, tests, entry_point, limits, nonce), limits)
    verdict = _verdict(output, nonce)
    if verdict is not None:
        return RunResult(
            RunKind(verdict["kind"]), _one_line(verdict["detail"]), float(verdict["seconds"])
        )
    seconds = time.monotonic() - started
    if status is None or -status == signal.SIGXCPU:
        return RunResult(RunKind.TIMEOUT, "no verdict before the deadline", seconds)
    if status < 0:
        return RunResult(RunKind.EXIT, f"the sandbox was killed by signal {-status}", seconds)
    raise SandboxError(f"The sandbox failed: {errors.strip()[-300:] or 'it said nothing'}.")


@functools.cache
def layers() -> tuple[str, ...]:
    """Return the names of the layers that protect this machine, as found by a trial run.

    Raises:
        SandboxError: When the sandbox does not work here at all.
    """
    nonce = secrets.token_hex(16)
    limits = Limits()
    frames = _frames("def f():\n    return 1\n", [[[], 1]], "f", limits, nonce)
    output, _, errors = _execute(frames, limits)
    verdict = _verdict(output, nonce)
    if verdict is None or verdict["kind"] != RunKind.PASSED:
        raise SandboxError(f"The sandbox does not work here: {errors.strip()[-300:]}.")
    return tuple(verdict["layers"])


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
    job = {
        "source": source,
        "entry_point": entry_point,
        "processes": limits.processes,
        "wall_seconds": limits.wall_seconds,
    }
    secret = {"tests": tests if isinstance(tests, str) else list(tests), "nonce": nonce}
    parts = [json.dumps(value).encode() for value in (job, secret)]
    return b"".join(struct.pack("!I", len(part)) + part for part in parts)


@functools.cache
def _inner_source(name: str) -> str:
    return Path(__file__).with_name(f"sandbox_{name}.py").read_text(encoding="utf-8")


def _command(limits: Limits) -> list[str]:
    # `-I` would ignore PYTHONHASHSEED, and the order of a set would then decide whether an
    # answer passes. `-P -s` with an environment of our own isolates as well.
    python = [sys.executable, "-P", "-s", "-S", "-B", "-X", "utf8", "-c"]
    doors, wire, driver = map(_inner_source, ("doors", "wire", "driver"))
    return [*python, doors, json.dumps(asdict(limits)), wire, driver]


def _execute(frames: bytes, limits: Limits) -> tuple[bytes, int | None, str]:
    """Start the launcher; return its output, exit status (`None`: deadline) and errors."""
    with tempfile.TemporaryDirectory(prefix="evalkit-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            _command(limits),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={"PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
        try:
            output, errors = process.communicate(frames, timeout=limits.wall_seconds + _GRACE)
        except subprocess.TimeoutExpired:
            return b"", None, ""
        else:
            return output, process.returncode, errors.decode("utf-8", "replace")
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.communicate()


def _verdict(output: bytes, nonce: str) -> dict[str, Any] | None:
    try:
        verdict = json.loads(output[4:])
    except ValueError:
        return None
    genuine = isinstance(verdict, dict) and secrets.compare_digest(str(verdict.get("nonce")), nonce)
    return verdict if genuine else None
