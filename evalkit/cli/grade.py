"""`evalkit grade`: score recorded answers of anything."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalkit.cli.display import make_display
from evalkit.cli.options import (
    ALLOW_CODE,
    CONFIG,
    CONNECTIONS,
    JUDGE,
    LANGUAGES,
    OUTPUT,
    PASS_AT,
    PROCESSES,
    SEED,
    SET,
    SKIP_FAULTY,
    SUITE,
    TALKING,
    read_config,
)
from evalkit.cli.passes import estimate_body, estimate_text, pass_body, pass_lines

if TYPE_CHECKING:
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
@click.option(
    "--epochs",
    type=click.IntRange(min=1),
    help="Answers to each sample: where an id stands several times without `epoch`, these are "
    "its repeats, in their order.",
)
@PASS_AT
@ALLOW_CODE
@SKIP_FAULTY
@PROCESSES
@JUDGE
@CONFIG
@SET
@CONNECTIONS
@OUTPUT
@TALKING
def grade(
    taskset: str,
    answers: Path,
    out_path: Path | None,
    suite: SuiteName | None,
    seed: int | None,
    languages: tuple[Language, ...],
    epochs: int | None,
    pass_at: tuple[int, ...],
    allow_code: bool | None,
    skip_faulty: bool | None,
    processes: int | None,
    judge: str | None,
    config_path: Path | None,
    overrides: tuple[str, ...],
    output: Path | None,
    display: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    **flags: Any,
) -> None:
    """Score recorded answers: JSON lines with `id` and `completion`.

    TASKSET is a built-in name, a taskset's folder or file, a public set by name (gsm8k), in
    its own file (gsm8k:FILE, path:FILE) or on the hub (hf:ORG/NAME), or a task of lm-eval
    (lm-eval:TASK). An answer may have `finish_reason`, `epoch` and
    `reasoning`. --suite, --seed and --languages say which prompts a generator made. With
    --judge that endpoint decides; what it says is kept in --output.
    """
    from evalkit.stages.grading_answers import grade_answers, read_answers, write_items
    from evalkit.stages.judge_verbs import judge_answers
    from evalkit.tasksets.catalogue import DEFAULT_SUITE, Size, load_taskset
    from evalkit.tasksets.faults import without_faulty
    from evalkit.tasksets.suites import SUITES

    size = Size(SUITES[suite or DEFAULT_SUITE], seed or 0, languages)
    loaded = load_taskset(taskset, size)
    loaded = without_faulty(loaded) if skip_faulty else loaded
    recorded = read_answers(answers, loaded, epochs=epochs)
    config = read_config(config_path, overrides, {**flags, "judge": judge})
    with make_display(display, quiet=quiet, verbose=verbose) as shown:
        scorer = judge_answers(
            loaded,
            recorded,
            config,
            output,
            always=judge is not None,
            on_event=shown.on_event,
            notify=shown.on_stage,
        )
    graded = grade_answers(
        loaded,
        recorded,
        allow_code=bool(allow_code),
        processes=processes,
        tries=pass_at,
        scorer=scorer,
    )
    if out_path is not None:
        write_items(out_path, graded)
    body = _as_dict(graded, out_path)
    if as_json:
        click.echo(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False))
    else:
        _print(body)


def _as_dict(graded: Graded, out_path: Path | None) -> dict[str, Any]:
    from evalkit.scoring.agreement import weak_rule

    taskset, recorded, summary = graded.taskset, graded.recorded, graded.summary
    rule = weak_rule(taskset) if graded.scorer != "judge" else None
    reasons = Counter(
        answer.score.reason or "unknown" for _, answer in graded.answers if answer.missing
    )
    return {
        "taskset": taskset.name,
        "family": taskset.family.value,
        "scorer": graded.scorer,
        "scorer_version": graded.scorer_version,
        "decided_by": "judge" if graded.scorer == "judge" else "rule",
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
        "accuracy": estimate_body(summary.accuracy),
        "hallucination": estimate_body(summary.hallucination),
        "hallucination_attempted": estimate_body(summary.hallucination_attempted),
        "abstention": estimate_body(summary.abstention),
        "pass_at": {str(k): estimate.value for k, estimate in graded.pass_at.items()},
        "pass_at_estimates": pass_body(graded.pass_at),
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
            click.echo(f"  {label:<15}{estimate_text(body[name])}")
    for line in pass_lines(body["pass_at_estimates"]):
        click.echo(f"  {line}")
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
