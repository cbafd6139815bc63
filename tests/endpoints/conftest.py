from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.openai import OpenAIEndpoint
from evalkit.types import Identity, Message, Reply, Sampling

OPTIONS = EndpointOptions(max_connections=4, connect_timeout=2.0, request_timeout=5.0)


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


@pytest.fixture
def ask() -> Callable[..., Reply]:
    """Ask an endpoint once: `ask(raw, prompt)`."""

    def run(
        raw: dict[str, Any],
        prompt: str = "hi",
        sampling: Sampling | None = None,
        options: EndpointOptions = OPTIONS,
    ) -> Reply:
        async def go() -> Reply:
            async with parse_endpoint("mine", {"kind": "openai", **raw}, options) as endpoint:
                messages = (Message("user", prompt),)
                return await endpoint.send(messages, sampling or Sampling(max_tokens=8))

        return asyncio.run(go())

    return run


@pytest.fixture
def identify() -> Callable[..., Identity]:
    """Read an endpoint's identity: `identify(raw)`."""

    def run(raw: dict[str, Any]) -> Identity:
        async def go() -> Identity:
            endpoint = parse_endpoint("mine", {"kind": "openai", **raw}, OPTIONS)
            assert isinstance(endpoint, OpenAIEndpoint)
            async with endpoint:
                return await endpoint.identity()

        return asyncio.run(go())

    return run
