"""The OpenAI chat format: requests out, replies in. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import orjson

from evalkit.errors import CutBody, ProtocolError
from evalkit.types import Message, Reply, Sampling, Timing, Usage

_OPEN, _CLOSE = "<think>", "</think>"
_SHOWN = 300


def chat_payload(
    model: str,
    messages: tuple[Message, ...],
    sampling: Sampling,
    *,
    extra: Mapping[str, Any],
    omit: Collection[str],
) -> dict[str, Any]:
    """Build the body of a request, with every sampling field said explicitly.

    The repetition penalty goes out under vLLM's name and under llama.cpp's.

    Args:
        model: Name of the served model.
        messages: The rendered prompt.
        sampling: How to sample.
        extra: Further fields; they win over those of `sampling`.
        omit: Names of fields that the server refuses.
    """
    payload: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in messages],
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "repetition_penalty": sampling.repetition_penalty,
        "repeat_penalty": sampling.repetition_penalty,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "seed": sampling.seed,
        "stream": False,
    }
    if sampling.stop:
        payload["stop"] = list(sampling.stop)
    payload.update(extra)
    return {key: value for key, value in payload.items() if key not in omit}


def parse_json(body: bytes) -> Any:
    """Parse a body.

    Raises:
        CutBody: When it is no whole JSON document.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        # The standard parser knows lone surrogates, which engines do send when a token
        # ends in the middle of a character.
        return json.loads(body)
    except ValueError as error:
        shown = whole_text(body[:_SHOWN].decode("utf-8", "replace")).strip()
        raise CutBody(
            f"The body is not JSON: '{shown}'." if shown else "The body is empty."
        ) from error


def parse_reply(data: Any, timing: Timing) -> Reply:
    """Read a chat completion.

    Raises:
        ProtocolError: For an error body, or when there are no choices.
    """
    if not isinstance(data, Mapping):
        raise ProtocolError("The body is JSON, but no chat completion.")
    if data.get("error"):
        raise ProtocolError(f"Status 200 with an error: {error_text(data)}")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        raise ProtocolError("The reply holds no choices.")
    message = choices[0].get("message")
    if not isinstance(message, Mapping):
        raise ProtocolError("The reply's first choice holds no message.")
    text, reasoning = _split_reasoning(_content(message), _reasoning(message))
    finish = choices[0].get("finish_reason")
    return Reply(
        text=text,
        reasoning=reasoning,
        finish_reason=finish if isinstance(finish, str) else None,
        usage=_usage(data.get("usage")),
        timing=timing,
        model=data["model"] if isinstance(data.get("model"), str) else None,
    )


def error_text(data: Any) -> str:
    """Return what a server says about an error, shortened, whatever shape it has."""
    found = data
    if isinstance(data, Mapping):
        inner = data.get("error") or data.get("detail") or data.get("message") or data
        found = inner.get("message", inner) if isinstance(inner, Mapping) else inner
    text = found if isinstance(found, str) else json.dumps(found, default=str)
    text = " ".join(whole_text(text).split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"


def whole_text(text: str) -> str:
    """Replace lone surrogates, which no file can hold, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def split_think(text: str) -> tuple[str | None, str]:
    """Split an answer at its `</think>` into reasoning and answer.

    Templates that open the tag in the prompt leave only the closing one in the answer. A
    tag that never closes means that the answer was cut within the reasoning.
    """
    stripped = text.lstrip()
    opened = stripped.startswith(_OPEN)
    body = stripped[len(_OPEN) :] if opened else text
    before, tag, after = body.partition(_CLOSE)
    if tag and (opened or _OPEN not in before):
        return before.strip(), after.lstrip()
    if opened:
        return body.strip(), ""
    return None, text


def _split_reasoning(text: str | None, reasoning: str | None) -> tuple[str | None, str | None]:
    if text is None or reasoning:
        return text, reasoning
    found, answer = split_think(text)
    return answer, found or None


def _content(message: Mapping[str, Any]) -> str | None:
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "".join(part for part in parts if isinstance(part, str))
    return whole_text(content) if isinstance(content, str) else None


def _reasoning(message: Mapping[str, Any]) -> str | None:
    for key in ("reasoning_content", "reasoning"):
        value = message.get(key)
        if isinstance(value, str) and value:
            return whole_text(value)
    return None


def _usage(data: Any) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()
    counts = [data.get(key) for key in ("prompt_tokens", "completion_tokens")]
    prompt, completion = (n if isinstance(n, int) else None for n in counts)
    return Usage(prompt_tokens=prompt, completion_tokens=completion)
