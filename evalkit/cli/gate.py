"""`evalkit gate`: judge comparison folders again, for a pipeline."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from evalkit.cli.github import inert_log, tell_github
from evalkit.cli.options import INCONCLUSIVE, JSON, JUNIT, LANG, POLICY

if TYPE_CHECKING:
    from evalkit.report.model import View
    from evalkit.stages.gating import Gated

_QUIET = click.option("-q", "--quiet", is_flag=True, help="Print nothing; the exit code says it.")


@click.command()
@click.argument(
    "folders", nargs=-1, required=True, metavar="DIR...", type=click.Path(path_type=Path)
)
@POLICY
@click.option(
    "--runs",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder that holds the run folders by their names, where DIR/runs does not. Repeatable.",
)
@JUNIT
@INCONCLUSIVE
@click.option(
    "--markdown",
    "--md",
    "md_path",
    type=click.Path(path_type=Path),
    help="Also write Markdown there, at most 60 KB.",
)
@LANG
@JSON
@_QUIET
def gate(
    folders: tuple[Path, ...],
    policy_path: Path | None,
    runs: tuple[Path, ...],
    junit_path: Path | None,
    inconclusive: Literal["skipped", "failed"],
    md_path: Path | None,
    lang: str,
    as_json: bool,
    quiet: bool,
) -> int:
    """Judge the comparisons in DIR..., and exit with the gravest verdict.

    Nothing is asked and nothing is scored. Where the run folders are there, everything is
    decided again on their recorded scores, and a comparison.json that does not follow from
    them is refused. A policy that is given here can only take a SHIP away.
    """
    from evalkit.policy import read_policy
    from evalkit.stages.gating import gate_folder
    from evalkit.stages.writing import view_of

    policy = None if policy_path is None else read_policy(policy_path)
    gated = [gate_folder(folder, policy, runs) for folder in folders]
    views = [view_of(one.folder, one.comparison, lang) for one in gated]
    if junit_path is not None or md_path is not None:
        _write(views, junit_path, md_path, inconclusive)
    code = max(one.comparison.exit_code for one in gated)
    if as_json:
        click.echo(json.dumps(_body(gated, views, code), ensure_ascii=False, indent=2))
    elif not quiet:
        with inert_log():
            _print(gated, views)
    for one in gated:
        if one.note and not quiet:
            with inert_log(err=True):
                click.echo(
                    f"evalkit: {one.folder}: checked by its own numbers: {one.note}", err=True
                )
    tell_github(views, err=as_json)
    return code


def _write(
    views: Sequence[View],
    junit_path: Path | None,
    md_path: Path | None,
    inconclusive: Literal["skipped", "failed"],
) -> None:
    from evalkit.report.junit import render_junit
    from evalkit.report.markdown import render_markdown
    from evalkit.stages.writing import write_text

    if junit_path is not None:
        write_text(junit_path, render_junit(*views, inconclusive=inconclusive))
    if md_path is not None:
        write_text(md_path, render_markdown(*views))


def _print(gated: Sequence[Gated], views: Sequence[View]) -> None:
    """Print one line a candidate, and what they come to where there are several."""
    for one, view in zip(gated, views, strict=True):
        where = f"{one.folder}: " if len(gated) > 1 else ""
        for block in view.candidates:
            head = f"{block.gate.icon} {block.gate.word}"
            click.echo(f"{head}  {where}{block.title}: {block.sentence}")
        if len(view.candidates) > 1:
            click.echo(f"{view.gate.icon} {view.gate.word}  {where}{view.sentence}")


def _body(gated: Sequence[Gated], views: Sequence[View], code: int) -> dict[str, object]:
    from evalkit.report.summary import summary

    return {
        "exit_code": code,
        "comparisons": [
            {
                "folder": str(one.folder),
                "checked": one.checked,
                "note": one.note or None,
                **summary(view),
            }
            for one, view in zip(gated, views, strict=True)
        ],
    }
