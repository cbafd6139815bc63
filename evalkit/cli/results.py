"""A comparison on stdout: for people, or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import click

from evalkit.cli.github import inert_log, tell_github
from evalkit.cli.options import size
from evalkit.cli.streams import terminal_color, terminal_width
from evalkit.report.console import render_console
from evalkit.report.explorer import Exploration
from evalkit.report.summary import summary
from evalkit.results import Comparison
from evalkit.stages.embedding import Embedding, What
from evalkit.stages.writing import Destinations, write_reports


def embedding_of(embed: str | None, budget: str | None) -> Embedding:
    """Read `--embed` and `--embed-budget`.

    Raises:
        UsageError: For a budget that is no size.
    """
    what = cast("What", embed or "most")
    limit = None if budget is None else size("--embed-budget", budget)
    return Embedding(what, limit, notify=lambda text: click.echo(f"evalkit: {text}", err=True))


def show_comparison(
    comparison: Comparison,
    folder: Path,
    *,
    lang: str,
    also: Destinations,
    as_json: bool,
    gates: bool = False,
    embedding: Embedding | None = None,
    pairs: Exploration | None = None,
) -> None:
    """Write every form of a comparison and print its summary.

    Args:
        comparison: What to show.
        folder: That holds it.
        lang: Of all texts.
        also: Further places of the files.
        as_json: For programs.
        gates: Whether this step of a pipeline decides something, which CI is then told.
        embedding: Which pairs the page holds.
        pairs: Of a comparison that has just been made; see `embedded_pairs`.

    Raises:
        StoreError: When a file cannot be written.
    """
    view, paths = write_reports(
        folder, comparison, lang=lang, also=also, embedding=embedding, pairs=pairs
    )
    if as_json:
        body = {**summary(view), "paths": paths}
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
    else:
        with inert_log():
            click.echo(render_console(view, terminal_width(), terminal_color()))
            click.echo(f"Report: {paths['html']}")
    if gates:
        tell_github([view], err=as_json)
