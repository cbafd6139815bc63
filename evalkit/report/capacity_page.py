"""A capacity plan as one offline HTML file, and for a terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from markupsafe import Markup

from evalkit.report.capacity import CapacityView
from evalkit.report.capacity_chart import capacity_chart
from evalkit.report.console import terminal
from evalkit.report.html import content_policy, environment
from evalkit.report.pieces import Table
from evalkit.report.text import columns
from evalkit.resources import resource_dir

if TYPE_CHECKING:
    from rich.console import Console

_GAP: Final = 2
_FITS: Final = {True: "bold green", False: "bold red", None: "bold"}


def render_capacity_page(view: CapacityView) -> str:
    """Return the page: no script, no request, one style sheet that is allowed by its hash."""
    folder = resource_dir("templates")
    styles = "".join(
        (folder / name).read_text(encoding="utf-8") for name in ("styles.css", "capacity.css")
    )
    told = " ".join([view.sentence, *(bar.text for bar in view.bars)])
    return (
        environment()
        .get_template("capacity.html.j2")
        .render(
            view=view,
            ui=view.ui,
            chart=capacity_chart(view, told),
            styles=Markup(styles),
            policy=content_policy(styles),
        )
    )


def render_capacity_console(view: CapacityView, width: int, color: bool) -> str:
    """Return plain text, with terminal colours when `color` is set.

    Args:
        view: The view-model.
        width: Columns of the terminal.
        color: Whether escape codes may be used. Words carry all meaning without them.
    """
    from rich.text import Text

    out = io.StringIO()
    console = terminal(out, width, color)
    style = "bold"
    if view.device is not None:
        style = _FITS[any(bar.fits for bar in view.bars)]
    console.print(Text(view.title, style="bold"))
    console.print(Text(view.sentence, style=style))
    console.print(Text(view.work))
    for name, value in view.facts:
        console.print(Text(f"{name}: {value}"))
    console.print()
    for table in (view.table, view.rooms):
        if table is not None:
            _print_table(console, table, width)
    console.print(Text(view.ui["capacity_assumed"]))
    for note in view.notes:
        console.print(Text(f"- {note}"))
    return "\n".join(row.rstrip() for row in out.getvalue().splitlines())


def _print_table(console: Console, data: Table, width: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    console.print(Text(data.caption))
    for places in _pages(data, width):
        table = RichTable(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for place in places:
            justify: Literal["left", "right"] = "right" if place else "left"
            table.add_column(Text(data.columns[place]), justify=justify, overflow="fold")
        for row in data.rows:
            table.add_row(*(Text(row[place]) for place in places))
        console.print(table)


def _pages(data: Table, width: int) -> Iterator[list[int]]:
    """Yield the columns that stand beside each other, each time with the first."""
    cells = [data.columns, *data.rows]
    widths = [max(columns(row[place]) for row in cells) + _GAP for place in range(len(cells[0]))]
    page = [0]
    for place in range(1, len(widths)):
        if len(page) > 1 and sum(widths[i] for i in [*page, place]) > width:
            yield page
            page = [0]
        page.append(place)
    yield page
