"""Runs that were recorded before: what they were asked decides what all arms are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.collect.journal import open_run
from evalkit.config import Config
from evalkit.errors import StoreError, UsageError
from evalkit.stages.arms import Arm
from evalkit.stages.collecting import CollectedRun, load_run, unanswered
from evalkit.stages.plan import (
    Plan,
    absolute_source,
    make_plan,
    plan_difference,
    recorded_plan,
)
from evalkit.stages.probing import OnStage


def shared_plan(arms: Sequence[Arm], config: Config, on_stage: OnStage) -> Plan:
    """Return what all arms were or will be asked; recorded runs decide when there are any."""
    if len(arms) < 2:
        raise UsageError("A comparison needs a baseline and at least one candidate.")
    plans = [
        (
            arm,
            recorded_plan(
                open_run(arm.recorded).read_header() or {},
                arm.recorded,
                allow_code=config.allow_code,
            ),
        )
        for arm in arms
        if arm.recorded is not None
    ]
    if not plans:
        return make_plan(config)
    first_arm, first = plans[0]
    for arm, plan in plans[1:]:
        differing = plan_difference(first, plan)
        if differing:
            raise StoreError(
                f"{first_arm.recorded} and {arm.recorded} were asked different things: "
                f"{', '.join(differing)}.",
                hint="Record both with the same tasks, limit, epochs, seed and sampling.",
            )
    _refuse_other_wishes(config, first, first_arm)
    if len(plans) < len(arms):
        on_stage(f"asking what {first_arm.recorded} was asked")
    return first


def _refuse_other_wishes(config: Config, plan: Plan, arm: Arm) -> None:
    """A recorded run decides what is asked: a flag that says otherwise is not passed over."""
    refused = other_wishes(config, plan)
    if refused:
        raise UsageError(
            f"{arm.recorded} was asked other things than {', '.join(refused)} says.",
            hint="Leave that out, or ask the endpoint again.",
        )


def other_wishes(config: Config, plan: Plan) -> dict[str, tuple[object, object]]:
    """Return what a configuration wishes otherwise than a recorded plan: recorded, wished."""
    asked = [taskset.name for taskset in plan.tasksets]
    other_tasks = config.tasks and _meant(config.tasks, plan) != {*asked}
    wishes: dict[str, tuple[object, object, object]] = {
        "tasks": (asked, list(config.tasks), other_tasks),
        "limit": (plan.limit, config.limit, config.limit is not None),
        "suite": (plan.suite, config.suite, config.suite is not None),
        "stage_2": (plan.stage_2, config.stage_2, config.stage_2 is not None),
        "skip_faulty": (plan.skip_faulty, config.skip_faulty, config.skip_faulty),
        "languages": (plan.languages, config.languages, config.languages),
        "epochs": (plan.epochs, config.epochs, config.epochs != 1),
        "seed": (plan.seed, config.seed, config.seed != 0),
    }
    return {
        name: (recorded, wished)
        for name, (recorded, wished, meant) in wishes.items()
        if meant and recorded != wished
    }


def _meant(wishes: Sequence[str], plan: Plan) -> set[str | None]:
    """Return the tasksets that names, families and paths mean; `None` for one not recorded."""
    rows = plan.record()["tasksets"]
    known = {word: row["name"] for row in rows for word in (row["name"], *_spellings(row))}
    # A family means the tasksets that ship with evalkit.
    shipped = {row["name"] for row in rows if row["path"] is None}
    meant: set[str | None] = set()
    for wish in wishes:
        family: set[str | None] = {
            taskset.name
            for taskset in plan.tasksets
            if taskset.family.value == wish and taskset.name in shipped
        }
        if wish in known or not family:
            family = {known.get(wish, known.get(absolute_source(wish)))}
        meant |= family
    return meant


def _spellings(row: Mapping[str, Any]) -> Iterator[str | None]:
    """Yield the ways to write where a taskset lies: also without commit, and without format."""
    path = row["path"]
    yield path
    if path and row.get("revision"):
        for written in (path, path.replace(f"@{row['revision']}", "")):
            yield written
            yield written.partition(":")[2] or None


def recorded_run(arm: Arm, plan: Plan) -> CollectedRun:
    """Open a recorded run that was asked everything.

    Raises:
        StoreError: When it cannot be used or was never finished.
    """
    run = load_run(arm, plan)
    _refuse_incomplete(run)
    return run


def _refuse_incomplete(collected: CollectedRun) -> None:
    """Refuse a recorded run that was never finished; a run of this process cannot be one."""
    left = unanswered(collected, collected.stream())
    if left:
        raise StoreError(
            f"{collected.folder.path} is not complete: {left} of {len(collected.requests)} "
            "requests were never asked.",
            hint="Finish that run first: the same command goes on where it stopped.",
        )
