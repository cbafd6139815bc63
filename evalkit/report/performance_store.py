"""`performance.json`: what a probe found, written and read with checks."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import orjson
from pydantic import TypeAdapter, ValidationError

from evalkit.errors import StoreError
from evalkit.performance import (
    LATENCIES,
    PERFORMANCE_VERSION,
    RATES,
    SHARES,
    Performance,
    Point,
)
from evalkit.report.store import plain

PERFORMANCE_FILE: Final = "performance.json"
_AGAIN = "Measure again with 'evalkit probe', or take the file away."


def dump_performance(found: Performance) -> bytes:
    """Return the content of `performance.json`: indented, keys sorted."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(plain(found), option=options)


def load_performance(folder: Path) -> Performance | None:
    """Read `performance.json` of a folder; `None` when there is none.

    Raises:
        StoreError: When it is broken, no such thing, or of a newer evalkit.
    """
    file = folder / PERFORMANCE_FILE
    try:
        raw = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"'{file}' cannot be read: {error.strerror}.") from error
    except orjson.JSONDecodeError as error:
        raise StoreError(f"'{file}' is broken JSON: {error}.", hint=_AGAIN) from None
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise StoreError(f"'{file}' has no schema version.", hint=_AGAIN)
    if version > PERFORMANCE_VERSION:
        raise StoreError(f"'{file}' was written by a newer evalkit.", hint="Update evalkit.")
    try:
        found = _adapter().validate_python(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"'{file}' is not what a probe writes: {where}: {first['msg']}."
        raise StoreError(message, hint=_AGAIN) from None
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
