"""Writing what a log holds as a run folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final

from evalkit.collect.header import header_of
from evalkit.collect.journal import RunFolder
from evalkit.collect.writer import reason_of
from evalkit.errors import StoreError
from evalkit.importers.base import Item, Recording
from evalkit.importers.reading import hash_of
from evalkit.stages.plan import OWN_TASKSETS, Plan
from evalkit.types import Completion, CompletionError, Identity, Request, Timing, Usage

_BATCH: Final = 500
NOT_RECORDED: Final = "NotRecorded"
"""Why a prompt has no answer that its log does not hold."""


def recording_hash(recording: Recording) -> str:
    """Hash what a log says: equal for equal logs, wherever they lie."""
    tasks = [
        [task.name, dict(task.settings), [_said(item) for item in task.items]]
        for task in recording.tasks
    ]
    return hash_of([recording.tool, recording.model, recording.created, tasks])


def _said(item: Item) -> list[Any]:
    return [item.id, item.epoch, item.answer, sorted(item.metrics.items()), item.error]


def fresh_folder(path: Path) -> RunFolder:
    """Return an empty run folder, where at most an earlier import lay.

    Raises:
        StoreError: When something else lies there.
    """
    folder = RunFolder.create_or_open(path)
    header = folder.read_header()
    if header is not None and not header.get("recorded"):
        raise StoreError(
            f"{path} holds answers that evalkit asked for.", hint="Choose another --output."
        )
    with folder:
        folder.discard()
    try:
        if (path / OWN_TASKSETS).exists():
            shutil.rmtree(path / OWN_TASKSETS)
    except OSError as error:
        raise StoreError(f"{path / OWN_TASKSETS} cannot be removed: {reason_of(error)}.") from error
    return folder


def write_run(
    folder: RunFolder,
    name: str,
    recording: Recording,
    plan: Plan,
    notes: Mapping[str, Any],
    completions: Iterable[Completion],
) -> None:
    """Write header and answers of a log.

    Raises:
        StoreError: When they cannot be written.
    """
    identity = identity_of_log(recording)
    label = f"{recording.model}, recorded by {recording.by}"
    header = header_of(
        name,
        label if recording.created is None else f"{label} on {recording.created[:10]}",
        identity,
        {taskset.name: plan.sampling_for(taskset) for taskset in plan.tasksets},
        plan=plan.record(),
        recorded=notes,
        run_id=identity.recording_hash,
        created=recording.created or "",
    )
    with folder:
        folder.write_header(header)
        left = iter(completions)
        while batch := list(islice(left, _BATCH)):
            folder.append(*batch)


def identity_of_log(recording: Recording) -> Identity:
    """Return what a log says of its model."""
    return Identity(
        kind="recorded",
        model=recording.model,
        details={"recorded_by": recording.by, **recording.about},
        recording_hash=recording_hash(recording),
    )


def completion_of(request: Request, item: Item | None, started: float) -> Completion:
    """Return what a log holds of one request; what it lacks is an error and never an answer."""
    error = None
    if item is None:
        error = CompletionError(NOT_RECORDED, "The log holds no answer to this prompt.")
    elif item.error is not None:
        error = CompletionError("RecordedError", item.error)
    answered = error is None and item is not None
    return Completion(
        sample_id=request.sample_id,
        taskset=request.taskset,
        epoch=request.epoch,
        prompt_hash=request.prompt_hash,
        fingerprint=request.fingerprint,
        text=item.answer if answered and item is not None else None,
        reasoning=item.reasoning if answered and item is not None else None,
        finish_reason=item.finish_reason if answered and item is not None else None,
        usage=Usage() if item is None else Usage(item.prompt_tokens, item.completion_tokens),
        timing=Timing(started, 0.0 if item is None else max(item.seconds or 0.0, 0.0)),
        attempts=(),
        error=error,
    )


def recorded_at(created: str | None) -> float:
    """Return when a log was made, as Unix time; 0 where it does not say."""
    try:
        return 0.0 if created is None else datetime.fromisoformat(created).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
