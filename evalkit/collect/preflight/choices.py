"""Reading a reply's body as it is, before the client tidies it up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from evalkit.endpoints.logprobs import read_logprobs
from evalkit.endpoints.reasoning import split_think
from evalkit.endpoints.wire import whole_text

# A server that ends no answer must not fill the header.
MOST_CHARACTERS: Final = 4000
_MOST_TOKENS: Final = 512
# What vLLM writes for a token without any probability.
_NO_CHANCE: Final = -9999.0


@dataclass(frozen=True, slots=True)
class Token:
    """One token of an answer.

    Attributes:
        text: As the server writes it.
        logprob: Its own.
        top: The likeliest, with theirs.
    """

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first choice of a body: everything may be missing."""

    content: str | None = None
    reasoning: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    shape: str | None = None
    tokens: tuple[Token, ...] = ()


def read_choice(data: Any) -> Choice:
    """Read a body, whatever it is."""
    body = data if isinstance(data, Mapping) else {}
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(first, Mapping):
        return Choice()
    message = first.get("message")
    message = message if isinstance(message, Mapping) else {"content": first.get("text")}
    content = message.get("content")
    usage = body.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    shape, tokens = read_tokens(first.get("logprobs"))
    finish = first.get("finish_reason")
    return Choice(
        content=_text(content),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        finish_reason=finish if isinstance(finish, str) else None,
        prompt_tokens=count(usage.get("prompt_tokens")),
        completion_tokens=count(usage.get("completion_tokens")),
        shape=shape,
        tokens=tokens,
    )


def read_tokens(data: Any) -> tuple[str | None, tuple[Token, ...]]:
    """Read the field `logprobs`: its shape, and its tokens as far as they can be read."""
    found = read_logprobs(data)
    if found is None or found.tokens is None:
        return None, ()
    top = found.top or ((),) * len(found.tokens)
    rows = zip(found.tokens[:_MOST_TOKENS], found.logprobs, top, strict=False)
    tokens = tuple(
        Token(_name(text), _NO_CHANCE if value is None else value, _named(likeliest))
        for text, value, likeliest in rows
    )
    return "content" if isinstance(data.get("content"), list) else "lists", tokens


def said(reasoning: str | None, text: str | None) -> str | None:
    """Return all that was said as one text, however reasoning was told from the answer."""
    if text is None and reasoning is None:
        return None
    within, answer = split_think(text or "")
    thought = reasoning or within
    return (f"{thought.strip()}\n{answer}" if thought else answer)[:MOST_CHARACTERS]


def _text(value: Any) -> str | None:
    return whole_text(value[:MOST_CHARACTERS]) if isinstance(value, str) else None


def count(value: Any) -> int | None:
    """Return a number of tokens, if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _named(pairs: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
    return tuple((_name(token), value) for token, value in pairs)


def _name(value: str) -> str:
    return whole_text(value[:100])
