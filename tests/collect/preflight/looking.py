"""Probing a fake server from a test."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evalkit.collect.preflight import Finding, ProbeOptions, ProbeRecord, probe
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from tests.collect.builders import FakeSleep
from tests.servers.fake import FakeServer, Script

QUICK = EndpointOptions(connect_timeout=2.0, request_timeout=20.0)


def look(url: str, options: ProbeOptions | None = None, **raw: Any) -> ProbeRecord:
    """Probe a server."""

    async def go() -> ProbeRecord:
        settings = {"kind": "openai", "base_url": url, "model": "fake", "api_key_env": "", **raw}
        async with parse_endpoint("mine", settings, QUICK) as endpoint:
            return await probe(endpoint, options, FakeSleep())

    return asyncio.run(go())


def look_at(script: Script, **raw: Any) -> ProbeRecord:
    """Probe a server that follows a script."""
    with FakeServer(script) as server:
        return look(server.url, **raw)


def by_code(findings: tuple[Finding, ...] | list[Finding]) -> dict[str, Finding]:
    """Return findings by their code, bad ones last and so foremost."""
    return {f.code: f for f in sorted(findings, key=lambda f: f.status in ("failed", "differs"))}


def named(record: ProbeRecord, name: str, seen: Mapping[str, Any] | None = None) -> ProbeRecord:
    """Return the record of another endpoint that was seen to do the same, but for `seen`."""
    identity = replace(record.identity, base_url=f"http://{name}/v1")
    return replace(record, name=name, identity=identity, seen={**record.seen, **(seen or {})})
