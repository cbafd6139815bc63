"""Answers without scores that anything recorded: scored here, by the taskset that was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalkit.collect.journal import open_run
from evalkit.collect.requests import build_requests
from evalkit.config import Config
from evalkit.endpoints.reasoning import split_think
from evalkit.errors import InvalidComparison, LogError, UsageError
from evalkit.importers.base import Item, Recording
from evalkit.stages.arms import Arm
from evalkit.stages.log_runs import (
    completion_of,
    fresh_folder,
    identity_of_log,
    recorded_at,
    write_run,
)
from evalkit.stages.plan import Plan, make_plan, recorded_plan
from evalkit.stages.recording_notes import header_notes
from evalkit.types import Completion, Sample

Answers = Mapping[tuple[str, str, int], Item]


def is_plain(recording: Recording) -> bool:
    """Whether a log holds answers and no score at all."""
    return not any(task.metrics for task in recording.tasks)


def answers_for(
    arms: Sequence[Arm],
    recordings: Sequence[Recording],
    config: Config,
    folder: Path,
    on_stage: Callable[[str], None],
) -> list[Arm]:
    """Turn files of answers into recorded runs of a taskset, which its own scorer will score.

    They may stand beside endpoints and runs: all are asked the same.

    Args:
        arms: Files, endpoints and runs, the baseline first.
        recordings: Of the files, in their order.
        config: Names the tasksets, unless a run does.
        folder: Of the comparison.
        on_stage: Told how much of the prompts was answered.

    Raises:
        LogError: When nothing says what was asked, or a file answers nothing of it.
        InvalidComparison: When a file holds another prompt than the taskset.
        StoreError: When a run cannot be written.
    """
    plan = _plan(arms, recordings, config)
    left = iter(recordings)
    made = []
    for arm in arms:
        if arm.log is None:
            made.append(arm)
            continue
        path = folder / "runs" / arm.name
        _write(arm.name, next(left), plan, path, config, on_stage)
        made.append(replace(arm, log=None, recorded=path))
    return made


def _plan(arms: Sequence[Arm], recordings: Sequence[Recording], config: Config) -> Plan:
    for arm in arms:
        if arm.recorded is not None:
            header = open_run(arm.recorded).read_header() or {}
            return recorded_plan(header, arm.recorded, allow_code=config.allow_code)
    if not config.tasks:
        raise LogError(
            f"{recordings[0].source} holds answers without a score.",
            hint="Each line needs one ('correct' or 'score'); or name what was asked, to score "
            "them here: --tasks TASKSET.",
        )
    return make_plan(config)


def _write(
    name: str,
    recording: Recording,
    plan: Plan,
    path: Path,
    config: Config,
    on_stage: Callable[[str], None],
) -> None:
    answers = _placed(recording, plan)
    samples = plan.samples()
    found = {key: item for key, item in answers.items() if key[:2] in samples}
    if not found:
        theirs, ours = next(iter(answers))[1], next(iter(samples))[1]
        raise LogError(
            f"{recording.source} answers nothing that was asked: its ids are like '{theirs[:60]}', "
            f"and those of the taskset like '{ours[:60]}'."
        )
    if not config.allow_confounded:
        _refuse_other_prompts(recording, found, samples)
    on_stage(f"{recording.source} answers {len(found)} of {len(samples) * plan.epochs} prompts")
    folder = fresh_folder(path)
    identity = identity_of_log(recording)
    requests = build_requests(plan.tasksets, identity, plan.sampling_for, plan.epochs, plan.seed)
    started = recorded_at(recording.created)

    def completions() -> Iterator[Completion]:
        for request in requests:
            key = request.taskset, request.sample_id, request.epoch
            yield _without_thoughts(completion_of(request, found.get(key), started))

    write_run(folder, name, recording, plan, header_notes(recording, (), {}), completions())


def _placed(recording: Recording, plan: Plan) -> Answers:
    """Return answers by taskset, id and epoch; a file that names no taskset answers the only one.

    Raises:
        UsageError: When it is not clear which taskset is answered.
    """
    names = {taskset.name for taskset in plan.tasksets}
    placed: dict[tuple[str, str, int], Item] = {}
    for task in recording.tasks:
        name = task.name
        if name not in names:
            if len(names) > 1:
                raise UsageError(
                    f"{recording.source} does not say which of {', '.join(sorted(names))} it "
                    "answers.",
                    hint="Give each line a 'task', or name one taskset.",
                )
            name = next(iter(names))
        placed |= {(name, item.id, item.epoch): item for item in task.items}
    return placed


def _refuse_other_prompts(
    recording: Recording, found: Answers, samples: Mapping[tuple[str, str], Sample]
) -> None:
    for (name, id, _), item in found.items():
        asked = samples[name, id].messages[-1].content
        if item.messages and item.messages[-1].content.strip() != asked.strip():
            raise InvalidComparison(
                f"{recording.source} holds another prompt for '{id}' than {name} asks.",
                hint="Name the taskset that was asked, or decide all the same with "
                "--allow-confounded.",
            )


def _without_thoughts(completion: Completion) -> Completion:
    if completion.text is None:
        return completion
    within, text = split_think(completion.text)
    thought = "\n".join(filter(None, (completion.reasoning, within))) or None
    return replace(completion, text=text, reasoning=thought)
