"""`python -m tests.bench [NAME...] [--prompts N] [--write]`: run benchmarks, print Markdown.

To add one: a module here with `measure(prompts) -> Table`, its line in BENCHMARKS, and
its two marks in docs/benchmarks.md, between which `--write` puts the table.
"""

from __future__ import annotations

import argparse
import importlib

from tests.bench.page import PAGE, put

BENCHMARKS = {
    "machine": "where and when",
    "requests": "CPU of one more request",
    "waiting": "wall time against the ideal",
    "memory": "peak memory",
    "tail": "from the last reply to the report",
    "explorer": "the page's explorer",
    "startup": "cold start",
    "sandbox": "programs in the sandbox",
    "clients": "HTTP clients in a bare loop",
    "statistics": "the statistics",
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--prompts", type=int, help="size, where a benchmark has one")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(BENCHMARKS)}")
    for name in arguments.names or BENCHMARKS:
        module = importlib.import_module(f"tests.bench.{name}")
        text = module.measure(arguments.prompts).markdown()
        print(f"{name}: {BENCHMARKS[name]}\n\n{text}", flush=True)
        if arguments.write:
            PAGE.write_text(put(PAGE.read_text("utf-8"), name, text), "utf-8")


if __name__ == "__main__":
    main()
