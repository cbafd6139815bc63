"""All checks of one endpoint, in their order; and of two, from what was recorded of each."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from evalkit.collect.preflight import (
    answering,
    context,
    counting,
    identities,
    limits,
    logprobs,
    manners,
    quantization,
    sampling,
    streaming,
)
from evalkit.collect.preflight.asking import Asker, Heard, Sleep, persist
from evalkit.collect.preflight.findings import Finding, ProbeOptions, ProbeRecord
from evalkit.endpoints.base import Endpoint
from evalkit.fingerprint import digest
from evalkit.types import Identity


async def probe(
    endpoint: Endpoint, options: ProbeOptions | None = None, sleep: Sleep = asyncio.sleep
) -> ProbeRecord:
    """Reach an endpoint, find out what it is, and try what a run rests on.

    What may heal (a server that still loads, a rate limit) is tried a few times. It asks one
    thing after another, about twenty small requests.

    Args:
        endpoint: Opened.
        options: What the run will ask.
        sleep: Waits between tries; replaced in tests.

    Raises:
        EndpointError: When it cannot be reached, refuses the key or does not answer.
    """
    options = options or ProbeOptions()
    identity = await persist(endpoint.identity, sleep)
    asker = Asker(endpoint, identity, options, sleep)
    first, refused = await answering.first_answer(asker)
    seen, found = await _examine(asker, first, options)
    canaries = sampling.canaries(seen["sampling"], first)
    # The label of a local endpoint is evalkit's own: it tells how the weights were made.
    labels = () if identity.kind == "local" else (endpoint.label,)
    # A checkpoint that is quantized while it is loaded is named after what it was before.
    loaded = identity.details.get("quantized_while_loading")
    claims = (endpoint.name,) if loaded else (endpoint.name, identity.model, *labels)
    stable = [canary.text for canary in canaries if canary.stable]
    identity = replace(identity, canary_hash=digest(stable) if stable else None)
    findings = [
        Finding("reach", "ok", f"{endpoint.label} is reached."),
        identities.identity_finding(identity),
        *answering.answer_findings(first, refused),
        *quantization.claim_findings(identity, claims),
        *found,
    ]
    if asker.down is not None:
        findings.append(Finding("alive", "failed", f"In the middle of the checks {asker.down}"))
    return ProbeRecord(
        name=endpoint.name,
        identity=identity,
        findings=tuple(findings),
        seen=seen,
        refused=refused,
        claims=claims,
        canaries=canaries,
        cost=asker.cost(),
    )


async def first_answer(endpoint: Endpoint, identity: Identity) -> tuple[str, ...]:
    """Get one real answer, and nothing more; return the sampling fields that are refused.

    They are left out from then on.

    Raises:
        EndpointError: When there is no answer.
    """
    asker = Asker(endpoint, identity, ProbeOptions(), asyncio.sleep)
    _, refused = await answering.first_answer(asker)
    return refused


async def _examine(
    asker: Asker, first: Heard, options: ProbeOptions
) -> tuple[dict[str, Any], list[Finding]]:
    """Look at everything once; bad input comes in the middle, so that life after it shows."""
    counted = await counting.observe(asker, first, answering.CAPITAL)
    sampled, choices = await sampling.observe(asker, options)
    text = sampled["answer"]
    stopped = await limits.observe_stop(asker, text)
    bad = await manners.observe(asker)
    longest, long_choice = await limits.observe_longest(asker, options)
    streamed = await streaming.observe(asker, text, options)
    reached = await context.observe(asker, options)
    every = [*choices, long_choice]
    contents = [choice.content for choice in every if choice.content]
    apart = any(choice.reasoning for choice in every)
    seen = {
        "counting": counted,
        "sampling": {**sampled, "overridden": [*sampled["overridden"], *longest["overridden"]]},
        "stop": stopped,
        "longest": longest,
        "bad_input": bad,
        "streaming": streamed,
        "context": reached,
        "logprobs": logprobs.observe(choices),
        "reasoning": answering.reasoning_observation(contents, separate=apart),
    }
    rows = [
        first.plain(),
        *(row["heard"] for row in counted["prompts"]),
        *sampled["heard"],
        longest["heard"],
    ]
    found = [
        *counting.findings(counted),
        *sampling.findings(seen["sampling"]),
        *limits.stop_findings(stopped),
        *limits.budget_findings(longest, rows),
        *streaming.findings(streamed),
        *manners.findings(bad),
        *context.findings(reached),
        *logprobs.findings(seen["logprobs"]),
        *answering.reasoning_findings(seen["reasoning"]),
    ]
    return seen, found


def compare_records(a: ProbeRecord, b: ProbeRecord) -> list[Finding]:
    """Say whether two endpoints differ in anything but the quantization.

    Neither needs to be up: everything was recorded.

    Args:
        a: The baseline.
        b: The candidate.
    """
    one, other = a.seen, b.seen
    same = logprobs.same_numbers(one["logprobs"], other["logprobs"])
    return [
        *identities.compare_identities(a.identity, b.identity),
        *identities.answers_finding(one, other),
        *quantization.compare(a.identity, b.identity, same_numbers=same),
        *counting.compare(one["counting"], other["counting"]),
        *context.compare(one["context"], other["context"]),
        *sampling.compare(one["sampling"], other["sampling"]),
        *limits.compare_stop(one["stop"], other["stop"]),
        *manners.compare(one["bad_input"], other["bad_input"]),
        *logprobs.compare(one["logprobs"], other["logprobs"]),
        *answering.compare_reasoning(one["reasoning"], other["reasoning"]),
    ]
