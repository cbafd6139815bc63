"""Meters: what a program takes from start to end, as the kernel counts it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Spent:
    """CPU seconds (user and system, all threads), wall seconds, and the peak of RSS in KB.

    The kernel adds in a program's ended children, as processes that score.
    """

    cpu: float
    wall: float
    peak: int


def program(command: Sequence[str], env: Mapping[str, str] | None = None) -> Spent:
    """Run a program and say what it took.

    Raises:
        RuntimeError: When it fails, with the end of what it said.
    """
    clock = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in VERDICTS:
        raise RuntimeError(f"{' '.join(command)} failed: {said[-2000:]}")
    wall = time.perf_counter() - clock
    return Spent(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss)


VERDICTS = frozenset({0, 3, 4})
"""Exit codes of a comparison that came to its end."""


def evalkit(*arguments: object) -> list[str]:
    """Return a command line of evalkit, without progress."""
    return [sys.executable, "-m", "evalkit", *map(str, arguments)]


def median(values: Sequence[float]) -> float:
    """Return the upper median: no value is made that was not measured."""
    return sorted(values)[len(values) // 2]
