"""A soak's result for a terminal."""

from __future__ import annotations

import io

from evalkit.report.console import STYLES, terminal
from evalkit.report.performance_console import print_table
from evalkit.report.soak import soak_view
from evalkit.report.words import Words
from evalkit.stability import Stability


def render_soak(found: Stability, lang: str, width: int, color: bool) -> str:
    """Return verdict, findings and tables as text.

    Args:
        found: What a soak found.
        lang: `en` or `zh`.
        width: Columns of the terminal.
        color: Whether escape codes may be used.
    """
    from rich.text import Text

    view = soak_view(Words(lang), found)
    out = io.StringIO()
    console = terminal(out, width, color)
    head = f"{view.gate.icon} {view.gate.word} ({view.gate.exit_text})"
    console.print(Text(f"{view.endpoint}  {head}", style=STYLES.get(view.gate.state, "bold")))
    console.print(Text(view.sentence))
    if view.open:
        console.print(Text(view.open))
    for text in view.findings:
        console.print(Text(f"✗ {text}"))
    console.print()
    console.print(Text(view.lead))
    for table in view.tables:
        console.print()
        print_table(console, table)
    if view.remarks:
        console.print()
    for text in view.remarks:
        console.print(Text(f"! {text}"))
    return out.getvalue()
