"""Redaction: what is kept of prompts and answers when their texts must not be.

Texts become keyed hashes (HMAC-SHA256). The key of a taskset is made from its whole content,
which no run folder holds: who has the folder alone cannot try out short answers ("yes"), and
two runs that were recorded apart align without any secret to share. Who has the taskset can
try out answers, and everybody has the built-in ones; `EVALKIT_REDACT_KEY` closes that too.
Each sample has a key of its own, so that nobody sees that two prompts got the same answer.

Hashed are prompts, answers, reasoning and extracted answers. Dropped are explanations, the
words of servers, and the texts of tokens. Kept are ids, categories, lengths, token counts,
finish reasons, flags, outcomes and scores.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self, cast

from evalkit.endpoints.base import Endpoint
from evalkit.errors import ConfigError, EndpointError, StoreError
from evalkit.fingerprint import digest, keyed_digest
from evalkit.types import (
    Completion,
    CompletionError,
    Message,
    Redacted,
    Reply,
    Sampling,
    Score,
    ScoreStatus,
    Taskset,
)

KEY_VARIABLE = "EVALKIT_REDACT_KEY"
REDACTION_VERSION = 1
_LEAST = 16
# What servers say; anything else may be a text.
_WORD = re.compile(r"[a-z_]{1,32}")
_REASONS = {
    "ConnectError": "it cannot be reached",
    "Timeout": "a deadline passed",
    "RateLimited": "it limits the rate",
    "ServerError": "it failed",
    "CutBody": "its body ended early or is not JSON",
    "AuthError": "it refused the key",
    "NotFoundError": "path or model was not found",
    "LaunchError": "its server died too often",
    "BadRequest": "it refused the request",
    "ContextLengthError": "the prompt does not fit",
    "ProtocolError": "its reply is no answer",
}


@dataclass(frozen=True, slots=True)
class Redaction:
    """Keys for the texts of some tasksets. Nothing of it is written but `key_check`.

    Attributes:
        key_check: Tells whether two redactions share the secret; `None` without one.
    """

    key_check: str | None
    _keys: Mapping[str, bytes] = field(repr=False)

    @classmethod
    def of(cls, tasksets: Iterable[Taskset], secret: str | None) -> Self:
        """Make the keys.

        Args:
            tasksets: What is asked.
            secret: Of `read_secret`.
        """
        base = (secret or "").encode()
        check = None if secret is None else keyed_digest(base, "evalkit redaction key")[:16]
        keys = {
            taskset.name: keyed_digest(base, [REDACTION_VERSION, taskset.name, _seal(taskset)])
            for taskset in tasksets
        }
        return cls(check, {name: key.encode() for name, key in keys.items()})

    def record(self) -> dict[str, Any]:
        """Return what a run's header must hold to tell what shares its hashes."""
        return {"version": REDACTION_VERSION, "key_check": self.key_check}

    def prompt(self, taskset: str, prompt_hash: str) -> str:
        """Return the hash of a prompt that only who has the key can make."""
        return keyed_digest(self._keys[taskset], ["prompt", prompt_hash])

    def completion(self, completion: Completion, score: Score) -> Completion:
        """Return what may be kept of a completion.

        Its prompt's hash is left as it is: `build_requests` has keyed it, or else
        `plain_completion` does.
        """
        text, reasoning = completion.text, completion.reasoning
        finish, error = completion.finish_reason, completion.error
        logprobs = completion.logprobs
        # Field by field, so that nothing is kept that nobody has thought of.
        return Completion(
            sample_id=completion.sample_id,
            taskset=completion.taskset,
            epoch=completion.epoch,
            prompt_hash=completion.prompt_hash,
            fingerprint=completion.fingerprint,
            text=None,
            reasoning=None,
            finish_reason=None if finish is None else plain_word(finish),
            usage=completion.usage,
            timing=completion.timing,
            attempts=completion.attempts,
            error=None if error is None else _without_words(error),
            logprobs=None if logprobs is None else logprobs.without_tokens(),
            redacted=Redacted(
                text=self._hash(completion, "text", text),
                text_length=None if text is None else len(text),
                reasoning=self._hash(completion, "reasoning", reasoning),
                reasoning_length=None if reasoning is None else len(reasoning),
                score=self._score(completion, score),
            ),
        )

    def plain_completion(self, completion: Completion, score: Score) -> Completion:
        """Return what a redacted run would have kept of one that was recorded in plain text."""
        prompt = self.prompt(completion.taskset, completion.prompt_hash)
        return replace(self.completion(completion, score), prompt_hash=prompt)

    def _score(self, completion: Completion, score: Score) -> Score:
        reason = score.reason
        if reason is not None and score.status is ScoreStatus.UNSCORED:
            reason = plain_word(reason)
        return Score(
            sample_id=score.sample_id,
            taskset=score.taskset,
            epoch=score.epoch,
            fingerprint=score.fingerprint,
            scorer=score.scorer,
            scorer_version=score.scorer_version,
            status=score.status,
            outcome=score.outcome,
            value=score.value,
            answer=self._hash(completion, "answer", score.answer),
            flags=score.flags,
            reason=reason,
        )

    def _hash(self, completion: Completion, what: str, text: str | None) -> str | None:
        if text is None:
            return None
        key = self._keys[completion.taskset]
        return keyed_digest(key, [what, completion.sample_id, text])


def read_secret() -> str | None:
    """Return the secret of `EVALKIT_REDACT_KEY`, or `None` when it is not set.

    Raises:
        ConfigError: When it is so short that it can be guessed.
    """
    secret = os.environ.get(KEY_VARIABLE, "").strip()
    if not secret:
        return None
    if len(secret) < _LEAST:
        raise ConfigError(
            f"The environment variable {KEY_VARIABLE} holds fewer than {_LEAST} characters.",
            hint="Make one with: openssl rand -hex 32",
        )
    return secret


def recorded_redaction(
    header: Mapping[str, Any], tasksets: Iterable[Taskset], where: str
) -> Redaction | None:
    """Return the redaction of a recorded run, or `None` when its texts are all there.

    Args:
        header: Of the run.
        tasksets: What it was asked.
        where: The folder, for messages.

    Raises:
        StoreError: When it was made with another secret, or by a newer evalkit.
    """
    record = header.get("redaction")
    if record is None:
        return None
    if not isinstance(record, Mapping) or record.get("version") != REDACTION_VERSION:
        raise StoreError(
            f"{where} was redacted in a way that this evalkit does not know.",
            hint="Use the evalkit that recorded it.",
        )
    secret = read_secret() if record.get("key_check") is not None else None
    redaction = Redaction.of(tasksets, secret)
    if redaction.key_check != record.get("key_check"):
        raise StoreError(
            f"{where} was redacted with a secret that {KEY_VARIABLE} does not hold.",
            hint=f"Set {KEY_VARIABLE} to what it was when that run was recorded.",
        )
    return redaction


def quiet(endpoint: Endpoint) -> Endpoint:
    """Return an endpoint whose errors tell their kind, and nothing that the server said.

    Servers quote prompts in their errors, which reach logs, terminals and exceptions.
    """
    return cast(Endpoint, _QuietEndpoint(endpoint))


class _QuietEndpoint:
    """Does what its endpoint does, but for the words of errors."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def __getattr__(self, name: str) -> Any:
        return getattr(self._endpoint, name)

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        try:
            return await self._endpoint.send(messages, sampling)
        except EndpointError as error:
            told = type(error)(
                f"Endpoint '{self._endpoint.name}': {_said(type(error).__name__, error.status)}",
                hint=error.hint,
                status=error.status,
                retry_after=error.retry_after,
            )
        # Outside the block, so that no context holds the words.
        raise told


def _seal(taskset: Taskset) -> str:
    """Return what only who has the taskset has."""
    if taskset.seal:
        return taskset.seal
    content = [[s.id, [asdict(m) for m in s.messages], s.target] for s in taskset.samples]
    return digest(["evalkit redaction", content])


def _without_words(error: CompletionError) -> CompletionError:
    return replace(error, message=_said(error.kind, error.status))


def _said(kind: str, status: int | None) -> str:
    told = f" ({status})" if status is not None else ""
    return f"{_REASONS.get(kind, kind)}{told}; its words are redacted."


def plain_word(text: str) -> str:
    """Return a word of a protocol (`stop`, `extraction`), and no text that stands for one."""
    return text if _WORD.fullmatch(text) else "redacted"
