"""The report for a terminal: verdict, numbers, families, threats."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from evalkit.report.model import CandidateBlock, View

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = {"SHIP": "bold green", "HOLD": "bold red", "INCONCLUSIVE": "bold yellow"}
_MIN_WIDTH = 40


def render_console(view: View, width: int, color: bool) -> str:
    """Return plain text, with terminal colours when `color` is set.

    Args:
        view: The view-model.
        width: Columns of the terminal.
        color: Whether escape codes may be used. Words carry all meaning without them.
    """
    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    console = Console(
        file=out,
        width=max(width, _MIN_WIDTH),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    gate = view.gate
    title = f"{gate.icon} {gate.word} ({gate.exit_text})"
    console.print(Text(f"{view.title}  {title}", style=_STYLES.get(gate.state, "bold")))
    console.print(Text(view.sentence))
    if len(view.candidates) == 1:
        console.print(Text(f"{view.ui['recommendation']}: {view.recommendation}"))
    for block in view.candidates:
        console.print()
        if len(view.candidates) > 1:
            head = f"{block.title}  {block.gate.icon} {block.gate.word}"
            console.print(Text(head, style=_STYLES.get(block.gate.state, "bold")))
            console.print(Text(block.sentence))
        _print_block(console, view, block)
    return out.getvalue()


def _print_block(console: Console, view: View, block: CandidateBlock) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    for item in block.headlines:
        value = " ".join(part for part in (item.number.text, item.unit) if part)
        rest = item.number.interval or item.number.note
        console.print(Text(f"{item.label}: {value} {rest}".rstrip() + f" ({item.detail})"))
    ui = view.ui
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column(ui["family"])
    for name in (ui["pairs"], view.baseline, block.endpoint, ui["difference"]):
        table.add_column(Text(name), justify="right")
    table.add_column(ui["state"])
    for row in (*block.families, block.pooled):
        table.add_row(
            *(
                Text(cell)
                for cell in (
                    row.label,
                    row.n_text,
                    row.baseline.text,
                    row.candidate.text,
                    row.difference.told,
                    f"{row.state.icon} {row.state.text}",
                )
            )
        )
    console.print(table)
    if block.pooled.rates is not None:
        console.print(Text(f"{ui['hallucination']}:"))
        for arm in block.pooled.rates:
            shown = f"{arm.hallucination.told}, {ui['abstention_col']} {arm.abstention.told}"
            console.print(Text(f"  {arm.arm}: {ui['hallucination_col']} {shown}"))
    console.print(Text(f"{ui['threats']}"))
    for threat in block.threats:
        console.print(Text(f"  {threat.icon} {threat.text}"))
    if block.remedies:
        console.print(Text(ui["remedies"]))
    for place, remedy in enumerate(block.remedies, 1):
        console.print(Text(f"  {place}. {remedy.text}"))
