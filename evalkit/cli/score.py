"""`evalkit score`: score recorded runs again; nothing is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.display import make_display
from evalkit.cli.options import (
    ALLOW_CODE,
    CONFIG,
    CONNECTIONS,
    JUDGE,
    PASS_AT,
    PROCESSES,
    SET,
    TALKING,
    read_config,
)
from evalkit.cli.passes import pass_body, pass_lines

if TYPE_CHECKING:
    from evalkit.stages.rescoring import Rescored


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@PASS_AT
@ALLOW_CODE
@PROCESSES
@JUDGE
@CONFIG
@SET
@CONNECTIONS
@TALKING
def score(
    runs: tuple[Path, ...],
    pass_at: tuple[int, ...],
    allow_code: bool | None,
    processes: int | None,
    judge: str | None,
    config_path: Path | None,
    overrides: tuple[str, ...],
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Score the answers of run folders again, and say what is not as it was.

    Only scores.jsonl is written; the answers are never touched. A redacted run holds no text
    to score. With --judge the judge is asked about the answers of all RUNs together; without
    it nothing is asked, and a judge that was asked before still decides.
    """
    from evalkit.stages.rescoring import rescore

    config = read_config(config_path, overrides, {**flags, "judge": judge})
    if config.judge is not None:
        from evalkit.stages.judge_verbs import judge_recorded

        with make_display(display, quiet=quiet, verbose=verbose) as shown:
            judge_recorded(runs, config, on_event=shown.on_event, notify=shown.on_stage)
    bodies = []
    for folder in runs:
        rescored = rescore(folder, allow_code=bool(allow_code), processes=processes, tries=pass_at)
        body = _as_dict(rescored)
        bodies.append(body)
        if not as_json:
            _print(body)
    if as_json:
        click.echo(json.dumps(bodies, ensure_ascii=False, indent=2))


def _as_dict(rescored: Rescored) -> dict[str, Any]:
    scored, changed = rescored.scored, rescored.changed
    return {
        "endpoint": scored.run.arm,
        "folder": str(scored.run.folder.path),
        "requests": len(scored.run.requests),
        "missing": scored.missing,
        "tasksets": {
            name: {
                "scorer": rescored.scorers[name],
                "earlier_scorer": rescored.earlier.get(name),
                "n": counts.total(),
                "outcomes": dict(sorted(counts.items())),
                "pass_at": pass_body(scored.pass_at.get(name, {})),
                "changed": None if changed is None else dict(sorted(changed[name].items())),
            }
            for name, counts in sorted(scored.outcomes.items())
        },
    }


def _print(body: dict[str, Any]) -> None:
    click.echo(f"{body['folder']}:")
    for name, row in body["tasksets"].items():
        counts = ", ".join(f"{count} {outcome}" for outcome, count in row["outcomes"].items())
        click.echo(f"  {name} ({row['scorer']}): {counts}{_said_before(row)}")
        for line in pass_lines(row["pass_at"]):
            click.echo(f"    {line}")
    left = body["requests"] - sum(row["n"] for row in body["tasksets"].values())
    if left:
        click.echo(f"  Never asked: {left} of {body['requests']} requests")


def _said_before(row: dict[str, Any]) -> str:
    changed, earlier = row["changed"], row["earlier_scorer"]
    if changed is None or earlier is None:
        return "; not scored before"
    by = "" if earlier == row["scorer"] else f" by {earlier}"
    if not changed:
        return f"; all as before{by}"
    moves = ", ".join(f"{count} {move}" for move, count in changed.items())
    return f"; {sum(changed.values())} not as before{by} ({moves})"
