"""`comparison.json`: written so that equal comparisons give equal bytes, read with checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import TypeAdapter, ValidationError

from evalkit.errors import StoreError
from evalkit.report.text import without_surrogates
from evalkit.results import SCHEMA_VERSION, Comparison

COMPARISON_FILE: Final = "comparison.json"


def dump_comparison(comparison: Comparison) -> bytes:
    """Return the content of `comparison.json`: indented, keys sorted, one line feed at the end.

    Lone surrogates, which UTF-8 cannot hold, become visible text (`⟦U+D800⟧`).
    """
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(plain(comparison), option=options)


def load_comparison(path: Path) -> Comparison:
    """Read `comparison.json`.

    Args:
        path: The file, or the comparison folder that holds it.

    Raises:
        StoreError: When it is missing, broken, not a comparison, or of a newer evalkit.
    """
    file = path / COMPARISON_FILE if path.is_dir() else path
    try:
        raw = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        raise StoreError(
            f"'{path}' is not a comparison folder: there is no {COMPARISON_FILE} in it."
            if file != path
            else f"'{path}' does not exist.",
            hint="Make one with 'evalkit compare BASELINE CANDIDATE --output DIR'.",
        ) from None
    except OSError as error:
        raise StoreError(f"'{file}' cannot be read: {error.strerror}.") from error
    except orjson.JSONDecodeError as error:
        raise StoreError(f"'{file}' is broken JSON: {error}.") from None
    return _checked(raw, file)


def _checked(raw: Any, file: Path) -> Comparison:
    version = raw.get("schema_version") if isinstance(raw, dict) else None
    if not isinstance(version, int) or isinstance(version, bool):
        raise StoreError(f"'{file}' is not a comparison: it has no schema version.")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"'{file}' was written by a newer evalkit (schema {version}, this one reads "
            f"up to {SCHEMA_VERSION}).",
            hint="Update evalkit.",
        )
    try:
        return _adapter().validate_python(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise StoreError(f"'{file}' is not a valid comparison: {where}: {first['msg']}.") from None


@cache
def _adapter() -> TypeAdapter[Comparison]:
    return TypeAdapter(Comparison)


def plain(value: Any) -> Any:
    """Turn dataclasses, mappings and sequences into what JSON knows."""
    if isinstance(value, str):
        return without_surrogates(str(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {without_surrogates(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value
