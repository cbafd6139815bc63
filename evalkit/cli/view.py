"""`evalkit view`: a comparison folder in the browser, where reviewers mark what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.cli.options import EMBED, EMBED_BUDGET, LANG

if TYPE_CHECKING:
    from evalkit.stages.embedding import What


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    help="Port; without it a free one.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in this machine's browser.")
@LANG
@EMBED
@EMBED_BUDGET
def view(
    folder: Path, port: int, opens: bool, lang: str, embed: What | None, embed_budget: int | None
) -> None:
    """Serve the report in FOLDER on this machine, and take reviewers' marks.

    A reviewer marks a score as wrong or a prompt as bad, with a reason and a name. Marks are
    added to FOLDER/review.jsonl; 'evalkit report' shows the verdict before and after them.
    Only this machine can open the page, and only with the whole address. Ctrl-C ends it.
    """
    from evalkit.stages.embedding import Embedding
    from evalkit.stages.serving import open_server, serve

    server = open_server(
        folder, port, lang=lang, embedding=Embedding(embed or "most", embed_budget)
    )
    click.echo(f"Report: {server.url}")
    click.echo(f"evalkit: marks go to {folder / 'review.jsonl'}; Ctrl-C ends", err=True)
    if opens:
        click.launch(server.url)
    serve(server)
