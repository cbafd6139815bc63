"""A run as a program, for tests that kill it: `python -m tests.collect.program URL FOLDER N`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from evalkit.collect.events import Event, Limits, RunSummary
from evalkit.collect.interrupts import run_with_signals
from evalkit.collect.journal import RunFolder
from evalkit.collect.runner import collect
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from tests.collect.builders import requests


def main() -> int:
    url, path, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])

    def on_event(event: Event) -> None:
        sys.stdout.write(type(event).__name__ + "\n")
        sys.stdout.flush()

    async def run(stop: asyncio.Event) -> RunSummary:
        raw = {"kind": "openai", "base_url": url, "model": "fake"}
        async with parse_endpoint("mine", raw, EndpointOptions()) as endpoint:
            with RunFolder.create_or_open(path) as folder:
                asked = requests(count)
                limits = Limits(max_connections=4)
                return await collect(
                    endpoint, asked, folder, limits=limits, on_event=on_event, stop=stop
                )

    try:
        summary = run_with_signals(run)
    except KeyboardInterrupt:
        return 131
    return 130 if summary.interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
