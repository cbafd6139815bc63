"""Rows from CSV and TSV files, as spreadsheets write them."""

from __future__ import annotations

import csv
import difflib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalkit.errors import TasksetError
from evalkit.tasksets.head import Head, is_field
from evalkit.tasksets.rows import Row, checked, mapped

# Phrases of the facts scorer come in lists; a single one needs no separator.
_LISTS = frozenset({"target.aliases", "target.rivals", "target.corrections"})
_STRUCTURED = ("target", "metadata", "messages")
_BOOLEANS = {"true": True, "false": False}


def table_rows(
    lines: Iterable[str], head: Head, file: str, *, delimiter: str, first: int = 1
) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a table, each with the line on which it begins.

    The first row that is not blank names the columns. A cell of `target...`, `metadata...`
    or `messages` that begins with `{` or `[` is JSON, and `true` and `false` are what they
    say; every other cell is text. Without an `id` a row is named by its place.

    Args:
        lines: Of the file, as they end.
        head: Says which column holds what.
        file: Names it in errors.
        delimiter: Between cells.
        first: Number of the first line.

    Raises:
        TasksetError: Names the file and line.
    """
    rows = records(lines, file, delimiter, first)
    try:
        top, names = next(rows)
    except StopIteration:
        return
    columns = [name.strip() for name in names]
    _check_columns(columns, head, f"{file} line {top}")
    numbered = "id" not in columns and "id" not in head.columns
    for place, (line, cells) in enumerate(rows, start=1):
        where = f"{file} line {line}"
        if len(cells) > len(columns) and not any(cells[len(columns) :]):
            cells = cells[: len(columns)]
        if len(cells) != len(columns):
            raise TasksetError(
                f"{where} has {len(cells)} cells, and the header {len(columns)} columns.",
                hint='A cell that holds the delimiter or a line end stands in "quotes".',
            )
        row = mapped(dict(zip(columns, cells, strict=True)), head, where)
        if numbered:
            row["id"] = str(place)
        yield line, checked(_typed(row, where), head, where)


def records(
    lines: Iterable[str], file: str, delimiter: str, first: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records that are not blank, each with its first line."""
    # Passages may be longer than the 128 KiB that the module grants a cell.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = first + reader.line_num
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise TasksetError(
                f"{file} line {line} is not a row of a table: {error}.",
                hint='A quote within a quoted cell is written twice: "".',
            ) from None
        if any(cell.strip() for cell in cells):
            # How a system ends its lines is no part of a text.
            yield line, [cell.replace("\r\n", "\n").replace("\r", "\n") for cell in cells]


def _check_columns(columns: Sequence[str], head: Head, where: str) -> None:
    twice = next((name for name in columns if name and columns.count(name) > 1), None)
    if twice is not None:
        raise TasksetError(f"{where}: column '{twice}' stands there twice.")
    for field, column in head.columns.items():
        if column not in columns:
            raise TasksetError(
                f"{where} has no column '{column}', which is to hold '{field}'.",
                hint=_near(column, columns),
            )
    unknown = [name for name in columns if not is_field(name)]
    if head.columns or not unknown:
        return
    if len(columns) == 1:
        raise TasksetError(
            f"{where} holds one column only, '{columns[0][:60]}'.",
            hint="Name what separates the cells: 'delimiter: \";\"' in the head.",
        )
    raise TasksetError(
        f"{where}: column '{unknown[0][:60]}' is no field of a sample.",
        hint="Say in the head which column holds what, e.g.: columns: {input: question}.",
    )


def _near(name: str, known: Iterable[str]) -> str:
    names = [one for one in known if one]
    near = difflib.get_close_matches(name, names, n=2, cutoff=0.5)
    return f"Did you mean {' or '.join(near)}?" if near else f"It has: {', '.join(names)}."


def _typed(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Read the cells that are not plain text."""
    typed: dict[str, Any] = {}
    for name, value in row.items():
        if name not in _STRUCTURED:
            typed[name] = value
        elif isinstance(value, Mapping):
            typed[name] = {
                key: _listed(f"{name}.{key}", _cell(cell, f"{name}.{key}", where))
                for key, cell in value.items()
            }
        else:
            typed[name] = _cell(value, name, where)
    return typed


def _cell(value: Any, field: str, where: str) -> Any:
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith(("{", "[")):
        try:
            return json.loads(value)
        except (json.JSONDecodeError, RecursionError):
            raise TasksetError(
                f"{where}: the cell of '{field}' begins like JSON, and is none.",
                hint="Write JSON there, or begin with another character.",
            ) from None
    return _BOOLEANS.get(value.strip().casefold(), value)


def _listed(field: str, value: Any) -> Any:
    if field not in _LISTS or isinstance(value, list):
        return value
    # True and false are answers too, where phrases are wanted.
    return [value if isinstance(value, str) else str(value).lower()]
