"""HTTP clients, side by side: CPU of one more request in a bare loop.

They are installed in an environment of their own, whose Python
`EVALKIT_BENCH_CLIENTS` names; without it only evalkit's own and aiohttp are measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from evalkit import __version__
from tests.bench.bare import CLIENTS, OWN
from tests.bench.contestants import Bare
from tests.bench.meters import median, program
from tests.bench.tables import Table
from tests.servers.fast import FastServer

CONNECTIONS = (64, 256)
SIZES, ROUNDS = (300, 2000), 3
_VERSION = "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))"


def measure(_prompts: int | None) -> Table:
    others = os.environ.get("EVALKIT_BENCH_CLIENTS", sys.executable)
    rows = []
    with tempfile.TemporaryDirectory() as name, FastServer() as server:
        for client in CLIENTS:
            python = sys.executable if client == OWN else others
            version = __version__ if client == OWN else _version(python, client)
            if version is None:
                continue
            bare = Bare("", client=client, python=python)
            cells = [
                f"{1000 * _cost(bare, Path(name), server.url, connections):.3f}"
                for connections in CONNECTIONS
            ]
            rows.append((f"{client} {version}", *cells))
    head = ("client", *(f"CPU-ms a request, {n} connections" for n in CONNECTIONS))
    return Table(head, rows)


def _version(python: str, client: str) -> str | None:
    found = subprocess.run(
        [python, "-c", _VERSION, client], capture_output=True, text=True, check=False
    )
    return None if found.returncode else found.stdout.strip()


def _cost(bare: Bare, folder: Path, url: str, connections: int) -> float:
    few, many = SIZES
    slopes = []
    for _ in range(ROUNDS):
        low, high = (program(bare.command(folder, url, n, connections)).cpu for n in SIZES)
        slopes.append((high - low) / (many - few))
    return median(slopes)
