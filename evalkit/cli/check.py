"""`evalkit check`: can an endpoint be used, and are two comparable?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalkit.cli.options import CONFIG, JSON, SET, VERBOSE, read_config

if TYPE_CHECKING:
    from evalkit.collect.preflight import Finding

_MARKS = {"ok": "ok     ", "differs": "DIFFERS", "not_testable": "unknown", "failed": "FAILED "}


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="A [B]")
@CONFIG
@SET
@JSON
@VERBOSE
def check(
    targets: tuple[str, ...],
    config_path: Path | None,
    overrides: tuple[str, ...],
    as_json: bool,
    verbose: bool,
) -> int:
    """Reach each endpoint, get one real answer, and compare what they say they are."""
    from evalkit import api
    from evalkit.cli.display import make_display
    from evalkit.collect.preflight import compare_identities
    from evalkit.errors import ExitCode

    shown = make_display("plain", quiet=as_json, verbose=verbose)
    listener = api.Listener(shown.on_event, shown.on_stage)
    found = api.check(targets, read_config(config_path, overrides, {}), listener=listener)
    first, *others = found
    groups = {name: list(preflight.findings) for name, preflight in found.items()}
    for other in others:
        groups[f"{first} and {other}"] = compare_identities(
            found[first].identity, found[other].identity
        )
    bad = any(f.status in ("differs", "failed") for group in groups.values() for f in group)
    if as_json:
        body = {
            "comparable": not bad,
            "identities": {name: asdict(p.identity) for name, p in found.items()},
            "findings": {name: [asdict(f) for f in group] for name, group in groups.items()},
        }
        click.echo(json.dumps(body, ensure_ascii=False, indent=2))
    else:
        for name, group in groups.items():
            _print(name, group)
    return ExitCode.INVALID if bad else ExitCode.OK


def _print(name: str, findings: list[Finding]) -> None:
    click.echo(name)
    for finding in findings:
        click.echo(f"  {_MARKS[finding.status]}  {finding.message}")
