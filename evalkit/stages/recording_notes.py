"""What a run's header keeps of the log that it was read from, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from evalkit.importers.alignment import AlignedTask
from evalkit.importers.base import RecordedTask, Recording
from evalkit.importers.differences import Difference, settings_differences
from evalkit.results import ReasonCode, Threat

# What no log tells: which weights served it, how, and when margins were chosen.
_NEVER: Final = ("weights", "server", "policy")


def header_notes(
    recording: Recording,
    tasks: Sequence[AlignedTask],
    differences: Mapping[str, Sequence[Difference]],
) -> dict[str, Any]:
    """Return what to keep.

    Args:
        recording: The log.
        tasks: As they were aligned; empty where the answers are scored here.
        differences: What differs from the baseline, by the hash of its log.
    """
    own = {task.name: task for task in recording.tasks}
    unknown = dict.fromkeys(word for task in recording.tasks for word in task.unknown)
    if not all(map(_has_texts, recording.tasks)):
        unknown["texts"] = None
    return {
        "by": recording.by,
        "source": recording.source,
        "created": recording.created,
        "model": recording.model,
        "metrics": {task.label: task.metric for task in tasks},
        "settings": {task.label: dict(own[task.name].settings) for task in tasks},
        "untested": [*unknown, *_NEVER],
        "differences": {
            baseline: [asdict(one) for one in found] for baseline, found in differences.items()
        },
    }


def _has_texts(task: RecordedTask) -> bool:
    """Whether answers can be looked at: degenerate output shows in texts alone."""
    return task.generated and not any(i.answer is None and i.error is None for i in task.items)


def log_confounders(
    baseline: Mapping[str, Any], candidate: Mapping[str, Any], hashes: tuple[str | None, str | None]
) -> list[ReasonCode]:
    """Return what speaks against comparing two runs that were read from logs.

    Args:
        baseline: What its header keeps.
        candidate: The same of the candidate.
        hashes: Of both logs.
    """
    if hashes[0] == hashes[1]:
        message = "Both are the same log."
        return [ReasonCode("SAME_ENDPOINT", values={"finding": "distinct", "message": message})]
    known = candidate.get("differences")
    found = known.get(hashes[0]) if isinstance(known, Mapping) else None
    if found is None:
        found = [asdict(one) for one in _by_settings(baseline, candidate)]
    return [
        ReasonCode("CONFIG_MISMATCH", values={"finding": one["code"], "message": one["message"]})
        for one in found
        if isinstance(one, Mapping) and {"code", "message"} <= one.keys()
    ]


def _by_settings(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> Iterator[Difference]:
    one, other = baseline.get("settings") or {}, candidate.get("settings") or {}
    for name in one.keys() & other.keys():
        yield from settings_differences(name, one[name], other[name])


def log_threats(logs: Sequence[Mapping[str, Any] | None]) -> list[Threat]:
    """Say which runs another tool recorded, by which of its scores, and what cannot be tested."""
    kept = [log for log in logs if log is not None]
    if not kept:
        return []
    metrics = {name: metric for log in kept for name, metric in (log.get("metrics") or {}).items()}
    values = {
        "tools": list(dict.fromkeys(str(log.get("by")) for log in kept)),
        "metrics": [f"{name}: {metric}" for name, metric in metrics.items()],
        "untested": list(dict.fromkeys(w for log in kept for w in log.get("untested") or ())),
    }
    return [Threat("RECORDED", "warn", {key: value for key, value in values.items() if value})]
