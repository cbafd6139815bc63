"""`evalkit report`: render a comparison again, from its folder alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from evalkit.cli.options import JSON, REDACT, RENDERING
from evalkit.errors import UsageError


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@RENDERING
@REDACT
@click.option(
    "--history",
    is_flag=True,
    help="FOLDER holds several comparisons, at any depth: draw the line of releases.",
)
@JSON
def report(
    folder: Path,
    lang: str,
    html_path: Path | None,
    md_path: Path | None,
    junit_path: Path | None,
    inconclusive: Literal["skipped", "failed"],
    embed: str | None,
    embed_budget: str | None,
    redact: bool | None,
    history: bool,
    as_json: bool,
) -> None:
    """Render the comparison in FOLDER again; nothing is asked.

    Nothing is decided anew, but for what reviewers marked in 'evalkit view': both verdicts
    are shown, before and after their marks.

    With --redact no prompt, target or answer is shown; FOLDER itself keeps what it holds.

    With --history the line of verdicts and differences over all comparisons in FOLDER is
    written to FOLDER/history.html (or where --html says). What cannot be read is left out,
    with its reason.
    """
    if history:
        from evalkit.cli.history import show_history

        if md_path is not None or junit_path is not None:
            raise UsageError(
                "A history has no Markdown and no JUnit form.", hint="Leave --md and --junit out."
            )
        show_history(folder, lang=lang, html_path=html_path, as_json=as_json)
        return
    from evalkit.cli.results import embedding_of, show_comparison
    from evalkit.stages.redacting import redact_comparison, sealing
    from evalkit.stages.reviewing import reviewed
    from evalkit.stages.writing import Destinations

    embedding = embedding_of(embed, embed_budget)
    comparison = reviewed(folder)
    if redact and not comparison.redacted:
        embedding = replace(embedding, seal=sealing(comparison))
        comparison = redact_comparison(comparison)
        click.echo(f"evalkit: comparison.json and the runs in {folder} keep their texts", err=True)
    also = Destinations(html_path, md_path, junit_path, inconclusive)
    show_comparison(comparison, folder, lang=lang, also=also, as_json=as_json, embedding=embedding)
