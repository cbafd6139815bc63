"""Meters: CPU and wall seconds of this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Spent:
    """Seconds of CPU (all threads of this process) and of wall time."""

    cpu: float
    wall: float


def spent(work: Callable[[], object]) -> Spent:
    """Do some work and say what it took."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return Spent(time.process_time() - cpu, time.perf_counter() - wall)
