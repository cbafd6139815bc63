"""Before anything is paid for: does it answer, what is it, and are two comparable?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evalkit.collect.runner import Sleep
from evalkit.endpoints.base import Endpoint
from evalkit.endpoints.urls import share_a_server
from evalkit.errors import EndpointError
from evalkit.fingerprint import identity_key
from evalkit.types import Identity, Message, Reply, Sampling

FindingStatus = Literal["ok", "differs", "not_testable", "failed"]

_PROMPT = (Message("user", "What is the capital of France? Answer with one word."),)
_SAMPLING = Sampling(max_tokens=32)
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        code: Stable name, e.g. `answer`, `context_length`.
        status: `differs` makes a comparison invalid unless the user allows it.
        message: One sentence.
        evidence: What was seen.
    """

    code: str
    status: FindingStatus
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preflight:
    """What one endpoint is and how it answered."""

    identity: Identity
    findings: tuple[Finding, ...]


async def preflight(endpoint: Endpoint, sleep: Sleep = asyncio.sleep) -> Preflight:
    """Reach an endpoint, read its identity and get one real answer.

    What may heal (a server that still loads, a rate limit) is tried a few times.

    Args:
        endpoint: Opened.
        sleep: Waits between tries; replaced in tests.

    Raises:
        EndpointError: When it cannot be reached, refuses the key or does not answer.
    """
    identity, reply = await _persist(endpoint, sleep)
    known = " ".join(filter(None, (identity.engine, identity.engine_version)))
    what = ", ".join(filter(None, (identity.model, identity.quantization, known)))
    seen = {"prompt": _PROMPT[0].content, "text": reply.text, "finish_reason": reply.finish_reason}
    return Preflight(
        identity=identity,
        findings=(
            Finding("reach", "ok", f"{endpoint.label} is reached."),
            Finding(
                "identity", "ok", f"It says it is {what}.", {"identity": identity_key(identity)}
            ),
            _answer(reply, seen),
            _usage(reply),
        ),
    )


def compare_identities(a: Identity, b: Identity) -> list[Finding]:
    """Say whether two endpoints differ in anything but the quantization.

    Args:
        a: The baseline.
        b: The candidate.
    """
    return [
        _distinct(a, b),
        _equal("engine", "engines", a.engine, b.engine),
        _equal("engine_version", "engine versions", a.engine_version, b.engine_version),
        _equal("context_length", "context lengths", a.context_length, b.context_length),
        _equal("template_hash", "chat templates", a.template_hash, b.template_hash),
        _asked_alike(a, b),
    ]


async def _persist(endpoint: Endpoint, sleep: Sleep) -> tuple[Identity, Reply]:
    for tried in range(1, _TRIES):
        try:
            return await endpoint.identity(), await endpoint.send(_PROMPT, _SAMPLING)
        except EndpointError as error:
            if not error.retryable:
                raise
            await sleep(max(0.25 * 2**tried, min(error.retry_after or 0.0, 60.0)))
    return await endpoint.identity(), await endpoint.send(_PROMPT, _SAMPLING)


def _answer(reply: Reply, seen: Mapping[str, Any]) -> Finding:
    if reply.text or reply.reasoning:
        shown = " ".join((reply.text or reply.reasoning or "").split())[:60]
        return Finding("answer", "ok", f"It answers: '{shown}'.", seen)
    what = "no content (null)" if reply.text is None else "an empty text"
    return Finding("answer", "failed", f"It answered a plain question with {what}.", seen)


def _usage(reply: Reply) -> Finding:
    if reply.usage.completion_tokens is None:
        return Finding("usage", "not_testable", "It reports no token counts.")
    evidence = {
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
    }
    return Finding("usage", "ok", "It reports token counts.", evidence)


def _distinct(a: Identity, b: Identity) -> Finding:
    key_a, key_b = identity_key(a), identity_key(b)
    evidence = {"baseline": key_a, "candidate": key_b}
    if a.weights_hash is not None and a.weights_hash == b.weights_hash:
        return Finding("distinct", "differs", "Both are the same weights.", evidence)
    if key_a == key_b or _same_address(a, b):
        return Finding("distinct", "differs", "Both names are the same endpoint.", evidence)
    return Finding("distinct", "ok", "They are two endpoints.", evidence)


def _same_address(a: Identity, b: Identity) -> bool:
    if a.base_url is None or b.base_url is None or a.model != b.model:
        return False
    return share_a_server(a.base_url, b.base_url)


def _asked_alike(a: Identity, b: Identity) -> Finding:
    evidence = {"baseline": a.request_hash, "candidate": b.request_hash}
    if a.request_hash == b.request_hash:
        return Finding("request", "ok", "Both are asked alike.", evidence)
    said = "They are asked differently: api, extra_body or omit differ."
    return Finding("request", "differs", said, evidence)


def _equal(code: str, what: str, a: object, b: object) -> Finding:
    evidence = {"baseline": a, "candidate": b}
    if a is None or b is None:
        return Finding(code, "not_testable", f"The {what} are not told.", evidence)
    if a == b:
        return Finding(code, "ok", f"The {what} are equal.", evidence)
    return Finding(code, "differs", f"The {what} differ: {a} and {b}.", evidence)
