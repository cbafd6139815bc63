"""`evalkit tasks`: which tasksets there are, and what they ask."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.options import JSON, LANGUAGES, SEED, SUITE, share

if TYPE_CHECKING:
    from evalkit.tasksets.suites import SuiteName
    from evalkit.types import Language, Sample, Taskset


@click.command()
@click.argument("names", nargs=-1, metavar="[TASKSET]...")
@click.option("-n", "--limit", type=click.IntRange(min=1), default=3, help="Samples to preview.")
@SUITE
@LANGUAGES
@click.option(
    "--flips",
    metavar="SHARE",
    default="6%",
    show_default=True,
    help="Share of answers expected to flip: 6%, 0.06 or 6 (below 1 a share, else percent).",
)
@SEED
@JSON
def tasks(
    names: tuple[str, ...],
    limit: int,
    suite: SuiteName | None,
    languages: tuple[Language, ...],
    flips: str,
    seed: int | None,
    as_json: bool,
) -> None:
    """List tasksets and what each can prove; with names (or files), preview samples of each.

    "Proves" is the smallest loss, in points, that its prompts exclude with 80% power when so
    many answers flip and the endpoints are equal.
    """
    from evalkit.scoring.base import SCORERS
    from evalkit.stages.proving import provable, suite_outlooks, suite_sizes
    from evalkit.tasksets.catalogue import (
        DEFAULT_SUITE,
        Size,
        builtin_names,
        draw,
        in_languages,
        load_tasksets,
    )
    from evalkit.tasksets.published import PUBLISHED
    from evalkit.tasksets.suites import SUITES

    rate = share("--flips", flips)
    size = Size(SUITES[suite or DEFAULT_SUITE], seed or 0, languages)
    chosen = [
        in_languages(taskset, languages)
        for name in names or builtin_names()
        for taskset in load_tasksets(name, size)
    ]
    previews = {t.name: draw(t, limit, seed or 0).samples if names else () for t in chosen}
    rows = [
        {
            **_as_dict(taskset, previews[taskset.name]),
            "independent": len({sample.unit for sample in taskset.samples}),
            "proves_points": provable(taskset, rate),
            "unknown_scorer": taskset.scorer not in SCORERS,
            "suites": suite_sizes(taskset, languages),
        }
        for taskset in chosen
    ]
    if as_json:
        click.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    _print_table(rows)
    _print_suites(suite_outlooks(rate, languages), rate)
    if not names:
        click.echo(f"\nPublic sets, from the hub or its cache: {', '.join(PUBLISHED)}")
    for taskset in chosen if names else ():
        for id, why in sorted(taskset.faults.items()):
            click.echo(f"\n{taskset.name} {id}: {why} (--skip-faulty leaves it out)")
        for why, count in taskset.left_out.items():
            click.echo(f"\n{taskset.name}: {count} left out: {why.replace('_', ' ')}")
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
        "scorer": taskset.scorer,
        "max_tokens": taskset.max_tokens,
        "margin_points": taskset.margin,
        "measures_hallucination": taskset.measures_hallucination,
        "runs_code": taskset.code,
        "content_hash": taskset.content_hash,
        "revision": taskset.revision,
        "faults": dict(taskset.faults),
        "left_out": dict(taskset.left_out),
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


def _print_table(tasksets: list[dict[str, Any]]) -> None:
    header = (
        *("taskset", "family", "samples", "languages", "max tokens", "margin", "proves"),
        "what it asks",
    )
    rows: list[tuple[str, ...]] = [header]
    for taskset in tasksets:
        languages = " ".join(f"{name} {count}" for name, count in taskset["languages"].items())
        notes = [
            note
            for applies, note in (
                (taskset["runs_code"], "needs --allow-code"),
                (taskset["unknown_scorer"], f"unknown scorer '{taskset['scorer']}'"),
                (
                    taskset["independent"] < taskset["samples"],
                    f"{taskset['independent']} independent",
                ),
                (taskset["faults"], f"{len(taskset['faults'])} known faults"),
                (taskset["left_out"], f"{sum(taskset['left_out'].values())} left out"),
            )
            if applies
        ]
        rows.append(
            (
                taskset["name"],
                taskset["family"],
                str(taskset["samples"]),
                languages,
                str(taskset["max_tokens"]),
                f"{taskset['margin_points']:g} pt",
                _points(taskset["proves_points"]),
                taskset["description"] + (f" ({', '.join(notes)})" if notes else ""),
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(header) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[-1]]).rstrip())


def _print_suites(suites: list[dict[str, Any]], rate: float) -> None:
    click.echo(f"\nSuites, and the smallest loss that each proves when {100 * rate:g}% flip:")
    for suite in suites:
        languages = " ".join(f"{name} {count}" for name, count in suite["languages"].items())
        click.echo(
            f"  {suite['suite']:<9} {suite['samples']:>5} a family ({languages}): "
            f"{_points(suite['family_points'])} in a family, "
            f"{_points(suite['pooled_points'])} over {len(suite['families'])} pooled"
        )


def _points(points: float | None) -> str:
    return "nothing" if points is None else f"{points:.1f} pt"


def _print_sample(sample: Sample) -> None:
    click.echo(f"\n{sample.id}  [{sample.language}, {sample.category or 'no category'}]")
    for message in sample.messages:
        click.echo(f"  {message.role}: {message.content}")
    click.echo(f"  target: {json.dumps(dict(sample.target), ensure_ascii=False)}")
