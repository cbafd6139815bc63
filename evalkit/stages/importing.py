"""Logs of other tools become recorded runs: from there on all is as with runs of one's own.

A run folder that is made so holds its prompts too (`tasksets/`), and what the tool said of each
answer (`recorded.jsonl`). Nothing in it says more than the log does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import orjson
import yaml

from evalkit.collect.requests import build_requests
from evalkit.collect.writer import reason_of, write_atomic
from evalkit.config import Config, SamplingOptions
from evalkit.errors import LogError, StoreError, UsageError
from evalkit.importers.alignment import AlignedTask, Alignment, Wishes, align
from evalkit.importers.base import Item, Recording
from evalkit.scoring.health import health_flags
from evalkit.scoring.judging import expected_language
from evalkit.scoring.recorded import write_recorded
from evalkit.scoring.scripts import han_count
from evalkit.stages.answering import answers_for, is_plain
from evalkit.stages.arms import Arm
from evalkit.stages.log_runs import (
    completion_of,
    fresh_folder,
    identity_of_log,
    recorded_at,
    recording_hash,
    write_run,
)
from evalkit.stages.plan import OWN_TASKSETS, Plan
from evalkit.stages.recording_notes import header_notes
from evalkit.tasksets.catalogue import Selection, load_taskset
from evalkit.tasksets.head import RECORDED
from evalkit.types import Completion, Flag, Outcome, Request, Sample, Score, ScoreStatus

_SILENT: Final = "(The log does not hold the prompt of {id}.)"
_DEFAULT_BOUND: Final = 1024


def import_logs(
    arms: Sequence[Arm], config: Config, folder: Path, on_stage: Callable[[str], None]
) -> list[Arm]:
    """Turn arms that are logs into recorded runs in a comparison's folder; leave the others.

    Args:
        arms: The baseline first.
        config: What is wished of the logs.
        folder: Of the comparison.
        on_stage: Told what was taken from where.

    Raises:
        LogError: When a log is damaged or holds nothing to compare.
        UsageError: When a log and something else hold no pairs.
        InvalidComparison: When two logs were asked different things.
        StoreError: When a run cannot be written.
    """
    logs = [arm for arm in arms if arm.log is not None]
    if not logs:
        return list(arms)
    if config.redact:
        raise UsageError(
            "--redact comes too late for logs: they hold the texts already.",
            hint="Compare without it, and share what `evalkit report --redact` writes.",
        )
    recordings = [arm.log.read() for arm in logs if arm.log is not None]
    for note in dict.fromkeys(note for one in recordings for note in one.notes):
        on_stage(note)
    if all(map(is_plain, recordings)):
        return answers_for(arms, recordings, config, folder, on_stage)
    _refuse_mixture(arms, recordings)
    wishes = Wishes(config.tasks, config.families, config.metrics, config.allow_confounded)
    alignment = align(recordings, wishes)
    for task in alignment.tasks:
        if task.assumed:
            on_stage(
                f"'{task.name}' counts as {task.family.value}, since its name says nothing else: "
                f"--family {task.name}=FAMILY says otherwise"
            )
    runs = [folder / "runs" / arm.name for arm in arms]
    return [
        replace(arm, log=None, recorded=_write(place, arm, recordings, alignment, runs[place]))
        for place, arm in enumerate(arms)
    ]


def _refuse_mixture(arms: Sequence[Arm], recordings: Sequence[Recording]) -> None:
    for arm in arms:
        if arm.log is None:
            what = "an endpoint" if arm.recorded is None else "a run of evalkit"
            raise UsageError(
                f"{recordings[0].source} was recorded by {recordings[0].tool}, and '{arm.name}' is "
                f"{what}: they hold no pairs.",
                hint="Compare logs with logs.",
            )
    for one in recordings:
        if any(not task.metrics for task in one.tasks):
            raise LogError(
                f"{one.source} holds answers without a score.",
                hint="Each line needs one ('correct' or 'score'); or name what was asked, to "
                "score them here: --tasks TASKSET.",
            )


@dataclass(frozen=True, slots=True)
class _Writer:
    """One log on its way to a run folder."""

    arm: Arm
    place: int
    recording: Recording
    alignment: Alignment
    path: Path

    def tasksets(self) -> list[Path]:
        """Write what was asked; the same for every arm."""
        return [
            _write_taskset(self.path / OWN_TASKSETS / task.label, task, self.recording.tool)
            for task in self.alignment.tasks
        ]

    def completions(
        self, requests: Iterable[Request], samples: Mapping[tuple[str, str], Sample]
    ) -> Iterator[tuple[Completion, Score]]:
        """Yield what was answered, with the tool's score."""
        tasks = {task.label: task for task in self.alignment.tasks}
        started = recorded_at(self.recording.created)
        for request in requests:
            task = tasks[request.taskset]
            item = task.items[self.place].get((request.sample_id, request.epoch))
            completion = completion_of(request, item, started)
            sample = samples[request.taskset, request.sample_id]
            yield completion, _score(sample, completion, item, task, self.recording.by)


def _write(
    place: int,
    arm: Arm,
    recordings: Sequence[Recording],
    alignment: Alignment,
    path: Path,
) -> Path:
    """Write one log as a run folder, in the place of what an earlier import left there."""
    recording = recordings[place]
    folder = fresh_folder(path)
    writer = _Writer(arm, place, recording, alignment, path)
    tasksets = [load_taskset(str(one)) for one in writer.tasksets()]
    plan = Plan(
        Selection(tuple(tasksets)),
        SamplingOptions(),
        None,
        max(task.epochs for task in alignment.tasks),
        0,
    )
    identity = identity_of_log(recording)
    baseline = recording_hash(recordings[0])
    differences = alignment.differences[place - 1] if place else ()
    notes = header_notes(recording, alignment.tasks, {baseline: differences} if place else {})
    requests = build_requests(plan.tasksets, identity, plan.sampling_for, plan.epochs, plan.seed)
    scored = list(writer.completions(requests, plan.samples()))
    write_run(folder, arm.name, recording, plan, notes, (c for c, _ in scored))
    write_recorded(path, (score for _, score in scored))
    return path


def _score(
    sample: Sample, completion: Completion, item: Item | None, task: AlignedTask, by: str
) -> Score:
    score = Score(
        sample_id=completion.sample_id,
        taskset=completion.taskset,
        epoch=completion.epoch,
        fingerprint=completion.fingerprint,
        scorer=RECORDED,
        scorer_version=1,
        status=ScoreStatus.MISSING,
    )
    if completion.error is not None:
        reason = f"recorded:{completion.error.kind}"
        return replace(score, reason=reason, explanation=completion.error.message)
    assert item is not None
    value = item.metrics.get(task.metric)
    flags = _flags(sample, item, task) if task.task.generated else ()
    if value is None:
        why = f"{by} gave no {task.metric}."
        return replace(score, reason="recorded:not_scored", explanation=why, flags=flags)
    return replace(
        score,
        status=ScoreStatus.SCORED,
        # A pair moves at a half, and so does the outcome.
        outcome=Outcome.CORRECT if value >= 0.5 else Outcome.INCORRECT,
        value=value,
        answer=item.extracted.get(task.metric) or None,
        explanation=_explained(by, task.metric, value, item),
        flags=flags,
    )


def _explained(by: str, metric: str, value: float, item: Item) -> str:
    told = f"{by}: {metric} is {value:g}."
    said = item.explanations.get(metric)
    # Some scorers explain by the answer itself, which is shown anyway.
    alike = said is not None and said == " ".join((item.answer or "").split())[: len(said)]
    return f"{told} {said}" if said and not alike else told


def _flags(sample: Sample, item: Item, task: AlignedTask) -> tuple[Flag, ...]:
    """Return the signs of degeneration in an answer; they change no score of its tool."""
    if item.answer is None:
        return ()
    flags = health_flags(item.answer, item.finish_reason, expected_language(sample))
    if task.metric in item.unreadable:
        flags = (*flags, Flag.BAD_FORMAT)
    return flags


def _write_taskset(path: Path, task: AlignedTask, tool: str) -> Path:
    """Write what was asked as a taskset.

    Raises:
        StoreError: When it cannot be written.
    """
    head = {
        "name": task.label,
        "version": 1,
        "family": task.family.value,
        "description": f"{task.name}, as {tool} asked and scored it ({task.metric}).",
        "scorer": RECORDED,
        "max_tokens": task.task.max_tokens or _DEFAULT_BOUND,
        "suites": False,
    }
    rows = (orjson.dumps(_row(task, id), option=orjson.OPT_APPEND_NEWLINE) for id in task.ids)
    try:
        path.mkdir(parents=True, exist_ok=True)
        (path / "taskset.yaml").write_text(yaml.safe_dump(head, allow_unicode=True), "utf-8")
        write_atomic(path / "samples.jsonl", rows)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {reason_of(error)}.") from error
    return path


def _row(task: AlignedTask, id: str) -> dict[str, Any]:
    item = task.first(id)
    turns = [asdict(turn) for turn in item.messages]
    text = item.messages[-1].content if item.messages else item.answer or ""
    row: dict[str, Any] = {
        "id": id,
        "language": _language(item.language, text),
        "category": item.category,
        "messages": turns or [{"role": "user", "content": _SILENT.format(id=id)}],
        "target": {"expected": item.target} if item.target else {},
    }
    if id in task.clusters:
        row["cluster"] = task.clusters[id]
    return row


def _language(told: str | None, text: str) -> str:
    if told in ("en", "zh"):
        return told
    return "zh" if 5 * han_count(text) > len(text) else "en"
