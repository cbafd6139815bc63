"""Files of results that lie beside a comparison: read with checks, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import TypeAdapter, ValidationError

from evalkit.errors import StoreError
from evalkit.report.store import plain

T = TypeVar("T")


def dump_beside(found: Any) -> bytes:
    """Return the content of such a file: indented, keys sorted."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(plain(found), option=options)


def load_beside(
    file: Path, adapter: TypeAdapter[T], *, version: int, verb: str, again: str
) -> T | None:
    """Read such a file; `None` when there is none.

    Args:
        file: Where it lies.
        adapter: Of what it holds.
        version: The newest schema that is understood.
        verb: Who writes it, as in `a probe`.
        again: What to do when it is broken.

    Raises:
        StoreError: When it is broken, no such thing, or of a newer evalkit.
    """
    try:
        raw = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"'{file}' cannot be read: {error.strerror}.") from error
    except orjson.JSONDecodeError as error:
        raise StoreError(f"'{file}' is broken JSON: {error}.", hint=again) from None
    found = raw.get("schema_version") if isinstance(raw, dict) else None
    if not isinstance(found, int) or isinstance(found, bool):
        raise StoreError(f"'{file}' has no schema version.", hint=again)
    if found > version:
        raise StoreError(f"'{file}' was written by a newer evalkit.", hint="Update evalkit.")
    try:
        return adapter.validate_python(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"'{file}' is not what {verb} writes: {where}: {first['msg']}."
        raise StoreError(message, hint=again) from None
