"""How likely a model holds given texts to be, after a prompt: no text is generated.

vLLM (and what follows the first completions of OpenAI) repeats a prompt with the logarithm of
each token's probability. llama.cpp does not, but tells the logarithm of the token that it was
made to choose, as the model gave it and before any bias: there the tokens of a text are asked
for one by one. Which of both a server does is found out at the first text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.errors import BadRequest, EndpointError, NotFoundError, ProtocolError, UnsupportedError
from evalkit.types import CONTINUATION, Message

Post = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Sends an object to a page of the server, and returns JSON."""

_NO_PROMPT_LOGPROBS = "It tells no log-probabilities of a prompt, which these prompts ask for."
_HINT = "vLLM and llama.cpp tell them on their plain completions; clouds and chats mostly do not."
# Larger than any difference of two logits.
_FORCE = 10_000.0


@dataclass(frozen=True, slots=True)
class Likelihood:
    """Of one text: the natural logarithm of its probability, and whether greed would write it."""

    logprob: float
    greedy: bool


def is_measured(messages: Sequence[Message]) -> bool:
    """Whether a prompt asks how likely given texts are, in place of an answer."""
    return bool(messages) and messages[-1].role == CONTINUATION


def pairs(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Return each text with what stands before it: the last message that is no such text."""
    found: list[tuple[str, str]] = []
    context = ""
    for message in messages:
        if message.role == CONTINUATION:
            found.append((context, message.content))
        else:
            context = message.content
    return found


def as_text(likelihoods: Sequence[Likelihood]) -> str:
    """Write what was found as the answer that is recorded: `[[-1.25, true], ...]`."""
    return json.dumps([[one.logprob, one.greedy] for one in likelihoods])


class Likelihoods:
    """Asks one server.

    Args:
        model: Its name for the model.
        completions: Address of its plain completions.
        root: Address before the pages of llama.cpp.
        post: Sends to an address.
    """

    def __init__(self, model: str, completions: str, root: str, post: Post) -> None:
        self._model, self._post = model, post
        self._completions, self._root = completions, root
        self._repeats: bool | None = None

    async def of(self, context: str, text: str) -> Likelihood:
        """Ask for one text.

        Raises:
            UnsupportedError: When the server does it in neither way.
            EndpointError: As any request does.
        """
        if self._repeats is None:
            try:
                found = await self._repeated(context, text)
                self._repeats = True
                return found
            except (BadRequest, NotFoundError, ProtocolError) as error:
                found = await self._forced(context, text, error)
                self._repeats = False
                return found
        if self._repeats:
            return await self._repeated(context, text)
        return await self._forced(context, text, None)

    async def _repeated(self, context: str, text: str) -> Likelihood:
        """Let the server repeat the whole with its probabilities (`echo`)."""
        whole = context + text
        data = await self._post(
            self._completions,
            {
                "model": self._model,
                "prompt": whole,
                "max_tokens": 1,
                "temperature": 0,
                "logprobs": 1,
                "echo": True,
                "seed": 0,
            },
        )
        try:
            choice = data["choices"][0]
            found = choice["logprobs"]
            chosen, top, tokens = found["token_logprobs"], found["top_logprobs"], found["tokens"]
            starts = found.get("text_offset") or _offsets(tokens)
            repeated = str(choice["text"]).startswith(whole)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise ProtocolError(_NO_PROMPT_LOGPROBS) from error
        if not repeated or not len(chosen) == len(top) == len(starts):
            raise ProtocolError(_NO_PROMPT_LOGPROBS)
        inside = [n for n, at in enumerate(starts) if _begin(context) <= at < len(whole)]
        if not inside or any(not _is_number(chosen[n]) for n in inside):
            raise ProtocolError("It tells no log-probability of some token of the prompt.")
        return Likelihood(
            math.fsum(chosen[n] for n in inside),
            all(chosen[n] >= max((top[n] or {}).values(), default=chosen[n]) for n in inside),
        )

    async def _forced(self, context: str, text: str, before: EndpointError | None) -> Likelihood:
        """Make llama.cpp choose the tokens of the text, one by one."""
        try:
            head = await self._tokens(context)
            whole = await self._tokens(context + text)
            rest = whole[len(head) :]
            found = [await self._one(whole[: len(head) + n], token) for n, token in enumerate(rest)]
        except (BadRequest, NotFoundError, _Strange) as error:
            if before is None:
                raise BadRequest(_NO_PROMPT_LOGPROBS) from error
            raise UnsupportedError(_NO_PROMPT_LOGPROBS, hint=_HINT) from before
        return Likelihood(math.fsum(one.logprob for one in found), all(one.greedy for one in found))

    async def _tokens(self, text: str) -> list[int]:
        data = await self._post(f"{self._root}/tokenize", {"content": text, "add_special": True})
        found = data.get("tokens") if isinstance(data, Mapping) else None
        if not isinstance(found, list) or not all(type(token) is int for token in found):
            raise _Strange
        return found

    async def _one(self, prompt: Sequence[int], token: int) -> Likelihood:
        data = await self._post(
            f"{self._root}/completion",
            {
                "prompt": list(prompt),
                "n_predict": 1,
                "temperature": 0,
                "n_probs": 1,
                "logit_bias": [[token, _FORCE]],
                # What a slot still holds changes numbers a little.
                "cache_prompt": False,
            },
        )
        try:
            place = data["completion_probabilities"][0]
            best = place["top_logprobs"][0]
            if place["id"] != token or not _is_number(place["logprob"]):
                raise _Strange
            return Likelihood(float(place["logprob"]), best["id"] == token)
        except (KeyError, IndexError, TypeError) as error:
            raise _Strange from error


class _Strange(Exception):
    """The page is not that of llama.cpp."""


def _begin(context: str) -> int:
    """Return where the text begins: blanks at a prompt's end belong to the next token."""
    return len(context.rstrip())


def _offsets(tokens: Sequence[str]) -> list[int]:
    starts = [0]
    for token in tokens[:-1]:
        starts.append(starts[-1] + len(token))
    return starts


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
