"""`evalkit run`: one endpoint's answers and scores, for a later comparison."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.display import make_display
from evalkit.cli.options import COLLECTING, TALKING, names, read_config

if TYPE_CHECKING:
    from evalkit.stages.comparing import GradedRun


@click.command()
@click.argument("target")
@COLLECTING
@TALKING
def run(
    target: str,
    config_path: Path | None,
    overrides: tuple[str, ...],
    tasks: tuple[str, ...],
    output: Path | None,
    fresh: bool,
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Ask one endpoint and score its answers; `compare` takes the folder as an argument."""
    from evalkit import api

    config = read_config(config_path, overrides, {**flags, "tasks": names(tasks)})
    shown = make_display(display, quiet=quiet, verbose=verbose)
    with shown:
        listener = api.Listener(shown.on_event, shown.on_stage)
        graded = api.run(target, config, output=output, fresh=fresh, listener=listener)
    body = _summary(graded)
    if as_json:
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return
    for name, row in body["tasksets"].items():
        counts = ", ".join(f"{count} {outcome}" for outcome, count in row["outcomes"].items())
        click.echo(f"{name}: {counts}")
    click.echo(f"Run: {body['folder']}")


def _summary(graded: GradedRun) -> dict[str, Any]:
    outcomes: dict[str, Counter[str]] = {}
    for (taskset, _, _), answer in graded.answers.items():
        score = answer.score
        word = score.outcome.value if score.outcome is not None else score.status.value
        outcomes.setdefault(taskset, Counter())[word] += 1
    return {
        "endpoint": graded.run.arm,
        "label": graded.run.label,
        "folder": str(graded.run.folder.path),
        "requests": len(graded.run.requests),
        "tasksets": {
            name: {"n": counts.total(), "outcomes": dict(sorted(counts.items()))}
            for name, counts in sorted(outcomes.items())
        },
    }
