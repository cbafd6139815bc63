"""The line of releases for a terminal."""

from __future__ import annotations

import io

from evalkit.report import numbers
from evalkit.report.console import STYLES, terminal
from evalkit.report.history_model import HistoryView


def render_history_console(view: HistoryView, width: int, color: bool) -> str:
    """Return plain text, with terminal colours when `color` is set.

    Args:
        view: The view-model.
        width: Columns of the terminal.
        color: Whether escape codes may be used. Words carry all meaning without them.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    console = terminal(out, width, color)
    gate = view.gate
    console.print(
        Text(f"{view.title}  {gate.icon} {gate.word}", style=STYLES.get(gate.state, "bold"))
    )
    console.print(Text(view.sentence))
    console.print(Text(view.rollback))
    ui = view.ui
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in ("date", "folder", "candidate", "verdict"):
        table.add_column(ui[name], overflow="fold")
    table.add_column(ui["difference"], justify="right", overflow="fold")
    table.add_column(ui["new_since"], overflow="fold")
    for row in view.rows:
        cells = (
            row.date[:10],
            row.folder,
            f"{row.candidate} / {row.baseline}",
            f"{row.gate.icon} {row.gate.word}",
            row.metrics["accuracy"].told,
            row.change.what if row.change is not None else numbers.DASH,
        )
        table.add_row(*map(Text, cells))
    console.print(table)
    for text in (*view.breaks, *view.unread_lines):
        console.print(Text(f"! {text}"))
    return out.getvalue()
