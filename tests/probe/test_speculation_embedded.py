"""Real speculation: llama.cpp with an F16 target and a Q4_0 draft."""

from __future__ import annotations

import asyncio

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint, resolve_target
from evalkit.probe import speculation
from evalkit.probe.draft_counters import counters_now
from evalkit.probe.memory import held_now
from evalkit.probe.speculation import Heard, Speculating, ask_prompts, drafted_of
from evalkit.probe.speculation_summary import acceptance, depth_of
from evalkit.probe.subject import get_to_know
from evalkit.probe.workloads import load_workloads
from tests.servers.embedded import needs_model

pytestmark = [pytest.mark.model, needs_model]


def test_acceptance_is_that_of_the_engines_own_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speculation, "_WARM_UPS", 0)
    name, raw = resolve_target("f16+q4", {})
    settings = {**raw, "threads": 1, "slots": 1, "context": 512, "draft_tokens": 3}

    async def ask() -> None:
        endpoint = parse_endpoint(name, settings, EndpointOptions(request_timeout=120))
        async with endpoint:
            subject = await get_to_know(name, endpoint, 16, held_now())
            assert "3 tokens ahead by Q4_0" in subject.label
            heard = Heard()
            arm = Speculating.of(subject, heard, twice=False)
            prompts = [p for p in load_workloads(("en",), 2) if p.workload == "short_reasoning"]
            await ask_prompts([arm], prompts)
            (now,) = await counters_now(endpoint)
        found = acceptance(drafted_of(heard.answers), "metrics")
        assert now is not None
        assert heard.lifetime is not None
        assert found is not None
        assert (heard.source, heard.foreign, heard.resets) == ("metrics", 0, 0)
        drafted, accepted = now.drafted - heard.lifetime.drafted, now.accepted
        accepted -= heard.lifetime.accepted
        assert (drafted, accepted) == (found.drafted, found.accepted)
        assert 0 < found.accepted < found.drafted
        assert depth_of(heard) == 3
        shares = [one.value for one in found.positions]
        assert shares == sorted(shares, reverse=True)
        # Its metrics say the same as its answers.
        assert all(answer.draft is not None for answer in heard.answers.values())

    asyncio.run(ask())


def test_a_draft_is_part_of_what_an_endpoint_is() -> None:
    async def hashes() -> set[str | None]:
        found = set()
        for draft_tokens in (2, 3):
            raw = {"kind": "local", "model": "q4", "draft": "q4", "draft_tokens": draft_tokens}
            raw |= {"threads": 1, "slots": 1, "context": 128}
            async with parse_endpoint("a", raw, EndpointOptions()) as endpoint:
                identity = await endpoint.identity()
                found.add(identity.command_hash)
        return found

    assert len(asyncio.run(hashes()) - {None}) == 2
