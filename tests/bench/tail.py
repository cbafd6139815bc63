"""The tail of `evalkit compare`: CPU from the last reply of the last arm to the end.

In it: scoring what was not scored before, comparing, writing every file; processes that
score count too. What was done before it is in the CPU of the whole program. As a program it
is one comparison (`python -m tests.bench.tail FOLDER URL URL`) that leaves its figures in
FOLDER/tail.json.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.meters import median, program
from tests.bench.tables import Table
from tests.quiz import write_quiz
from tests.servers.fast import FastServer

PROMPTS, ROUNDS = 20_000, 3


def measure(prompts: int | None) -> Table:
    n = prompts or PROMPTS
    with (
        tempfile.TemporaryDirectory() as name,
        FastServer() as good,
        FastServer(wrong_every=50) as bad,
    ):
        write_quiz(Path(name) / "quiz", n)
        command = [sys.executable, "-m", "tests.bench.tail", name, good.url, bad.url]
        found, whole = [], []
        for _ in range(ROUNDS):
            whole.append(program(command).cpu)
            found.append(json.loads((Path(name) / "tail.json").read_text("utf-8")))
    cpu, wall = (median([one[key] for one in found]) for key in ("cpu", "wall"))
    what = f"two arms of {n:,} prompts"
    return Table(
        ("comparison", "CPU-s", "wall s", "goal", "CPU-s of the whole program"),
        [(what, f"{cpu:.2f}", f"{wall:.2f}", "1 CPU-s", f"{median(whole):.2f}")],
    )


def compare_once(folder: Path, good: str, bad: str) -> None:
    """Compare as the command line does, and note the time of the last reply."""
    from evalkit import api
    from evalkit.cli.results import Destinations, show_comparison
    from evalkit.collect.events import Event, Finished
    from evalkit.config import Config

    noted: list[tuple[float, float]] = []

    def on_event(_arm: str, event: Event) -> None:
        if isinstance(event, Finished):
            noted.append((_cpu(), time.perf_counter()))

    # The mock server is made to be fast: it fails what a preflight tries.
    config = Config(
        tasks=(str(folder / "quiz"),), max_connections=64, allow_confounded=True, aa=0.0
    )
    compared = api.compare(
        f"{good}#fake",
        f"{bad}#fake",
        config=config,
        output=folder / "out",
        fresh=True,
        listener=api.Listener(on_event=on_event),
    )
    also = Destinations(None, None, None)
    show_comparison(
        compared.content,
        compared.folder,
        lang="en",
        also=also,
        as_json=False,
        pairs=compared.pairs,
    )
    cpu, wall = noted[-1]
    spent = {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall}
    (folder / "tail.json").write_text(json.dumps(spent), "utf-8")


def _cpu() -> float:
    """Return the CPU seconds of this process and of the workers that it has ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    compare_once(Path(sys.argv[1]), *sys.argv[2:])
