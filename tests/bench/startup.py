"""Cold start: the CPU that a command takes before it does anything."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.bench.tables import Table

STARTS = 5


def measure(_prompts: int | None) -> Table:
    seconds = sorted(_help_seconds() for _ in range(STARTS))
    cell = f"{seconds[STARTS // 2]:.2f} CPU-s (median of {STARTS})"
    return Table(("command", "cost"), [("`evalkit --help`", cell)])


def _help_seconds() -> float:
    before = os.times()
    subprocess.run(
        [sys.executable, "-m", "evalkit", "--help"], stdout=subprocess.DEVNULL, check=True
    )
    after = os.times()
    spent = after.children_user - before.children_user
    return spent + after.children_system - before.children_system
