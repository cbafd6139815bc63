"""Wall time against the ideal, when each answer takes 50 ms.

The ideal keeps every connection busy from the first request to the last reply. As in the
other tables, the difference between two sizes counts, so that starting does not.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.contestants import Contestant, contestants
from tests.bench.meters import median, program
from tests.bench.tables import Table
from tests.servers.fast import FastServer

LATENCY, ROUNDS = 0.05, 3
TURNS = (10, 70)
GOALS = {64: "1.10", 256: "1.25"}


def measure(_prompts: int | None) -> Table:
    rows = []
    with tempfile.TemporaryDirectory() as name, FastServer(delay=LATENCY) as server:
        taking_part = list(contestants(Path(name)))
        for connections, goal in GOALS.items():
            for one in taking_part:
                ratios = [_ratio(one, Path(name), server.url, connections) for _ in range(ROUNDS)]
                span = f"{min(ratios):.2f} to {max(ratios):.2f}"
                mine = goal if one is taking_part[0] else "–"
                rows.append((str(connections), one.name, f"{median(ratios):.2f}", span, mine))
    head = ("connections", "program", "wall of the ideal", "lowest to highest", "goal")
    return Table(head, rows)


def _ratio(one: Contestant, folder: Path, url: str, connections: int) -> float:
    few, many = (
        program(one.command(folder, url, turns * connections, connections), one.env).wall
        for turns in TURNS
    )
    return (many - few) / ((TURNS[1] - TURNS[0]) * LATENCY)
