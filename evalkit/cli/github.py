"""GitHub Actions: a summary of the step, annotations, and a log that nobody can command.

Source: GitHub Docs, "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from evalkit.report.model import View


def on_github() -> bool:
    """Whether this is a step of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@contextmanager
def inert_log(*, err: bool = False) -> Iterator[None]:
    """Let the runner take nothing that is printed inside for a command.

    A line of a model or a server could begin with `::`. Only who knows the token can end
    this.

    Args:
        err: Print the two commands on stderr.
    """
    if not on_github():
        yield
        return
    token = secrets.token_hex(16)
    click.echo(f"::stop-commands::{token}", err=err)
    try:
        yield
    finally:
        click.echo(f"::{token}::", err=err)


def tell_github(views: Sequence[View], *, err: bool) -> None:
    """Append to the summary of the step and annotate; elsewhere do nothing.

    A summary that cannot be written changes no verdict: it is said on stderr.

    Args:
        views: One comparison each.
        err: Annotate on stderr, where stdout holds JSON.
    """
    if not on_github():
        return
    from evalkit.report.github import workflow_commands

    for line in workflow_commands(views):
        click.echo(line, err=err)
    target = os.environ.get("GITHUB_STEP_SUMMARY")
    if target:
        _append_summary(Path(target), views)


def annotate_error(message: str) -> None:
    """Annotate, on stderr, that there is no verdict; elsewhere do nothing."""
    if on_github():
        from evalkit.report.github import command

        click.echo(command("error", "evalkit", message), err=True)


def _append_summary(path: Path, views: Sequence[View]) -> None:
    from evalkit.report.github import MAX_SUMMARY_BYTES
    from evalkit.report.markdown import render_markdown

    data = f"{render_markdown(*views)}\n".encode()
    try:
        there = path.stat().st_size if path.exists() else 0
        if there + len(data) > MAX_SUMMARY_BYTES:
            click.echo("evalkit: the summary of this step is full; nothing was added", err=True)
            return
        with path.open("ab") as file:
            file.write(data)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        click.echo(f"evalkit: the summary of this step cannot be written: {reason}", err=True)
