"""`evalkit tasks`: which tasksets there are, and what they ask."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.options import JSON, SEED

if TYPE_CHECKING:
    from evalkit.types import Sample, Taskset


@click.command()
@click.argument("names", nargs=-1, metavar="[TASKSET]...")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=3, help="Samples to preview.")
@SEED
@JSON
def tasks(names: tuple[str, ...], limit: int, seed: int | None, as_json: bool) -> None:
    """List tasksets; with names (or folders), preview samples of each."""
    from evalkit.tasksets.catalogue import builtin_names, draw, load_taskset

    chosen = [load_taskset(name) for name in names or builtin_names()]
    previews = {t.name: draw(t, limit, seed or 0).samples if names else () for t in chosen}
    if as_json:
        rows = [_as_dict(taskset, previews[taskset.name]) for taskset in chosen]
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    _print_table(chosen)
    for taskset in chosen:
        for sample in previews[taskset.name]:
            _print_sample(sample)


def _languages(taskset: Taskset) -> dict[str, int]:
    return dict(sorted(Counter(sample.language for sample in taskset.samples).items()))


def _as_dict(taskset: Taskset, preview: tuple[Sample, ...]) -> dict[str, Any]:
    return {
        "name": taskset.name,
        "family": taskset.family.value,
        "version": taskset.version,
        "description": taskset.description,
        "samples": len(taskset.samples),
        "languages": _languages(taskset),
        "max_tokens": taskset.max_tokens,
        "margin_points": taskset.margin,
        "measures_hallucination": taskset.measures_hallucination,
        "runs_code": taskset.code,
        "content_hash": taskset.content_hash,
        "preview": [
            {
                "id": sample.id,
                "language": sample.language,
                "category": sample.category,
                "messages": [{"role": m.role, "content": m.content} for m in sample.messages],
                "target": dict(sample.target),
            }
            for sample in preview
        ],
    }


def _print_table(tasksets: list[Taskset]) -> None:
    header = ("taskset", "family", "samples", "languages", "max tokens", "margin", "what it asks")
    rows = [header]
    for taskset in tasksets:
        languages = " ".join(f"{name} {count}" for name, count in _languages(taskset).items())
        note = " (needs --allow-code)" if taskset.code else ""
        rows.append(
            (
                taskset.name,
                taskset.family.value,
                str(len(taskset.samples)),
                languages,
                str(taskset.max_tokens),
                f"{taskset.margin:g} pt",
                taskset.description + note,
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(header) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())


def _print_sample(sample: Sample) -> None:
    click.echo(f"\n{sample.id}  [{sample.language}, {sample.category or 'no category'}]")
    for message in sample.messages:
        click.echo(f"  {message.role}: {message.content}")
    click.echo(f"  target: {json.dumps(dict(sample.target), ensure_ascii=False)}")
