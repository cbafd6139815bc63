"""A run as a program, for tests that kill it: `python -m tests.collect.program URL FOLDER N`.

With `--fork` it reads such arguments from lines of its input, starts a run for each in a
child that needs no imports any more, prints the child's process id and, when it has ended,
its exit code.
"""

from __future__ import annotations

import asyncio
import os
import sys
from functools import cache
from pathlib import Path

from evalkit.collect.events import Event, Limits, RunSummary
from evalkit.collect.interrupts import run_with_signals
from evalkit.collect.journal import RunFolder
from evalkit.collect.runner import collect
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from tests.collect.builders import requests

built = cache(requests)


def run_once(url: str, path: Path, count: int, connections: int, *, quiet: bool = False) -> int:
    def on_event(event: Event) -> None:
        if not quiet:
            sys.stdout.write(type(event).__name__ + "\n")
            sys.stdout.flush()

    async def run(stop: asyncio.Event) -> RunSummary:
        raw = {"kind": "openai", "base_url": url, "model": "fake"}
        async with parse_endpoint("mine", raw, EndpointOptions()) as endpoint:
            with RunFolder.create_or_open(path) as folder:
                asked = built(count)
                limits = Limits(max_connections=connections)
                return await collect(
                    endpoint, asked, folder, limits=limits, on_event=on_event, stop=stop
                )

    try:
        summary = run_with_signals(run)
    except KeyboardInterrupt:
        return 131
    return 130 if summary.interrupted else 0


def fork_runs() -> None:
    for line in sys.stdin:
        url, folder, count, connections = line.rstrip("\n").split("\t")
        built(int(count))
        child = os.fork()
        if child == 0:
            os._exit(run_once(url, Path(folder), int(count), int(connections), quiet=True))
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def main() -> int:
    if sys.argv[1] == "--fork":
        fork_runs()
        return 0
    return run_once(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), 4)


if __name__ == "__main__":
    sys.exit(main())
