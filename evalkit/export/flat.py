"""A row as plain values: the columns that every table of ours has."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from evalkit.export.base import ExportRun, Row
from evalkit.fingerprint import canonical

COLUMNS = (
    "run", "taskset", "family", "language", "category", "length_bucket", "sample_id", "epoch",
    "messages", "target", "prompt_hash", "fingerprint", "text", "reasoning", "text_hash",
    "text_length", "finish_reason", "prompt_tokens", "completion_tokens", "started", "seconds",
    "first_token_seconds", "attempts", "error", "error_message", "scorer", "scorer_version",
    "status", "outcome", "value", "answer", "explanation", "flags", "reason", "redacted",
)  # fmt: skip


def flat(run: ExportRun, row: Row) -> dict[str, Any]:
    """Return a row by column; `None` where nothing is known or nothing may be told.

    `messages` is a list of role and content, `target` JSON, `started` a time in UTC. Of a
    redacted run neither prompt, target, answer nor anything said of them is there; hashes are
    keyed, and equal for equal texts of one sample.
    """
    sample, completion, score = row.sample, row.completion, row.score
    kept, error = completion.redacted, completion.error
    shown = not row.redacted
    told = {
        "run": run.name,
        "taskset": sample.taskset,
        "family": sample.family.value,
        "language": sample.language,
        "category": sample.category,
        "length_bucket": sample.length_bucket,
        "sample_id": sample.id,
        "epoch": completion.epoch,
        "messages": [asdict(message) for message in sample.messages] if shown else None,
        "target": canonical(dict(sample.target)) if shown else None,
        "prompt_hash": completion.prompt_hash,
        "fingerprint": completion.fingerprint,
        "text": completion.text if shown else None,
        "reasoning": completion.reasoning if shown else None,
        "text_hash": None if kept is None else kept.text,
        "text_length": _length(completion.text) if kept is None else kept.text_length,
        "finish_reason": completion.finish_reason,
        "prompt_tokens": completion.usage.prompt_tokens,
        "completion_tokens": completion.usage.completion_tokens,
        "started": datetime.fromtimestamp(completion.timing.started, UTC),
        "seconds": completion.timing.total,
        "first_token_seconds": completion.timing.first_token,
        "attempts": len(completion.attempts),
        "error": None if error is None else error.kind,
        "error_message": error.message if error is not None and shown else None,
        "scorer": score.scorer,
        "scorer_version": score.scorer_version,
        "status": score.status.value,
        "outcome": None if score.outcome is None else score.outcome.value,
        "value": score.value,
        "answer": score.answer if shown else None,
        "explanation": score.explanation if shown else None,
        "flags": [flag.value for flag in score.flags],
        "reason": score.reason,
        "redacted": row.redacted,
    }
    return {column: told[column] for column in COLUMNS}


def _length(text: str | None) -> int | None:
    return None if text is None else len(text)
