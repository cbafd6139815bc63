"""A probe's result for a terminal."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from evalkit.performance import Performance
from evalkit.report.console import terminal
from evalkit.report.performance import performance_block
from evalkit.report.pieces import Table
from evalkit.report.words import Words

if TYPE_CHECKING:
    from rich.console import Console

# Narrower, a table of many columns is told line by line.
_LEAST_A_COLUMN = 13


def render_performance(found: Performance, lang: str, width: int, color: bool) -> str:
    """Return tables and remarks as text.

    Args:
        found: What a probe found.
        lang: `en` or `zh`.
        width: Columns of the terminal.
        color: Whether escape codes may be used.
    """
    from rich.text import Text

    block = performance_block(Words(lang), found)
    out = io.StringIO()
    console = terminal(out, width, color)
    console.print(Text(block.lead))
    for table in block.tables:
        console.print()
        print_table(console, table)
    if block.remarks:
        console.print()
    for remark in block.remarks:
        console.print(Text(f"! {remark}"))
    return out.getvalue()


def print_table(console: Console, table: Table) -> None:
    """Print a table with its caption; line by line where it has no room."""
    from rich.text import Text

    console.print(Text(table.caption, style="bold"))
    if len(table.columns) * _LEAST_A_COLUMN > console.width:
        for line in _lines(table):
            console.print(Text(line))
    else:
        console.print(_rich(table))


def _lines(table: Table) -> list[str]:
    lines = []
    for row in table.rows:
        lines.append(row[0])
        lines += [
            f"  {column}: {cell}" for column, cell in zip(table.columns[1:], row[1:], strict=True)
        ]
    return lines


def _rich(table: Table):  # type: ignore[no-untyped-def]
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for place, column in enumerate(table.columns):
        left = place == 0 or place in table.words
        shown.add_column(Text(column), justify="left" if left else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown
