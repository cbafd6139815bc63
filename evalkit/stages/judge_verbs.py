"""What `score`, `grade` and `calibrate` do with a judge, from files to files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from evalkit import __version__
from evalkit.collect.interrupts import run_with_signals
from evalkit.collect.journal import open_run
from evalkit.config import Config
from evalkit.scoring.judge import JudgeScorer
from evalkit.stages.arms import Arm
from evalkit.stages.collecting import CollectedRun, OnEvent, load_run
from evalkit.stages.grading_answers import Recorded
from evalkit.stages.judge_asking import judge_runs
from evalkit.stages.judge_calibration import Calibrated, beside_labels, policy_yaml
from evalkit.stages.judge_choosing import (
    NOBODY,
    decides,
    forget_judges,
    judge_for,
    make_judge,
    named_judge,
    refuse_unjudged,
)
from evalkit.stages.judge_grading import answer_items, judge_items
from evalkit.stages.judge_labels import read_labelled
from evalkit.stages.plan import Plan, recorded_plan
from evalkit.types import Taskset

DEFAULT_FOLDER: Final = Path("reports/out/judged")


@dataclass(frozen=True, slots=True)
class CalibratedFile:
    """A calibration, and what a policy takes of it; empty where it has no rates."""

    calibrated: Calibrated
    yaml: str


def judge_recorded(
    folders: Sequence[Path],
    config: Config,
    *,
    on_event: OnEvent,
    notify: Callable[[str], None],
) -> None:
    """Let a judge read the answers of recorded runs, all together; `none` lets rules decide.

    Raises:
        EvalKitError: One sentence with what to do.
    """
    runs = [_recorded(folder) for folder in folders]
    tasksets = {t.name: t for _, plan in runs for t in plan.tasksets}
    if config.judge is not None and config.judge.endpoint == NOBODY:
        refuse_unjudged(config, tasksets.values(), [])
        forget_judges(run.folder.path for run, _ in runs)
        return
    judge = judge_for(config, list(tasksets.values()))

    async def ask(stop: asyncio.Event) -> None:
        await judge_runs(judge, runs, config, on_event=on_event, notify=notify, stop=stop)

    run_with_signals(ask)


def judge_answers(
    taskset: Taskset,
    recorded: Recorded,
    config: Config,
    folder: Path | None,
    *,
    always: bool,
    on_event: OnEvent,
    notify: Callable[[str], None],
) -> JudgeScorer | None:
    """Let a judge read recorded answers; return the scorer that knows what it said.

    Args:
        taskset: What was asked.
        recorded: What was answered.
        config: May name a judge.
        folder: Keeps what it says.
        always: Whether it decides whatever the taskset is.
        on_event: Told what happens.
        notify: Told in a sentence about what takes long.

    Returns:
        `None` where the taskset's own scorer decides.

    Raises:
        EvalKitError: One sentence with what to do.
    """
    refuse_unjudged(config, [taskset], [None])
    judge = make_judge(config)
    wanted = set(config.judge.tasks) if config.judge else set()
    if judge is None or not (always or decides(taskset, wanted)):
        return None
    items = answer_items(judge, taskset, recorded.completions)

    async def ask(stop: asyncio.Event) -> JudgeScorer:
        _, rulings = await judge_items(
            judge,
            items,
            folder or DEFAULT_FOLDER,
            config,
            on_event=on_event,
            notify=notify,
            stop=stop,
        )
        return JudgeScorer(judge.rubric, rulings.by_key)

    return run_with_signals(ask)


def calibrate_judge(
    labels: Path,
    config: Config,
    tasksets: Sequence[str],
    folder: Path | None,
    *,
    on_event: OnEvent,
    notify: Callable[[str], None],
) -> CalibratedFile:
    """Ask a judge about labelled answers, each twice.

    Args:
        labels: See `read_labelled`.
        config: Names the judge.
        tasksets: Names that the calibration is for.
        folder: Keeps what it says.
        on_event: Told what happens.
        notify: Told in a sentence about what takes long.

    Raises:
        EvalKitError: One sentence with what to do.
    """
    judge = replace(named_judge(config), repeat=1.0)
    labelled = read_labelled(labels, judge.rubric, tasksets[0])

    async def ask(stop: asyncio.Event) -> Calibrated:
        items = {one.item.key: one.item for one in labelled}
        asked, rulings = await judge_items(
            judge,
            items,
            folder or DEFAULT_FOLDER,
            config,
            on_event=on_event,
            notify=notify,
            stop=stop,
        )
        return beside_labels(labelled, rulings, asked.mark)

    found = run_with_signals(ask)
    comment = (
        f"Judge {judge.arm.name}, rubric {judge.rubric.name} v{judge.rubric.version} "
        f"({judge.rubric.hash[:12]}), {found.labels} labels; evalkit {__version__}"
    )
    if found.weak:
        comment += "\nToo weak to decide on: comparisons under this are INVALID (JUDGE_WEAK)."
    return CalibratedFile(found, policy_yaml(found, tasksets, comment) if found.usable else "")


def _recorded(folder: Path) -> tuple[CollectedRun, Plan]:
    header = open_run(folder).read_header() or {}
    plan = recorded_plan(header, folder, allow_code=True)
    name = header.get("endpoint", {}).get("name") or folder.resolve().name
    return load_run(Arm(str(name), recorded=folder), plan), plan
