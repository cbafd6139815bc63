"""The tail of `evalkit compare`: CPU from the last reply of the last arm to the end.

In it: scoring both arms, comparing, writing every file. As a program it is one comparison
(`python -m tests.bench.tail FOLDER URL URL`) that leaves its figures in FOLDER/tail.json.
"""

from __future__ import annotations

import json
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
        found = []
        for _ in range(ROUNDS):
            program(command)
            found.append(json.loads((Path(name) / "tail.json").read_text("utf-8")))
    cpu, wall = (median([one[key] for one in found]) for key in ("cpu", "wall"))
    what = f"two arms of {n:,} prompts"
    return Table(
        ("comparison", "CPU-s", "wall s", "goal"), [(what, f"{cpu:.2f}", f"{wall:.2f}", "1 CPU-s")]
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
            noted.append((time.process_time(), time.perf_counter()))

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
    show_comparison(compared.content, compared.folder, lang="en", also=also, as_json=False)
    cpu, wall = noted[-1]
    spent = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    (folder / "tail.json").write_text(json.dumps(spent), "utf-8")


if __name__ == "__main__":
    compare_once(Path(sys.argv[1]), *sys.argv[2:])
