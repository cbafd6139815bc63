"""`evalkit run`: one endpoint's answers and scores, for a later comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.display import make_display
from evalkit.cli.options import (
    ALLOW_CONFOUNDED,
    COLLECTING,
    DECIDING,
    JUDGE,
    TALKING,
    names,
    read_config,
    share,
)
from evalkit.cli.passes import pass_body, pass_lines
from evalkit.errors import ExitCode

if TYPE_CHECKING:
    from evalkit.stages.grading import ScoredRun


@click.command()
@click.argument("target")
@COLLECTING
@click.option(
    "--aa",
    metavar="SHARE",
    help="Share of the prompts that is asked twice, for a run that will be a baseline: 10%, 0.1 "
    "or 10. Default: none.",
)
@JUDGE
@DECIDING
@ALLOW_CONFOUNDED
@TALKING
def run(
    target: str,
    config_path: Path | None,
    overrides: tuple[str, ...],
    tasks: tuple[str, ...],
    aa: str | None,
    margin: float | None,
    policy_path: Path | None,
    output: Path | None,
    fresh: bool,
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> int:
    """Ask one endpoint and score its answers; `compare` takes the folder as an argument.

    The policy is recorded with the run: it is what was fixed before the answers were seen.
    The exit code is 5 when too many requests have no answer (policy.max_missing).
    """
    from evalkit import api

    config = read_config(
        config_path, overrides, {**flags, "tasks": names(tasks)}, policy_path, margin
    )
    shown = make_display(display, quiet=quiet, verbose=verbose)
    with shown:
        listener = api.Listener(shown.on_event, shown.on_stage)
        scored = api.run(
            target,
            config,
            output=output,
            fresh=fresh,
            repeat_share=0.0 if aa is None else share("--aa", aa),
            listener=listener,
        )
    body = _summary(scored)
    missing = sum(scored.missing.values())
    few = missing <= config.policy.max_missing / 100 * scored.n
    code = ExitCode.OK if few else ExitCode.INVALID
    if as_json:
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
        return code
    for name, row in body["tasksets"].items():
        counts = ", ".join(f"{count} {outcome}" for outcome, count in row["outcomes"].items())
        click.echo(f"{name}: {counts}")
        for line in pass_lines(row["pass_at"]):
            click.echo(f"  {line}")
    if missing:
        why = ", ".join(f"{reason} {count}" for reason, count in body["missing"].items())
        click.echo(f"No answer: {missing} of {scored.n} ({why})")
    if not few:
        limit = f"{config.policy.max_missing:g} percent"
        click.echo(f"Too many have no answer to decide by (limit: {limit}).", err=True)
    click.echo(f"Run: {body['folder']}")
    return code


def _summary(scored: ScoredRun) -> dict[str, Any]:
    return {
        "endpoint": scored.run.arm,
        "label": scored.run.label,
        "folder": str(scored.run.folder.path),
        "requests": len(scored.run.requests),
        "missing": scored.missing,
        "repeats": len(scored.run.repeats),
        "tasksets": {
            name: {
                "n": counts.total(),
                "outcomes": dict(sorted(counts.items())),
                "pass_at": pass_body(scored.pass_at.get(name, {})),
            }
            for name, counts in sorted(scored.outcomes.items())
        },
    }
