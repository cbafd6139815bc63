"""`evalkit report --history`: the line of releases on stdout and as a page."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evalkit.cli.streams import terminal_color, terminal_width

_PAGE = "history.html"


def show_history(folder: Path, *, lang: str, html_path: Path | None, as_json: bool) -> None:
    """Read every comparison below a folder, write the page, and print the line.

    Raises:
        StoreError: When there is none, or the page cannot be written.
    """
    from evalkit.report.history import build_history, history_summary
    from evalkit.report.history_console import render_history_console
    from evalkit.report.history_html import render_history
    from evalkit.stages.history import read_history
    from evalkit.stages.writing import write_text

    view = build_history(read_history(folder), lang)
    page = html_path or folder / _PAGE
    write_text(page, render_history(view))
    if as_json:
        body = {**history_summary(view), "paths": {"html": str(page)}}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return
    click.echo(render_history_console(view, terminal_width(), terminal_color()))
    click.echo(f"History: {page}")
