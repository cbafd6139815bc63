"""`evalkit check`: can an endpoint be used, and are two comparable?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.options import CONFIG, JSON, SET, VERBOSE, read_config

if TYPE_CHECKING:
    from evalkit.collect.preflight import Finding, ProbeRecord
    from evalkit.stages.weighing import Weighed

_MARKS = {"ok": "ok     ", "differs": "DIFFERS", "not_testable": "unknown", "failed": "FAILED "}
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("targets", nargs=-1, metavar="A [B]")
@click.option(
    "--context", type=click.IntRange(min=1), metavar="TOKENS",
    help="Try prompts of this length; 1,024 tokens by default.",
)  # fmt: skip
@click.option(
    "--verify-weights", "manifest_path", type=_PATH, metavar="MANIFEST",
    help="Compare local weights with this manifest of their hashes.",
)  # fmt: skip
@click.option(
    "--weights", "weights", type=_PATH, metavar="PATH",
    help="Folder or file of those weights; by default what A serves, else the manifest's folder.",
)  # fmt: skip
@click.option(
    "--write-manifest", "folder", type=_PATH, metavar="PATH",
    help="Print the manifest of a folder or file of weights, and do nothing else.",
)  # fmt: skip
@CONFIG
@SET
@JSON
@VERBOSE
def check(
    targets: tuple[str, ...],
    context: int | None,
    manifest_path: Path | None,
    weights: Path | None,
    folder: Path | None,
    config_path: Path | None,
    overrides: tuple[str, ...],
    as_json: bool,
    verbose: bool,
) -> int:
    """Try everything that a run rests on, and say whether two endpoints are comparable.

    Each endpoint is asked about twenty small requests. With -v the evidence is shown too.
    """
    from evalkit import api
    from evalkit.cli.display import make_display
    from evalkit.collect.preflight import compare_records
    from evalkit.errors import ExitCode, UsageError

    if folder is not None:
        click.echo(json.dumps(_manifest(folder), indent=2, ensure_ascii=False))
        return ExitCode.OK
    if not targets and manifest_path is None:
        raise UsageError("Nothing is to be checked.", hint="Name an endpoint: evalkit check q8")
    shown = make_display("plain", quiet=as_json, verbose=verbose)
    listener = api.Listener(shown.on_event, shown.on_stage)
    config = read_config(config_path, overrides, {})
    records = api.check(targets, config, context=context, listener=listener) if targets else {}
    groups = {name: list(record.findings) for name, record in records.items()}
    first, *others = records.values() if records else [None]
    for other in others:
        if first is not None and other is not None:
            groups[f"{first.name} and {other.name}"] = compare_records(first, other)
    weighed = None if manifest_path is None else _weigh(manifest_path, weights, first)
    bad = any(f.bad for group in groups.values() for f in group)
    bad = bad or (weighed is not None and not weighed.equal)
    if as_json:
        click.echo(json.dumps(_body(records, groups, weighed, bad), ensure_ascii=False, indent=2))
    else:
        for name, group in groups.items():
            _print(name, group, verbose=verbose)
        _print_weighed(weighed)
        _print_cost(list(records.values()))
    return ExitCode.INVALID if bad else ExitCode.OK


def _manifest(path: Path) -> dict[str, Any]:
    from evalkit.endpoints.manifest import manifest

    return manifest(path)


def _weigh(manifest_path: Path, weights: Path | None, record: ProbeRecord | None) -> Weighed:
    from evalkit.stages.weighing import weigh

    return weigh(manifest_path, weights, None if record is None else record.identity)


def _body(
    records: dict[str, ProbeRecord],
    groups: dict[str, list[Finding]],
    weighed: Weighed | None,
    bad: bool,
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "comparable": not bad,
        "identities": {name: asdict(record.identity) for name, record in records.items()},
        "findings": {
            name: [{**asdict(f), "bad": f.bad} for f in group] for name, group in groups.items()
        },
        "cost": {name: asdict(record.cost) for name, record in records.items()},
        "omitted": sorted({field for record in records.values() for field in record.refused}),
    }
    if weighed is not None:
        body["weights"] = asdict(weighed)
    return body


def _print(name: str, findings: Sequence[Finding], *, verbose: bool) -> None:
    from evalkit.report.text import one_line, visible

    click.echo(name)
    for finding in findings:
        mark = _MARKS[finding.status]
        if not finding.blocks and finding.status in ("differs", "failed"):
            mark = "note   "
        click.echo(f"  {mark}  {one_line(finding.message)}")
        if verbose and finding.evidence:
            for line in json.dumps(
                finding.evidence, ensure_ascii=False, indent=2, default=str
            ).splitlines():
                click.echo(f"             {visible(line)}")


def _print_weighed(weighed: Weighed | None) -> None:
    if weighed is None:
        return
    click.echo(f"weights: {weighed.path}")
    if weighed.equal:
        click.echo(f"  {_MARKS['ok']}  They are what the manifest says ({weighed.files} files).")
    for difference in weighed.differences:
        mark = _MARKS["ok"] if difference.kind == "link" else _MARKS["differs"]
        click.echo(f"  {mark}  {difference.message}")


def _print_cost(records: Sequence[ProbeRecord]) -> None:
    if not records:
        return
    costs = [record.cost for record in records]
    click.echo(
        f"cost: {sum(c.requests for c in costs)} requests, "
        f"{sum(c.prompt_tokens for c in costs):,} prompt and "
        f"{sum(c.completion_tokens for c in costs):,} completion tokens, "
        f"{sum(c.seconds for c in costs):.1f} s"
    )
