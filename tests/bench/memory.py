"""Peak memory of `evalkit run`, and how it grows with the prompts."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.bench.contestants import Evalkit
from tests.bench.meters import program
from tests.bench.tables import Table
from tests.servers.fast import FastServer

SMALL, LARGE, CONNECTIONS = 20_000, 100_000, 64


def measure(prompts: int | None) -> Table:
    large = prompts or LARGE
    small = large * SMALL // LARGE
    with tempfile.TemporaryDirectory() as name, FastServer() as server:
        low, high = (
            program(Evalkit("").command(Path(name), server.url, n, CONNECTIONS)).peak
            for n in (small, large)
        )
    grown = f"{(high - low) / (large - small):.2f} KB"
    return Table(
        ("prompts", "peak RSS", "goal"),
        [
            (f"{small:,}", f"{low / 1024:.0f} MB", "–"),
            (f"{large:,}", f"{high / 1024:.0f} MB", "–"),
            ("growth for each", grown, "1 KB"),
        ],
    )
