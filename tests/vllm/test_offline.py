"""Real vLLM's offline interface on the CPU: `kind: vllm`, by `make test-vllm`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.offline import OfflineEndpoint
from evalkit.errors import ContextLengthError, LaunchError
from evalkit.types import Message, Sampling
from tests.vllm.test_vllm import CHECKPOINTS, PYTHON

pytestmark = [
    pytest.mark.slow,
    pytest.mark.vllm,
    pytest.mark.skipif(not PYTHON, reason="vLLM has an environment of its own: make test-vllm"),
]

CAPITALS = {"France": "Paris", "Italy": "Rome", "Germany": "Berlin", "Spain": "Madrid"}


def inside(
    folder: Path, checkpoint: str, act: Callable[[OfflineEndpoint], Awaitable[None]], **env: str
) -> None:
    raw: dict[str, Any] = {
        "kind": "vllm",
        "model": str(CHECKPOINTS / checkpoint),
        "python": PYTHON,
        "context": 1024,
        "engine_args": {"enforce_eager": True},
        "env": {"VLLM_CPU_KVCACHE_SPACE": "1", **env},
        "ready_timeout": 900.0,
        "restarts": 0,
    }

    async def run() -> None:
        options = EndpointOptions(log_path=folder / "log.txt", request_timeout=300)
        endpoint = parse_endpoint(checkpoint, raw, options)
        assert isinstance(endpoint, OfflineEndpoint)
        async with endpoint:
            await act(endpoint)

    asyncio.run(run())


def ask(country: str) -> tuple[Message, ...]:
    return (Message("user", f"What is the capital of {country}?"),)


def test_a_batch_of_chats(tmp_path: Path) -> None:
    async def act(endpoint: OfflineEndpoint) -> None:
        identity = await endpoint.identity()
        assert (identity.kind, identity.engine, identity.context_length) == ("vllm", "vLLM", 1024)
        assert "fp8" in str(identity.quantization)
        assert identity.details["config_quantized"] is True
        assert identity.template_hash
        assert identity.tokenizer_hash
        sampling = Sampling(max_tokens=12, logprobs=2)
        replies = await asyncio.gather(*(endpoint.send(ask(c), sampling) for c in CAPITALS))
        right = [name in str(r.text) for r, name in zip(replies, CAPITALS.values(), strict=True)]
        assert sum(right) >= 3
        for reply in replies:
            assert reply.finish_reason in ("stop", "length")
            assert reply.logprobs is not None
            assert len(reply.logprobs.logprobs) == reply.usage.completion_tokens
        stopped = await endpoint.send(ask("France"), Sampling(max_tokens=12, stop=("Paris",)))
        assert "Paris" not in str(stopped.text)
        assert stopped.finish_reason == "stop"
        with pytest.raises(ContextLengthError):
            await endpoint.send(ask("France " * 1500), Sampling(max_tokens=4))

    inside(tmp_path, "fp8-dynamic", act)


def test_a_checkpoint_without_a_kernel_is_explained(tmp_path: Path) -> None:
    async def act(endpoint: OfflineEndpoint) -> None:
        raise AssertionError("it answered its first question")

    avx2 = str(Path(__file__).parent / "avx2")
    with pytest.raises(LaunchError, match="cpu_gemm_wna16") as told:
        inside(tmp_path, "w4a16", act, PYTHONPATH=avx2)
    assert "no kernel for that quantization" in str(told.value.hint)
