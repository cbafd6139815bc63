"""Which soak finds which leak and which slow-down: `python -m tests.simulate_soak`.

Journals of hours with known faults (tests/soak/journals.py) go through the whole analysis; the
seeds are fixed, so that the tables come out the same. `--write` puts them into docs/soak.md.
A clean soak may say something in 5%; more than chance allows fails the command.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evalkit.stages.soaking import judge
from tests.soak.journals import MB, Course

PAGE = Path(__file__).parent.parent / "docs" / "soak.md"
RUNS = 20
HOURS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
LEAKS = (0.0, 0.5, 1.0, 2.0, 5.0)
NOISES = (3.0, 30.0)
SLOWS = (0.0, 0.02, 0.05, 0.1, 0.2)


def course(kind: str, hours: float, size: float, noise: float = 3.0) -> Course:
    """A soak with a fault: MB a minute, or a share an hour."""
    # As many requests in a long soak as in a short one are enough to judge it.
    requests = 600 if kind == "leak" else 2400
    made = Course(hours=hours, every=hours * 3600 / requests, noise_bytes=noise * MB)
    if kind == "leak":
        return replace(made, memory=lambda t: size * MB * t / 60)
    return replace(made, slower=size)


def found_in(made: Course, code: str | None, runs: int = RUNS) -> int:
    """In how many soaks a code is among the findings; any, for `None`."""
    hit = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(runs):
            replace(made, seed=seed).write(Path(folder))
            codes = [one.code for one in judge(Path(folder)).findings]
            hit += bool(codes) if code is None else code in codes
    return hit


def table(head: str, rows: list[tuple[str, list[int]]]) -> str:
    """Shares as a Markdown table, hours as columns."""
    columns = " | ".join(f"{hours:g} h" for hours in HOURS)
    lines = [f"| {head} | {columns} |", "|---|" + "---|" * len(HOURS)]
    for name, hits in rows:
        lines.append(f"| {name} | " + " | ".join(f"{hit / RUNS:.0%}" for hit in hits) + " |")
    return "\n".join(lines)


def tables() -> Iterator[tuple[str, str, list[list[int]]]]:
    """Each table: its mark in the page, its text, its hits of clean soaks."""
    for noise in NOISES:
        rows = [
            (f"{size:g} MB/min", [found_in(course("leak", h, size, noise), "LEAK") for h in HOURS])
            for size in LEAKS
        ]
        yield f"leak-{noise:g}", table(f"noise {noise:g} MB", rows), [rows[0][1]]
    rows = [
        (f"{size:.0%}/h", [found_in(course("slow", h, size), "SLOWER") for h in HOURS])
        for size in SLOWS
    ]
    yield "slow", table("noise 8% a request", rows), [rows[0][1]]


def most(runs: int) -> float:
    """The most findings of clean soaks that 5% and chance allow."""
    return runs * 0.05 + 3 * math.sqrt(runs * 0.05 * 0.95)


def main() -> int:
    """Print the tables, and put them into the page where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    page, clean = PAGE.read_text(encoding="utf-8") if write else "", 0
    for mark, text, hits in tables():
        print(f"{mark}\n{text}\n")
        clean += sum(map(sum, hits))
        begin, end = f"<!-- {mark} -->", f"<!-- end {mark} -->"
        if write:
            before, _, rest = page.partition(begin)
            page = f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"
    if write:
        PAGE.write_text(page, encoding="utf-8")
    runs = RUNS * len(HOURS) * 3
    print(f"clean soaks in which it was found: {clean} of {runs}, at most {most(runs):.0f}")
    return int(clean > most(runs))


if __name__ == "__main__":
    sys.exit(main())
