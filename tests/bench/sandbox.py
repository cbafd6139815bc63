"""What the code sandbox costs: many programs, each in a world of its own."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from evalkit.scoring.sandbox import layers, run_program
from evalkit.scoring.sandbox_server import POOL
from tests.bench.tables import Table

_PROGRAMS = 1000
# As HumanEval's: a few imports, a helper, a loop, seven calls.
_SOURCE = '''
from typing import List
import math

def below_limit(limit: int) -> List[int]:
    """Return the primes below a limit."""
    found = []
    for n in range(2, limit):
        if all(n % d for d in range(2, math.isqrt(n) + 1)):
            found.append(n)
    return found
'''
_TESTS = """
def check(candidate):
    assert candidate(2) == []
    assert candidate(3) == [2]
    assert candidate(10) == [2, 3, 5, 7]
    assert candidate(20) == [2, 3, 5, 7, 11, 13, 17, 19]
    assert len(candidate(100)) == 25
    assert candidate(100)[-1] == 97
    assert all(n % 2 for n in candidate(50)[1:])

check(below_limit)
"""


def measure(programs: int | None) -> Table:
    """Run programs from two threads, and sum up the CPU time of all processes."""
    n = programs or _PROGRAMS
    name = layers()[0]

    def work(share: int) -> None:
        for _ in range(share):
            assert run_program(_SOURCE, _TESTS, entry_point="below_limit").passed

    before, started = _cpu(), time.perf_counter()
    threads = [threading.Thread(target=work, args=(n // 2,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall, used = time.perf_counter() - started, _cpu() - before
    POOL.close()
    head = ("programs", "level", "CPU-ms each", "CPU-s a core of two, for 1,000", "wall s", "goal")
    each = used / n
    row = (
        f"{n:,}",
        name,
        f"{1000 * each:.1f}",
        f"{500 * each:.1f}",
        f"{wall:.1f}",
        "6 CPU-s a core",
    )
    return Table(head, [row])


def _cpu() -> float:
    """Return the CPU seconds of this process and of all that descend from it."""
    own = sum(os.times()[:4])
    ticks = os.sysconf("SC_CLK_TCK")
    return own + sum(sum(map(int, fields[11:15])) for fields in _descendants()) / ticks


def _descendants() -> list[list[str]]:
    stats: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            number, rest = path.read_text("utf-8").rpartition(")")[::2]
        except OSError:
            continue
        stats[int(number.split()[0])] = rest.split()
    family = {os.getpid()}
    while grown := {pid for pid, fields in stats.items() if int(fields[1]) in family} - family:
        family |= grown
    return [stats[pid] for pid in family - {os.getpid()}]
