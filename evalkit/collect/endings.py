"""How a request ended, as the record that goes into the journal."""

from __future__ import annotations

import time
from collections.abc import Sequence

from evalkit.errors import EndpointError
from evalkit.types import Attempt, Completion, CompletionError, Reply, Request, Timing, Usage


def answered(request: Request, reply: Reply, attempts: Sequence[Attempt]) -> Completion:
    """Return the record of an answer."""
    return Completion(
        sample_id=request.sample_id,
        taskset=request.taskset,
        epoch=request.epoch,
        prompt_hash=request.prompt_hash,
        fingerprint=request.fingerprint,
        text=reply.text,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        timing=reply.timing,
        attempts=tuple(attempts),
        logprobs=reply.logprobs,
    )


def failed(
    request: Request, error: EndpointError, started: float, attempts: Sequence[Attempt]
) -> Completion:
    """Return the record of a request that has no answer.

    Args:
        request: What was asked.
        error: Of the last try.
        started: Unix time of the first try.
        attempts: All tries.
    """
    return Completion(
        sample_id=request.sample_id,
        taskset=request.taskset,
        epoch=request.epoch,
        prompt_hash=request.prompt_hash,
        fingerprint=request.fingerprint,
        text=None,
        reasoning=None,
        finish_reason=None,
        usage=Usage(),
        timing=Timing(started=started, total=time.time() - started),
        attempts=tuple(attempts),
        error=CompletionError(type(error).__name__, error.message, error.status),
    )
