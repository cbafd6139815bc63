"""Which judge decides what: before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evalkit.collect.judge_rubric import Rubric, read_rubric
from evalkit.config import Config
from evalkit.endpoints.base import resolve_target
from evalkit.errors import TasksetError, UsageError
from evalkit.scoring.agreement import weak_rule
from evalkit.stages.arms import Arm
from evalkit.stages.judge_folders import forget_judged, read_judged
from evalkit.tasksets.head import RUNS_CODE
from evalkit.types import Sampling, Taskset

NOBODY: Final = "none"
"""What `--judge` says where rules shall decide although a judge has."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge and what it is to decide.

    Attributes:
        arm: Its endpoint.
        rubric: What it judges by.
        sampling: How it is asked.
        repeat: Share of the answers that it is asked about twice.
        tasksets: Names of those that it decides.
    """

    arm: Arm
    rubric: Rubric
    sampling: Sampling
    repeat: float
    tasksets: tuple[str, ...] = ()


def make_judge(config: Config) -> Judge | None:
    """Return the judge that a configuration names, not yet told what to decide.

    Raises:
        UnknownNameError: For an endpoint or a rubric that is not known.
        UsageError: For what cannot go together with a judge.
    """
    options = config.judge
    if options is None or options.endpoint == NOBODY:
        return None
    if options.endpoint is None:
        raise UsageError(
            "The judge of the configuration has no endpoint.",
            hint="Name one with --judge, or as `judge: {endpoint: NAME}`.",
        )
    if config.redact:
        raise _redacted()
    if config.policy.plan == "sequential":
        raise UsageError(
            "A sequential plan cannot allow for the errors of a judge.",
            hint="Declare `plan: single` or `plan: two-stage`, or leave out the judge.",
        )
    name, raw = resolve_target(options.endpoint, config.endpoints)
    # Its seed is always the same: a calibration is of one way of asking.
    sampling = Sampling(max_tokens=options.max_tokens, temperature=options.temperature)
    return Judge(Arm(name, raw=raw), read_rubric(options.rubric), sampling, options.repeat)


def judge_for(
    config: Config, tasksets: Sequence[Taskset], *, redacted: bool = False
) -> Judge | None:
    """Return the judge with the tasksets that it decides: before anything is asked.

    It decides those that ask for a judge, those of the configuration, and open ones.

    Args:
        config: May name a judge.
        tasksets: What is asked.
        redacted: Whether a run that is compared keeps no texts.

    Raises:
        UsageError: When it would decide nothing, or a taskset needs a judge and none is named.
        TasksetError: For programs, which only tests can judge.
    """
    judge = make_judge(config)
    if judge is None:
        return None
    if redacted:
        raise _redacted()
    wanted = set(config.judge.tasks) if config.judge else set()
    chosen = [taskset for taskset in tasksets if decides(taskset, wanted)]
    known = {word for taskset in tasksets for word in (taskset.name, taskset.family.value)}
    if unknown := sorted(wanted - known):
        raise UsageError(
            f"The judge is to decide '{unknown[0]}', which is not asked.",
            hint=f"Asked: {', '.join(sorted(known))}.",
        )
    for taskset in chosen:
        if taskset.scorer in RUNS_CODE:
            raise TasksetError(
                f"Taskset '{taskset.name}' is scored by running programs: a judge cannot.",
                hint="Leave it out of judge.tasks.",
            )
    if not chosen:
        raise UsageError(
            "There is nothing for the judge to decide: every taskset has exact answers.",
            hint="Name tasksets or families in judge.tasks, e.g. --set judge.tasks=[facts].",
        )
    names = tuple(taskset.name for taskset in chosen)
    return replace(judge, tasksets=names)


def _redacted() -> UsageError:
    return UsageError(
        "A redacted run keeps no text that a judge could read.",
        hint="Leave out --redact and redacted runs, or the judge.",
    )


def named_judge(config: Config) -> Judge:
    """Return the judge that a configuration names.

    Raises:
        UsageError: When it names none; further as for `make_judge`.
    """
    judge = make_judge(config)
    if judge is None:
        raise UsageError(
            "No judge is named.",
            hint="Name an endpoint with --judge, or as `judge: {endpoint: NAME}`.",
        )
    return judge


def refuse_unjudged(
    config: Config, tasksets: Iterable[Taskset], runs: Iterable[Path | None]
) -> None:
    """Refuse a taskset that asks for a judge where there is none: before anything is asked.

    Args:
        config: It may name one.
        tasksets: What is asked.
        runs: Recorded runs, which may have been judged; `None` for what is asked now.

    Raises:
        UsageError: Naming the taskset.
    """
    named = config.judge is not None and config.judge.endpoint != NOBODY
    if named:
        return
    forgotten = config.judge is not None
    judged = not forgotten and all(run is not None and read_judged(run) for run in runs)
    for taskset in tasksets:
        if taskset.scorer == "judge" and not judged:
            raise UsageError(
                f"Taskset '{taskset.name}' is decided by a judge, and none is named.",
                hint="Name an endpoint with --judge, or as `judge: {endpoint: NAME}`.",
            )


def decides(taskset: Taskset, wanted: set[str]) -> bool:
    """Whether a judge decides a taskset: it asks for one, its rule is weak, or it is wanted."""
    asks = taskset.scorer == "judge" or weak_rule(taskset) is not None
    return asks or not wanted.isdisjoint((taskset.name, taskset.family.value))


def forget_judges(runs: Iterable[Path]) -> None:
    """Let rules decide again (`--judge none`)."""
    for run in runs:
        forget_judged(run)
