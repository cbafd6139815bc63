"""`evalkit report`: render a comparison again, from its folder alone."""

from __future__ import annotations

from pathlib import Path

import click

from evalkit.cli.options import JSON, RENDERING


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@RENDERING
@JSON
def report(
    folder: Path,
    lang: str,
    html_path: Path | None,
    md_path: Path | None,
    junit_path: Path | None,
    as_json: bool,
) -> None:
    """Render the comparison in FOLDER again; nothing is asked and nothing is decided anew."""
    from evalkit.cli.results import show_comparison
    from evalkit.report.store import load_comparison
    from evalkit.stages.writing import Destinations

    comparison = load_comparison(folder)
    also = Destinations(html_path, md_path, junit_path)
    show_comparison(comparison, folder, lang=lang, also=also, as_json=as_json)
