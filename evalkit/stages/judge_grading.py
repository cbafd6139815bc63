"""Judging answers that lie in a file: of `grade`, and labelled ones of `calibrate`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from evalkit.collect.journal import open_run
from evalkit.collect.judge_prompt import JudgeItem, sample_item
from evalkit.config import Config
from evalkit.errors import TasksetError
from evalkit.scoring.judge import Rulings, read_rulings
from evalkit.scoring.judging import decides_itself
from evalkit.stages.collecting import OnEvent
from evalkit.stages.judge_asking import Asked, ask_judge
from evalkit.stages.judge_choosing import Judge
from evalkit.stages.judge_folders import FOLDER
from evalkit.tasksets.head import RUNS_CODE
from evalkit.types import Completion, Taskset


async def judge_items(
    judge: Judge,
    items: Mapping[str, JudgeItem],
    folder: Path,
    config: Config,
    *,
    on_event: OnEvent,
    notify: Callable[[str], None],
    stop: asyncio.Event,
) -> tuple[Asked, Rulings]:
    """Ask about items, and return all that was said of them now or before.

    Args:
        judge: Who, and by what.
        items: By key.
        folder: Keeps what is said, for whatever else is judged there.
        config: How to ask.
        on_event: Told what happens, under the name `judge`.
        notify: Told in a sentence about what takes long.
        stop: When set, what is in flight is finished and the rest is left.

    Raises:
        EndpointError, IdentityChanged, Interrupted, StoreError: As for `ask_judge`.
    """
    asked = await ask_judge(
        judge, {folder: items}, config, on_event=on_event, notify=notify, stop=stop
    )
    every = read_rulings(open_run(folder / FOLDER / asked.folder).completions())
    mine = {key: ruling for key, ruling in every.by_key.items() if key in items}
    turned = {key: ruling for key, ruling in every.turned.items() if key in items}
    return asked, Rulings(mine, turned)


def answer_items(
    judge: Judge, taskset: Taskset, completions: Iterable[Completion]
) -> dict[str, JudgeItem]:
    """Return what is asked about recorded answers that no failure of the model decides.

    Raises:
        TasksetError: For programs, which only tests can judge.
    """
    if taskset.code or taskset.scorer in RUNS_CODE:
        raise TasksetError(
            f"Taskset '{taskset.name}' is scored by running programs: a judge cannot.",
            hint="Leave out --judge.",
        )
    samples = {sample.id: sample for sample in taskset.samples}
    items = (
        sample_item(judge.rubric, samples[completion.sample_id], completion.text)
        for completion in completions
        if completion.text is not None
        and not decides_itself(samples[completion.sample_id], completion)
    )
    return {item.key: item for item in items}
