"""A comparison on stdout: for people, or as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evalkit.cli.github import inert_log, tell_github
from evalkit.cli.streams import terminal_color, terminal_width
from evalkit.report.console import render_console
from evalkit.report.summary import summary
from evalkit.results import Comparison
from evalkit.stages.writing import Destinations, write_reports


def show_comparison(
    comparison: Comparison,
    folder: Path,
    *,
    lang: str,
    also: Destinations,
    as_json: bool,
    gates: bool = False,
) -> None:
    """Write every form of a comparison and print its summary.

    Args:
        comparison: What to show.
        folder: That holds it.
        lang: Of all texts.
        also: Further places of the files.
        as_json: For programs.
        gates: Whether this step of a pipeline decides something, which CI is then told.

    Raises:
        StoreError: When a file cannot be written.
    """
    view, paths = write_reports(folder, comparison, lang=lang, also=also)
    if as_json:
        body = {**summary(view), "paths": paths}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
    else:
        with inert_log():
            click.echo(render_console(view, terminal_width(), terminal_color()))
            click.echo(f"Report: {paths['html']}")
    if gates:
        tell_github([view], err=as_json)
