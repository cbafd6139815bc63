"""`evalkit grade`: score recorded answers of anything."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.options import ALLOW_CODE, JSON, LANGUAGES, PROCESSES, SEED, SUITE

if TYPE_CHECKING:
    from evalkit.estimates import Estimate
    from evalkit.stages.grading_answers import Graded
    from evalkit.tasksets.suites import SuiteName
    from evalkit.types import Language

_NAMED = 10


@click.command()
@click.argument("taskset")
@click.argument("answers", type=click.Path(path_type=Path), metavar="ANSWERS.jsonl")
@click.option(
    "--out",
    "out_path",
    type=click.Path(path_type=Path),
    help="Also write the score of each answer there, as JSON lines.",
)
@SUITE
@SEED
@LANGUAGES
@ALLOW_CODE
@PROCESSES
@JSON
def grade(
    taskset: str,
    answers: Path,
    out_path: Path | None,
    suite: SuiteName | None,
    seed: int | None,
    languages: tuple[Language, ...],
    allow_code: bool | None,
    processes: int | None,
    as_json: bool,
) -> None:
    """Score recorded answers: JSON lines with `id` and `completion`.

    TASKSET is a built-in name, a taskset's folder or file, or a public set in its own file:
    gsm8k:FILE, math:FILE, humaneval:FILE, mbpp:FILE, ifeval:FILE, simpleqa:FILE,
    truthfulqa:FILE, halluqa:FILE. An answer may have `finish_reason`, `epoch` and
    `reasoning`. --suite, --seed and --languages say which prompts a generator made.
    """
    from evalkit.stages.grading_answers import grade_answers, read_answers, write_items
    from evalkit.tasksets.catalogue import DEFAULT_SUITE, Size, load_taskset
    from evalkit.tasksets.suites import SUITES

    size = Size(SUITES[suite or DEFAULT_SUITE], seed or 0, languages)
    loaded = load_taskset(taskset, size)
    recorded = read_answers(answers, loaded)
    graded = grade_answers(loaded, recorded, allow_code=bool(allow_code), processes=processes)
    if out_path is not None:
        write_items(out_path, graded)
    body = _as_dict(graded, out_path)
    if as_json:
        click.echo(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        _print(body)


def _as_dict(graded: Graded, out_path: Path | None) -> dict[str, Any]:
    from evalkit.scoring.agreement import weak_rule
    from evalkit.scoring.base import SCORERS

    taskset, recorded, summary = graded.taskset, graded.recorded, graded.summary
    scorer = SCORERS.get(taskset.scorer)
    rule = weak_rule(taskset) if scorer.name != "judge" else None
    reasons = Counter(
        answer.score.reason or "unknown" for _, answer in graded.answers if answer.missing
    )
    return {
        "taskset": taskset.name,
        "family": taskset.family.value,
        "scorer": scorer.name,
        "scorer_version": scorer.version,
        "decided_by": "judge" if scorer.name == "judge" else "rule",
        "agreement": None if rule is None else asdict(rule),
        "samples": len(taskset.samples),
        "n": summary.n,
        "outcomes": {
            "correct": summary.correct,
            "incorrect": summary.incorrect,
            "abstained": summary.abstained,
        },
        "unscored": summary.unscored,
        "failed": dict(sorted(reasons.items())),
        "accuracy": _estimate(summary.accuracy),
        "hallucination": _estimate(summary.hallucination),
        "hallucination_attempted": _estimate(summary.hallucination_attempted),
        "abstention": _estimate(summary.abstention),
        "pass_at": {str(k): value for k, value in graded.pass_at.items()},
        "flags": dict(summary.flags),
        "right_but_failed": graded.overruled,
        "ids": {
            "missing": _ids(recorded.missing),
            "unknown": _ids(recorded.unknown),
            "duplicate": _ids(recorded.duplicate),
        },
        "out": None if out_path is None else str(out_path),
    }


def _ids(ids: Sequence[str]) -> dict[str, Any]:
    return {"count": len(ids), "ids": list(ids)}


def _estimate(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "method": estimate.method,
        "n": estimate.n,
        "confidence_level": estimate.confidence_level,
    }


def _print(body: dict[str, Any]) -> None:
    click.echo(f"{body['taskset']} ({body['scorer']} v{body['scorer_version']})")
    if (rule := body["agreement"]) is not None:
        click.echo(
            f"  decided by a rule that agrees with the labels of {rule['labels']} on "
            f"{100 * rule['share']:.0f}% of {rule['n']:,} open answers: name a judge, or compare "
            "only"
        )
    outcomes = ", ".join(f"{count} {name}" for name, count in body["outcomes"].items())
    click.echo(f"  answers        {body['n']}: {outcomes}")
    for name, label in (
        ("accuracy", "accuracy"),
        ("hallucination", "hallucination"),
        ("abstention", "abstention"),
        ("hallucination_attempted", "wrong if tried"),
    ):
        if body[name] is not None:
            click.echo(f"  {label:<15}{_shown(body[name])}")
    for k, value in body["pass_at"].items():
        click.echo(f"  {f'pass@{k}':<15}{100 * value:.1f}%")
    if body["unscored"]:
        click.echo(f"  nothing to score in {body['unscored']} (counted as not correct)")
    if body["flags"]:
        flags = ", ".join(f"{name} {count}" for name, count in body["flags"].items())
        click.echo(f"  flags          {flags}")
    if body["right_but_failed"]:
        click.echo(
            f"  {body['right_but_failed']} that the scorer found right are not counted: cut off, "
            "looping or badly formatted"
        )
    if body["failed"]:
        why = ", ".join(f"{reason} {count}" for reason, count in body["failed"].items())
        click.echo(f"  without a score: {why}")
    for kind, said in (
        ("missing", "samples have no answer"),
        ("unknown", "ids are none of the taskset's"),
        ("duplicate", "ids stand there twice; the first answer counts"),
    ):
        found = body["ids"][kind]
        if found["count"]:
            named = ", ".join(one[:60] for one in found["ids"][:_NAMED])
            more = ", ..." if found["count"] > _NAMED else ""
            click.echo(f"  {found['count']} {said}: {named}{more}")
    if body["out"]:
        click.echo(f"Scores: {body['out']}")


def _shown(estimate: dict[str, Any]) -> str:
    value, low, high = (estimate[key] for key in ("value", "low", "high"))
    if value is None:
        return "no data"
    level = f"{100 * estimate['confidence_level']:g}%"
    limits = "no interval" if low is None else f"{level}: {100 * low:.1f} to {100 * high:.1f}%"
    return f"{100 * value:.1f}% ({limits})"
