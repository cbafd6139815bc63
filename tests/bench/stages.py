"""The stages of a comparison, each against a fake server in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from evalkit import api
from evalkit.config import Config
from evalkit.report.html import render_html
from evalkit.report.view import build_view
from tests.bench.meters import Spent, spent
from tests.bench.tables import Table
from tests.quiz import script, write_quiz

PROMPTS, CONNECTIONS = 2000, 64


def measure(prompts: int | None) -> Table:
    n = prompts or PROMPTS
    with tempfile.TemporaryDirectory() as name, _servers(Path(name), n) as urls:
        return Table(("stage", "CPU-s", "wall s"), _stages(Path(name), urls, n))


def _stages(folder: Path, urls: list[str], n: int) -> list[tuple[str, str, str]]:
    config = Config(tasks=(str(folder / "quiz"),), max_connections=CONNECTIONS)
    targets = [f"{url}#fake" for url in urls]
    runs = [folder / "one", folder / "other"]
    # The first run pays for imports; those after it are what a request costs.
    api.run(targets[0], Config(tasks=config.tasks, limit=10), output=folder / "warm")
    rows = [
        _row(
            f"ask, journal and score {n:,} prompts",
            spent(partial(api.run, target, config, output=out)),
        )
        for target, out in zip(targets, runs, strict=True)
    ]
    compare = partial(api.compare, [str(run) for run in runs], Config(), output=folder / "out")
    rows.append(_row(f"compare two recorded runs of {n:,}", spent(compare)))
    comparison = compare().comparison
    rows.append(_row("render the page", spent(lambda: render_html(build_view(comparison, "en")))))
    return rows


def _row(name: str, cost: Spent) -> tuple[str, str, str]:
    return name, f"{cost.cpu:.2f}", f"{cost.wall:.2f}"


@contextmanager
def _servers(folder: Path, n: int) -> Iterator[list[str]]:
    """Serve a baseline that knows every answer, and a candidate that lost one in fifty."""
    write_quiz(folder / "quiz", n)
    servers = []
    for arm, wrong in (("a", range(0)), ("b", range(n // 50))):
        path = script(n, wrong=wrong).write(folder / f"{arm}.json")
        command = [sys.executable, "-m", "tests.servers.fake", "--script", str(path)]
        servers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    try:
        yield [server.stdout.readline().strip() for server in servers if server.stdout]
    finally:
        for server in servers:
            server.terminate()
            server.communicate(timeout=10)
