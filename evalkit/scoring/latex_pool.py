"""Comparing mathematical expressions in processes that can be killed.

Each process that scores has one worker, started at the first need and again after each that
had to be killed. An expression that is not compared within `CPU_SECONDS` of the processor
is not comparable; it costs these seconds and never a run.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from evalkit.errors import ScoringError
from evalkit.scoring import latex_worker

# The worker's own limit counts seconds of the processor; this one is for a stopped machine.
WALL_SECONDS: Final = 120.0
CPU_SECONDS: Final = 3
_REMEMBERED: Final = 1024
_ENVIRONMENT: Final = ("PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV")


def available() -> bool:
    """Say whether the extra `math` is installed."""
    return find_spec("math_verify") is not None


class Comparer:
    """Compares expressions with math-verify in a process of its own. Safe for threads.

    Args:
        cpu_seconds: Of the processor, for one pair.
    """

    def __init__(self, cpu_seconds: int = CPU_SECONDS) -> None:
        self._cpu_seconds = cpu_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._unread = b""

    def equal(
        self, gold: str, answer: str, *, search: bool = False, strict: bool = True
    ) -> bool | None:
        """Say whether an answer equals the gold one; `None` when that takes too much.

        Args:
            gold: LaTeX between `$`.
            answer: The same, or a text that holds an answer somewhere.
            search: Whether plain numbers of that text may be its answer.
            strict: Whether variables must have the same names.

        Raises:
            ScoringError: When no worker can be started.
        """
        pair = json.dumps({"gold": gold, "answer": answer, "search": search, "strict": strict})
        with self._lock:
            process = self._running()
            try:
                assert process.stdin is not None
                process.stdin.write(pair.encode() + b"\n")
                process.stdin.flush()
                reply = self._read(process)
            except BrokenPipeError:
                reply = None
            if reply is None:
                self._kill()
                return None
            equal: bool | None = reply["equal"]
            return equal

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._kill()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._owner != os.getpid():
            # A fork: the worker belongs to the parent, who waits for its answers.
            self._process = None
        if self._process is None:
            self._process = self._start()
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-P", str(Path(latex_worker.__file__)), str(self._cpu_seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )
        self._process, self._owner, self._unread = process, os.getpid(), b""
        if self._read(process) is None:
            self._kill()
            raise ScoringError(
                "The process that compares LaTeX did not start.",
                hint="Check the extra: pip install 'quant-evalkit[math]'.",
            )
        return process

    def _read(self, process: subprocess.Popen[bytes]) -> dict[str, Any] | None:
        """Return the next reply; `None` when the worker died or says nothing for too long."""
        assert process.stdout is not None
        descriptor = process.stdout.fileno()
        while b"\n" not in self._unread:
            ready, _, _ = select.select([descriptor], [], [], WALL_SECONDS)
            chunk = os.read(descriptor, 65_536) if ready else b""
            if not chunk:
                return None
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue


_COMPARER: Final = Comparer()
atexit.register(_COMPARER.close)


@lru_cache(_REMEMBERED)
def compare(gold: str, answer: str, *, search: bool, strict: bool) -> bool | None:
    """Compare with the worker of this process; see `Comparer.equal`.

    The pairs of late are remembered: arms and repeats often give one answer, and a model that
    loops gives one hostile expression many times.

    Raises:
        ScoringError: When no worker can be started.
    """
    return _COMPARER.equal(gold, answer, search=search, strict=strict)
