"""CPU of one more request: the slope between two sizes, so that starting does not count."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.contestants import Contestant, contestants
from tests.bench.meters import median, program
from tests.bench.tables import Table
from tests.servers.fast import FastServer

SMALL, LARGE, CONNECTIONS, ROUNDS = 2000, 20_000, 64, 3


def measure(prompts: int | None) -> Table:
    large = prompts or LARGE
    small = large * SMALL // LARGE
    with tempfile.TemporaryDirectory() as name, FastServer() as server:
        folder = Path(name)
        taking_part = list(contestants(folder))
        # In turns, so that what else the machine does meets all of them alike.
        rounds = [
            [_slope(one, folder, server.url, small, large) for one in taking_part]
            for _ in range(ROUNDS)
        ]
    costs = [median(column) for column in zip(*rounds, strict=True)]
    rows = []
    for one, column, cost in zip(taking_part, zip(*rounds, strict=True), costs, strict=True):
        span = f"{1000 * min(column):.3f} to {1000 * max(column):.3f}"
        sizes = " and ".join(f"{n:,}" for n in _sizes(one, small, large))
        rows.append((one.name, sizes, f"{1000 * cost:.3f}", span, f"{cost / costs[0]:.2f}"))
    head = ("program", "prompts", "CPU-ms a request", "lowest to highest", "of evalkit's")
    return Table(head, rows)


def _sizes(one: Contestant, small: int, large: int) -> tuple[int, int]:
    return int(small * one.share), int(large * one.share)


def _slope(one: Contestant, folder: Path, url: str, small: int, large: int) -> float:
    sizes = _sizes(one, small, large)
    low, high = (program(one.command(folder, url, n, CONNECTIONS), one.env).cpu for n in sizes)
    return (high - low) / (sizes[1] - sizes[0])
