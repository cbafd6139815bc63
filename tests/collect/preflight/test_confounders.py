"""Each confounder, put in by a proxy in front of a real llama.cpp server, is caught and blocks.

To spare time each is looked at by the check that must catch it; the pair that has nothing
against it goes through the whole preflight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from evalkit.collect.preflight import (
    Finding,
    ProbeOptions,
    ProbeRecord,
    answering,
    compare_records,
    context,
    counting,
    limits,
    logprobs,
    manners,
    probe,
    sampling,
)
from evalkit.collect.preflight.asking import Asker
from evalkit.collect.preflight.quantization import claim_findings
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from tests.servers.embedded import needs_model, served
from tests.servers.proxy import CAP, KINDS, ProxyServer

pytestmark = [pytest.mark.model, pytest.mark.slow, needs_model]

OPTIONS = ProbeOptions(context=context.LEAST, longest=48)
PATIENT = EndpointOptions(request_timeout=120.0)


@dataclass(frozen=True)
class Pair:
    """A q8 and a q4 server, and what the whole preflight saw of them."""

    urls: dict[str, str]
    q8: ProbeRecord
    q4: ProbeRecord


async def examine(url: str, model: str, act: Callable[[Asker], Awaitable[object]]) -> object:
    raw = {"kind": "openai", "base_url": url, "model": model, "api_key_env": ""}
    async with parse_endpoint(model, raw, PATIENT) as endpoint:
        return await act(Asker(endpoint, await endpoint.identity(), OPTIONS))


def whole(url: str, model: str) -> ProbeRecord:
    async def act(asker: Asker) -> ProbeRecord:
        return await probe(asker.endpoint, OPTIONS)

    found = asyncio.run(examine(url, model, act))
    assert isinstance(found, ProbeRecord)
    return found


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with served("q8") as a, served("q4") as b:
        yield Pair({"q8": a, "q4": b}, whole(a, "q8"), whole(b, "q4"))


async def counts(asker: Asker, other: ProbeRecord) -> list[Finding]:
    first, _ = await answering.first_answer(asker)
    seen = await counting.observe(asker, first, answering.CAPITAL)
    return [*counting.findings(seen), *counting.compare(other.seen["counting"], seen)]


async def length(asker: Asker, other: ProbeRecord) -> list[Finding]:
    seen = await context.observe(asker, OPTIONS)
    return [*context.findings(seen), *context.compare(other.seen["context"], seen)]


async def excess(asker: Asker, other: ProbeRecord) -> list[Finding]:
    return manners.compare(other.seen["bad_input"], await manners.observe(asker))


async def budget(asker: Asker, other: ProbeRecord) -> list[Finding]:
    seen, _ = await limits.observe_longest(asker, OPTIONS)
    return limits.budget_findings(seen, [seen["heard"]])


async def samples(asker: Asker, other: ProbeRecord) -> list[Finding]:
    seen, _ = await sampling.observe(asker, OPTIONS)
    return [*sampling.findings(seen), *sampling.compare(other.seen["sampling"], seen)]


async def stops(asker: Asker, other: ProbeRecord) -> list[Finding]:
    heard = await asker.ask(sampling.STORY, sampling.STORY_SAMPLING)
    return limits.stop_findings(await limits.observe_stop(asker, heard.text))


async def numbers(asker: Asker, other: ProbeRecord) -> list[Finding]:
    rows = [
        await sampling.with_logprobs(asker, sampling.STORY, sampling.STORY_SAMPLING)
        for _ in range(2)
    ]
    choices = [choice for _, choice in rows]
    contents = [choice.content or "" for choice in choices]
    tags = answering.reasoning_observation(contents, separate=False)
    return [
        *logprobs.compare(other.seen["logprobs"], logprobs.observe(choices)),
        *answering.compare_reasoning(other.seen["reasoning"], tags),
    ]


Check = Callable[[Asker, ProbeRecord], Awaitable[list[Finding]]]
CASES: dict[str, tuple[Check, str, str]] = {
    "bos-missing": (counts, "prompt_tokens", "BOS token missing"),
    "bos-doubled": (counts, "prompt_tokens", "BOS token doubled"),
    "template": (counts, "prompt_tokens", "another chat template"),
    "system": (counts, "prompt_tokens", "changed on the way"),
    "context": (length, "context", "counts 512"),
    "context-hidden": (length, "context", "does not read the start"),
    "max-tokens": (budget, "max_tokens", f"caps answers at {CAP} tokens"),
    "temperature": (samples, "sampling", "not the likeliest"),
    "penalty": (samples, "sampling", "not the likeliest"),
    "stop": (stops, "stop", "ignores the stop string"),
    "reasoning": (numbers, "reasoning", "leaves it in the answer"),
    "logprobs-shifted": (numbers, "logprobs", "do not spell the answer"),
    "logprobs-renormalized": (numbers, "logprobs", "sum to one"),
    "logprobs-log10": (numbers, "logprobs", "sum to more than one"),
}


def test_every_kind_is_a_case() -> None:
    assert set(CASES) == set(KINDS) - {"none"}


def test_the_clean_pair_has_nothing_against_it(pair: Pair) -> None:
    findings = [*pair.q8.findings, *pair.q4.findings, *compare_records(pair.q8, pair.q4)]
    assert [f for f in findings if f.status in ("failed", "differs")] == []
    untested = {f.code for f in findings if f.status == "not_testable"}
    assert untested <= {"engine_version"}
    assert pair.q8.cost.requests + pair.q4.cost.requests <= 40
    assert pair.q8.identity.tokenizer_hash is not None
    assert pair.q8.identity.rendering_hash == pair.q4.identity.rendering_hash


@pytest.mark.parametrize("kind", CASES)
def test_a_confounder_is_caught_and_blocks(pair: Pair, kind: str) -> None:
    check, code, words = CASES[kind]
    with ProxyServer(pair.urls["q4"], kind) as proxy:
        found = asyncio.run(examine(proxy.url, "q4", lambda asker: check(asker, pair.q8)))
    assert isinstance(found, list)
    bad = [finding for finding in found if finding.bad]
    said = " ".join(finding.message for finding in bad if finding.code == code)
    assert words in said, found
    assert all(finding.evidence for finding in bad)


def test_a_prompt_over_the_limit_that_is_cut_silently_differs(pair: Pair) -> None:
    with ProxyServer(pair.urls["q4"], "context") as proxy:
        found = asyncio.run(examine(proxy.url, "q4", lambda asker: excess(asker, pair.q8)))
    assert isinstance(found, list)
    assert [(f.code, f.bad) for f in found] == [("long_prompt", True)]


def test_two_names_of_one_process_are_one_endpoint(pair: Pair) -> None:
    """The addresses differ and so do the models' names: only the numbers are the same."""

    async def act(asker: Asker) -> ProbeRecord:
        rows = [
            await sampling.with_logprobs(asker, sampling.STORY, sampling.STORY_SAMPLING)
            for _ in range(2)
        ]
        seen = {**pair.q8.seen, "logprobs": logprobs.observe([choice for _, choice in rows])}
        return replace(pair.q8, identity=asker.identity, seen=seen)

    with ProxyServer(pair.urls["q8"], "none") as proxy:
        other = asyncio.run(examine(proxy.url, "int4-they-say", act))
    assert isinstance(other, ProbeRecord)
    bad = {f.code: f.message for f in compare_records(pair.q8, other) if f.bad}
    assert "very same numbers" in bad["same_answers"]
    assert "distinct" not in bad
    (claimed,) = claim_findings(other.identity, ["int4-they-say"])
    assert claimed.bad
