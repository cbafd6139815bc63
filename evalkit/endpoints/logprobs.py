"""Logarithms of token probabilities, in the two shapes that servers send them in."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evalkit.types import Logprobs

_DIGITS = 6


def read_logprobs(data: Any) -> Logprobs | None:
    """Read the field `logprobs` of a choice, whichever shape it has.

    Chat completions hold a list `content` of objects; plain completions hold parallel lists
    (`tokens`, `token_logprobs`, `top_logprobs`). llama.cpp sends the first shape for both.
    An answer is never lost for the sake of this field: what cannot be read is `None`.
    """
    if not isinstance(data, Mapping):
        return None
    content = data.get("content")
    if isinstance(content, list):
        return _from_content(content)
    tokens, values = data.get("tokens"), data.get("token_logprobs")
    if isinstance(tokens, list) and isinstance(values, list) and len(tokens) == len(values):
        return _from_lists(tokens, values, data.get("top_logprobs"))
    return None


def _from_content(content: list[Any]) -> Logprobs | None:
    if not content or not all(isinstance(entry, Mapping) for entry in content):
        return None
    told = any(entry.get("top_logprobs") for entry in content)
    return Logprobs(
        tokens=tuple(_text(entry.get("token")) for entry in content),
        logprobs=tuple(_number(entry.get("logprob")) for entry in content),
        top=tuple(_listed(entry.get("top_logprobs")) for entry in content) if told else None,
    )


def _from_lists(tokens: list[Any], values: list[Any], top: Any) -> Logprobs | None:
    if not tokens:
        return None
    told = isinstance(top, list) and len(top) == len(tokens) and any(top)
    return Logprobs(
        tokens=tuple(map(_text, tokens)),
        logprobs=tuple(map(_number, values)),
        top=tuple(map(_mapped, top)) if told else None,
    )


def _listed(entries: Any) -> tuple[tuple[str, float], ...]:
    rows = entries if isinstance(entries, list) else []
    pairs = [(row.get("token"), row.get("logprob")) for row in rows if isinstance(row, Mapping)]
    return _likeliest(pairs)


def _mapped(entries: Any) -> tuple[tuple[str, float], ...]:
    return _likeliest(list(entries.items()) if isinstance(entries, Mapping) else [])


def _likeliest(pairs: list[tuple[Any, Any]]) -> tuple[tuple[str, float], ...]:
    found = [
        (_text(token), number) for token, value in pairs if (number := _number(value)) is not None
    ]
    return tuple(sorted(found, key=lambda pair: -pair[1]))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float | None:
    # vLLM writes -9999 for what has no probability at all; JSON has no infinity.
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = round(float(value), _DIGITS)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
