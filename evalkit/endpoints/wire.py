"""The OpenAI chat format: requests out, replies in. Pure functions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from evalkit.endpoints.logprobs import read_logprobs
from evalkit.endpoints.reasoning import split_think
from evalkit.errors import CutBody, ProtocolError
from evalkit.types import DraftCounts, Message, Reply, Sampling, Timing, Usage

_SHOWN = 300


def chat_payload(
    model: str,
    messages: tuple[Message, ...],
    sampling: Sampling,
    *,
    extra: Mapping[str, Any],
    omit: Collection[str],
    stream: bool = False,
) -> dict[str, Any]:
    """Build the body of a request for a chat completion.

    Args:
        model: Name of the served model.
        messages: The prompt; the server renders it.
        sampling: How to sample.
        extra: Further fields; they win over those of `sampling`.
        omit: Names of fields that the server refuses.
        stream: Ask for the answer piece by piece, and for its token counts at the end.
    """
    fields: dict[str, Any] = {
        "messages": [{"role": m.role, "content": m.content} for m in messages]
    }
    if sampling.logprobs is not None:
        fields |= {"logprobs": True, "top_logprobs": sampling.logprobs}
    return _payload(model, fields, sampling, extra, omit, stream)


def completion_payload(
    model: str,
    prompt: str,
    sampling: Sampling,
    *,
    special: bool,
    extra: Mapping[str, Any],
    omit: Collection[str],
    stream: bool = False,
) -> dict[str, Any]:
    """Build the body of a request for a plain completion.

    Args:
        model: Name of the served model.
        prompt: Its text.
        sampling: How to sample.
        special: Whether the prompt holds its special tokens already. vLLM is told to add
            none; llama.cpp does not know the field.
        extra: Further fields; they win over those of `sampling`.
        omit: Names of fields that the server refuses.
        stream: Ask for the answer piece by piece, and for its token counts at the end.
    """
    fields: dict[str, Any] = {"prompt": prompt}
    if special:
        fields["add_special_tokens"] = False
    if sampling.logprobs is not None:
        fields["logprobs"] = sampling.logprobs
    return _payload(model, fields, sampling, extra, omit, stream)


def _payload(
    model: str,
    fields: Mapping[str, Any],
    sampling: Sampling,
    extra: Mapping[str, Any],
    omit: Collection[str],
    stream: bool,
) -> dict[str, Any]:
    """Say every sampling field explicitly.

    The repetition penalty goes out under vLLM's name and under llama.cpp's.
    """
    payload: dict[str, Any] = {
        "model": model,
        **fields,
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
        "stream": stream,
    }
    if stream:
        payload["stream_options"] = {"include_usage": True}
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
    except (ValueError, RecursionError) as error:
        shown = error_text(body[:_SHOWN].decode("utf-8", "replace"))
        raise CutBody(
            f"The body is not JSON: '{shown}'." if shown else "The body is empty."
        ) from error


def parse_reply(data: Any, timing: Timing) -> Reply:
    """Read a chat completion; of several choices the first.

    Raises:
        ProtocolError: For an error body, or when there are no choices.
    """
    return parse_replies(data, timing)[0]


def parse_replies(data: Any, timing: Timing, *, plain: bool = False) -> tuple[Reply, ...]:
    """Read every choice of a completion.

    Servers count the tokens of all choices together, so that `completion_tokens` is not
    known when there are several.

    Args:
        data: The body's JSON.
        timing: Of the exchange.
        plain: Whether a plain completion was asked for: its choices hold `text`.

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
    usage = _usage(data.get("usage"))
    if len(choices) > 1:
        usage = replace(usage, completion_tokens=None)
    model = data["model"] if isinstance(data.get("model"), str) else None
    draft = _draft(data.get("timings")) if len(choices) == 1 else None
    return tuple(
        _reply(choice, _message(choice, plain=plain), usage, timing, model, draft)
        for choice in choices
    )


def _message(choice: Any, *, plain: bool) -> Mapping[str, Any]:
    if plain and isinstance(choice, Mapping) and "text" in choice:
        return {"content": choice["text"]}
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(message, Mapping):
        raise ProtocolError(f"The reply's choice holds no {'text' if plain else 'message'}.")
    return message


def _reply(
    choice: Mapping[str, Any],
    message: Mapping[str, Any],
    usage: Usage,
    timing: Timing,
    model: str | None,
    draft: DraftCounts | None,
) -> Reply:
    text, reasoning = _split_reasoning(content_of(message), reasoning_of(message))
    finish = choice.get("finish_reason")
    return Reply(
        text=text,
        reasoning=reasoning,
        finish_reason=finish if isinstance(finish, str) else None,
        usage=usage,
        timing=timing,
        model=model,
        logprobs=read_logprobs(choice.get("logprobs")),
        draft=draft,
    )


def cut_at_stop(reply: Reply, stops: Sequence[str]) -> Reply:
    """Cut an answer before the first stop string in it, as a server that obeyed would have."""
    text = reply.text or ""
    ends = [at for at in (text.find(stop) for stop in stops if stop) if at >= 0]
    return replace(reply, text=text[: min(ends)], finish_reason="stop") if ends else reply


def error_text(data: Any) -> str:
    """Return what a server says about an error, shortened, whatever shape it has."""
    found = data
    if isinstance(data, Mapping):
        inner = data.get("error") or data.get("detail") or data.get("message") or data
        found = inner.get("message", inner) if isinstance(inner, Mapping) else inner
    text = found if isinstance(found, str) else json.dumps(found, default=str)
    # It is shown on terminals: no escape sequence of a server's may get there.
    text = "".join(c if c.isprintable() else " " for c in whole_text(text))
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"


def whole_text(text: str) -> str:
    """Replace lone surrogates, which no file can hold, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def content_of(message: Mapping[str, Any]) -> str | None:
    """Return the text of a message or of a part of one; `None` for null and for none.

    Raises:
        ProtocolError: For what is no text: it would be an answer that nobody gave.
    """
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(isinstance(one, str | Mapping) for one in content):
        raise ProtocolError(f"The reply's content is no text: {error_text(content)}")
    return _texts(content, "text") if content else None


def reasoning_of(message: Mapping[str, Any]) -> str | None:
    """Return the reasoning of a message or of a part of one.

    vLLM sends the same text under both names for a while, Mistral as parts of the content.
    """
    for key in ("reasoning_content", "reasoning"):
        value = message.get(key)
        if isinstance(value, str) and value:
            return value
    content = message.get("content")
    if not isinstance(content, list):
        return None
    thought = [part.get("thinking") for part in content if isinstance(part, Mapping)]
    return "".join(_texts(part, "text") for part in thought if isinstance(part, list)) or None


def _texts(parts: Sequence[Any], key: str) -> str:
    found = [part.get(key) if isinstance(part, Mapping) else part for part in parts]
    return "".join(text for text in found if isinstance(text, str))


def _split_reasoning(text: str | None, reasoning: str | None) -> tuple[str | None, str | None]:
    if text is None or reasoning:
        return _whole(text), _whole(reasoning)
    found, answer = split_think(whole_text(text))
    return answer, found or None


def _whole(text: str | None) -> str | None:
    return None if text is None else whole_text(text)


def _usage(data: Any) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()
    prompt, completion = (_count(data.get(key)) for key in ("prompt_tokens", "completion_tokens"))
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _draft(timings: Any) -> DraftCounts | None:
    """Read llama.cpp's word on speculative decoding; it is silent where nothing was drafted."""
    if not isinstance(timings, Mapping):
        return None
    drafted, accepted = (_count(timings.get(key)) for key in ("draft_n", "draft_n_accepted"))
    if drafted is None or accepted is None or accepted > drafted:
        return None
    return DraftCounts(drafted, accepted)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None
