"""Cold start: the CPU that a command takes before it does anything."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.meters import evalkit, median, program
from tests.bench.tables import Table
from tests.quiz import write_quiz
from tests.servers.fast import FastServer

STARTS = 5


def measure(_prompts: int | None) -> Table:
    rows = [("`evalkit --help`", _cpu(evalkit("--help")), "0.2")]
    with tempfile.TemporaryDirectory() as name, FastServer() as server:
        quiz = write_quiz(Path(name) / "quiz", 1)
        flags = (
            "-t",
            quiz,
            "-o",
            Path(name) / "run",
            "--fresh",
            "--display",
            "none",
            "--allow-confounded",
        )
        rows.append(
            ("`evalkit run` of one prompt", _cpu(evalkit("run", f"{server.url}#fake", *flags)), "–")
        )
    return Table(("command", f"CPU-s (median of {STARTS})", "goal"), rows)


def _cpu(command: list[str]) -> str:
    return f"{median([program(command).cpu for _ in range(STARTS)]):.2f}"
