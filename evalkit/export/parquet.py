"""Parquet: one typed row a request, of every arm in one file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from evalkit.errors import MissingExtraError, StoreError
from evalkit.export.base import Export
from evalkit.export.flat import COLUMNS, flat
from evalkit.fingerprint import canonical

INSTALL = "pip install 'quant-evalkit[parquet]'"
_ROWS = 4096
_WHOLE = {"epoch", "text_length", "prompt_tokens", "completion_tokens", "attempts",
          "scorer_version"}  # fmt: skip
_REAL = {"seconds", "first_token_seconds", "value"}


def write_parquet(export: Export, path: Path) -> int:
    """Write a file, as a whole or not at all.

    Returns:
        The number of its rows.

    Raises:
        MissingExtraError: When pyarrow is not installed.
        StoreError: When it cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtraError("Parquet", INSTALL) from error
    schema = _schema(pa).with_metadata({"evalkit": _about(export)})
    rows = (flat(run, row) for run in export.runs for row in run.rows())
    making = path.with_name(f".{path.name}.part")
    n = 0
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(making, schema, compression="zstd") as writer:
            for batch in _batches(rows):
                n += len(batch)
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
        making.replace(path)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        making.unlink(missing_ok=True)
    return n


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, _ROWS)):
        yield batch


def _schema(pa: Any) -> Any:
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    other = {
        "messages": pa.list_(message),
        "flags": pa.list_(pa.string()),
        "started": pa.timestamp("us", tz="UTC"),
        "redacted": pa.bool_(),
    }

    def kind(column: str) -> Any:
        if column in _WHOLE:
            return pa.int64()
        return pa.float64() if column in _REAL else other.get(column, pa.string())

    return pa.schema([(column, kind(column)) for column in COLUMNS])


def _about(export: Export) -> str:
    return canonical(
        {
            "name": export.name,
            "runs": [run.facts() for run in export.runs],
            "verdicts": {one.candidate: one.state for one in export.verdicts},
        }
    )
