"""The line of a journal: a completion as JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import orjson

from evalkit.errors import StoreError
from evalkit.types import (
    Attempt,
    Completion,
    CompletionError,
    Flag,
    Logprobs,
    Outcome,
    Redacted,
    Score,
    ScoreStatus,
    Timing,
    Usage,
)

_NAMES = ("fingerprint", "prompt_hash", "sample_id", "taskset")
_STATUSES = {status.value: status for status in ScoreStatus}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_FLAGS = {flag.value: flag for flag in Flag}
_TEXTS = ("text", "reasoning", "finish_reason")


def encode(completion: Completion) -> bytes:
    r"""Return a completion as one line of JSON, ending in `\n`.

    UTF-8 cannot hold a lone surrogate (an engine may cut a character in two); it is
    replaced by U+FFFD.
    """
    try:
        return orjson.dumps(completion, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return orjson.dumps(_whole(asdict(completion)), option=orjson.OPT_APPEND_NEWLINE)


def decode(line: bytes) -> Completion:
    """Read a line that `encode` made.

    Raises:
        StoreError: When it is none.
    """
    try:
        data = orjson.loads(line)
        error = data["error"]
        _check(data)
        return Completion(
            sample_id=data["sample_id"],
            taskset=data["taskset"],
            epoch=data["epoch"],
            prompt_hash=data["prompt_hash"],
            fingerprint=data["fingerprint"],
            text=data["text"],
            reasoning=data["reasoning"],
            finish_reason=data["finish_reason"],
            usage=Usage(**data["usage"]),
            timing=Timing(**data["timing"]),
            attempts=tuple(Attempt(**attempt) for attempt in data["attempts"]),
            error=None if error is None else CompletionError(**error),
            logprobs=_logprobs(data.get("logprobs")),
            redacted=_redacted(data.get("redacted")),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f"Not a record of a completion: {error}.") from error


def _logprobs(data: Any) -> Logprobs | None:
    if data is None:
        return None
    tokens, top = data["tokens"], data["top"]
    return Logprobs(
        tokens=None if tokens is None else tuple(tokens),
        logprobs=tuple(data["logprobs"]),
        top=None if top is None else tuple(tuple(map(tuple, likeliest)) for likeliest in top),
    )


def decode_score(data: dict[str, Any]) -> Score:
    """Read a score from JSON, which is used up.

    Raises:
        KeyError: For an outcome, status or flag that is none, and for one that is missing.
        TypeError: For missing and unknown fields.
    """
    data["status"] = _STATUSES[data["status"]]
    if data["outcome"] is not None:
        data["outcome"] = _OUTCOMES[data["outcome"]]
    data["flags"] = tuple([_FLAGS[flag] for flag in data["flags"]])
    return Score(**data)


def _redacted(data: Mapping[str, Any] | None) -> Redacted | None:
    if data is None:
        return None
    return Redacted(**{**data, "score": decode_score(data["score"])})


def _check(data: Mapping[str, Any]) -> None:
    """Refuse what would only fail far from here.

    Raises:
        TypeError: For a field of another type.
    """
    for key in _NAMES:
        if type(data[key]) is not str:
            raise TypeError(f"'{key}' is no text")
    for key in _TEXTS:
        if data[key] is not None and type(data[key]) is not str:
            raise TypeError(f"'{key}' is neither a text nor null")
    if type(data["epoch"]) is not int:
        raise TypeError("'epoch' is no number")


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, Mapping):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return value
