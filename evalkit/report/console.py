"""The report for a terminal: verdict, numbers, families, threats."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from evalkit.report.model import CandidateBlock, View
from evalkit.report.passrates import pass_line
from evalkit.report.release import release_lines
from evalkit.report.text import columns

if TYPE_CHECKING:
    from rich.console import Console

STYLES = {"SHIP": "bold green", "HOLD": "bold red", "INCONCLUSIVE": "bold yellow"}
_MIN_WIDTH = 40
# A name may fill this part of the width before its column squeezes the numbers.
_NAME_SHARE = 8
# Below this width whole heads would squeeze the numbers out.
_WHOLE_HEADS = 60


def render_console(view: View, width: int, color: bool) -> str:
    """Return plain text, with terminal colours when `color` is set.

    Args:
        view: The view-model.
        width: Columns of the terminal.
        color: Whether escape codes may be used. Words carry all meaning without them.
    """
    from rich.text import Text

    out = io.StringIO()
    console = terminal(out, width, color)
    gate = view.gate
    title = f"{gate.icon} {gate.word} ({gate.exit_text})"
    console.print(Text(f"{view.title}  {title}", style=STYLES.get(gate.state, "bold")))
    console.print(Text(view.sentence))
    if len(view.candidates) == 1:
        _print_reasons(console, view.candidates[0])
    if view.trade:
        console.print(Text(view.trade))
    if len(view.candidates) == 1:
        console.print(Text(f"{view.ui['recommendation']}: {view.recommendation}"))
    for text in release_lines(view.release):
        console.print(Text(text))
    if view.redacted:
        console.print(Text(view.redacted))
    for block in view.candidates:
        console.print()
        if len(view.candidates) > 1:
            head = f"{block.title}  {block.gate.icon} {block.gate.word}"
            console.print(Text(head, style=STYLES.get(block.gate.state, "bold")))
            console.print(Text(block.sentence))
            _print_reasons(console, block)
        _print_block(console, view, block)
    return out.getvalue()


def terminal(out: io.StringIO, width: int, color: bool) -> Console:
    """Return a console that writes to a text and takes nothing in it for markup."""
    from rich.console import Console

    return Console(
        file=out,
        width=max(width, _MIN_WIDTH),
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def _print_reasons(console: Console, block: CandidateBlock) -> None:
    """List the reasons where the sentence cannot hold them all."""
    from rich.text import Text

    if len(block.reasons) > 1:
        for reason in block.reasons:
            console.print(Text(f"  {reason.code}: {reason.text}"))


def _heads(view: View, block: CandidateBlock, width: int) -> tuple[str, str]:
    """Return what stands over the two arms: their names, or their roles where names are long."""
    names = (view.baseline, block.endpoint)
    if max(map(columns, names)) <= width // _NAME_SHARE:
        return names
    return view.ui["baseline"], view.ui["candidate"]


def _print_block(console: Console, view: View, block: CandidateBlock) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    for item in block.headlines:
        value = " ".join(part for part in (item.number.text, item.unit) if part)
        rest = item.number.interval or item.number.note
        console.print(Text(f"{item.label}: {value} {rest}".rstrip() + f" ({item.detail})"))
    ui = view.ui
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(ui["family"], overflow="fold")
    for name in (ui["pairs"], *_heads(view, block, console.width)):
        least = columns(name) if console.width >= _WHOLE_HEADS else None
        table.add_column(Text(name), justify="right", min_width=least)
    table.add_column(ui["difference"], justify="right", overflow="fold")
    table.add_column(ui["state"], overflow="fold")
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
    if block.passes is not None:
        console.print(Text(f"{ui['passes']}:"))
        for passed in block.passes.rows:
            console.print(Text(f"  {pass_line(passed)}"))
    console.print(Text(f"{ui['threats']}"))
    for threat in block.threats:
        console.print(Text(f"  {threat.icon} {threat.text}"))
    if block.remedies:
        console.print(Text(ui["remedies"]))
    for place, remedy in enumerate(block.remedies, 1):
        console.print(Text(f"  {place}. {remedy.text}"))
