"""Rows of a data set of the hub, for a head that says which column holds what."""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.errors import TasksetError
from evalkit.tasksets.head import Head
from evalkit.tasksets.hub import HUB, HubRows, load_rows, parse_hub_set
from evalkit.tasksets.rows import Row, checked, is_text, mapped


def open_source(head: Head) -> HubRows:
    """Find the rows that a head names.

    Raises:
        UsageError: When its source is not of the form of a reference.
        MissingExtraError: When `datasets` is not installed.
        TasksetError: When the set cannot be had, or has not the columns that the head names.
    """
    rows = load_rows(parse_hub_set((head.source or "").removeprefix(f"{HUB}:")))
    for field, column in head.columns.items():
        if column not in rows.columns:
            raise TasksetError(
                f"'{HUB}:{rows.source}' has no column '{column}' for '{field}'.",
                hint=f"Its columns are {', '.join(rows.columns)}.",
            )
    return rows


def source_rows(head: Head, rows: HubRows) -> Iterator[tuple[int, Row]]:
    """Yield the rows with their places from 1; a row without an id is named by its place from 0.

    With `columns`, only those are read: others' sets call anything `metadata` or `category`.

    Raises:
        TasksetError: Names the row.
    """
    wanted = set(head.columns.values())
    for located in rows.records():
        given = {k: v for k, v in located.record.items() if k in wanted or not wanted}
        row = mapped(given, head, located.where)
        row["id"] = str(row.get("id", located.place))
        if not is_text(row):
            raise TasksetError(f"{located.where} holds half a character (a lone surrogate).")
        yield located.place + 1, checked(row, head, located.where, escaped=False)
