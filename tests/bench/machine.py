"""Where and when the figures were made."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from evalkit import __version__
from tests.bench.tables import Table

_PACKAGES = ("aiohttp", "uvloop", "orjson")


def measure(_prompts: int | None) -> Table:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    rows = [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d")),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        ("evalkit", __version__),
        *((name, version(name)) for name in _PACKAGES),
        ("load of the machine (1, 5, 15 min)", load),
    ]
    return Table(("what", "value"), rows)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
