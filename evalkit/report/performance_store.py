"""`performance.json`: what a probe found, written and read with checks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from evalkit.errors import StoreError
from evalkit.performance import (
    LATENCIES,
    PERFORMANCE_VERSION,
    RATES,
    SHARES,
    Performance,
    Point,
)
from evalkit.report.beside import dump_beside, load_beside

PERFORMANCE_FILE: Final = "performance.json"
_AGAIN = "Measure again with 'evalkit probe', or take the file away."


def dump_performance(found: Performance) -> bytes:
    """Return the content of `performance.json`: indented, keys sorted."""
    return dump_beside(found)


def load_performance(folder: Path) -> Performance | None:
    """Read `performance.json` of a folder; `None` when there is none.

    Raises:
        StoreError: When it is broken, no such thing, or of a newer evalkit.
    """
    file = folder / PERFORMANCE_FILE
    found = load_beside(file, _adapter(), version=PERFORMANCE_VERSION, verb="a probe", again=_AGAIN)
    if found is None:
        return None
    if not found.arms or not all(map(_whole, found.points)):
        raise StoreError(f"'{file}' lacks figures that a probe writes.", hint=_AGAIN)
    return found


def _whole(point: Point) -> bool:
    metrics = {*LATENCIES, *RATES}
    arms = point.arms.values()
    figures = all(
        metrics <= arm.quantiles.keys()
        and all(len(values) == len(SHARES) for values in arm.quantiles.values())
        and all(metrics - {"itl"} <= one.medians.keys() for one in arm.repeats)
        for arm in arms
    )
    wanted = metrics - {"itl"} | {"throughput"}
    return figures and all(
        name in point.arms and wanted <= ratios.keys() for name, ratios in point.ratios.items()
    )


@cache
def _adapter() -> TypeAdapter[Performance]:
    return TypeAdapter(Performance)
