"""How figures of speed are written: short, with their unit, and a dash for none."""

from __future__ import annotations

from collections.abc import Callable

from evalkit.estimates import Estimate
from evalkit.report.numbers import DASH, interval, percent, size

Write = Callable[[float | None], str]


def duration(value: float | None) -> str:
    """Write seconds with three digits: `5.21 ms`, `51.2 ms`, `512 ms`, `5.12 s`."""
    if value is None:
        return DASH
    return f"{significant(value * 1000)} ms" if value < 1 else f"{significant(value)} s"


def rate(value: float | None) -> str:
    """Write a rate with three digits."""
    return DASH if value is None else significant(value)


def times(value: float | None) -> str:
    """Write a ratio: `1.97×`."""
    return DASH if value is None else f"{significant(value)}×"


def significant(value: float) -> str:
    """Write a number with three digits, and separators where it has more.

    >>> significant(0.5), significant(5.214), significant(52.14), significant(5214.3)
    ('0.50', '5.21', '52.1', '5,214')
    """
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:,.{digits}f}"


def estimate(found: Estimate, write: Write) -> str:
    """Write a figure with its interval, as far as there is one."""
    return f"{write(found.value)} {ends_of(found, write)}".strip()


def ends_of(found: Estimate, write: Write) -> str:
    """Write an interval; nothing where neither end is known."""
    return interval(write(found.low).rstrip("×"), write(found.high).rstrip("×"))


def figure(watched: str, value: float) -> str:
    """Write what an alert watches, with its unit."""
    if watched in ("ttft", "itl"):
        return duration(value)
    if watched in ("decode", "prefill", "throughput"):
        return f"{rate(value)} tok/s"
    if watched == "memory":
        return size(value)
    if watched in ("errors", "kv_cache", "acceptance"):
        return percent(value, 2 if value < 0.01 else 1)
    return f"{value:g}"
