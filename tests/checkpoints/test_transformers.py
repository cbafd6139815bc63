"""Real transformers on a tiny model, in an environment of its own: `make test-local`."""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evalkit.collect.preflight.probe import probe
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.offline import OfflineEndpoint
from evalkit.types import Message, Reply, Sampling

PYTHON = os.environ.get("EVALKIT_TRANSFORMERS_PYTHON", "")
CHECKPOINTS = os.environ.get("EVALKIT_CHECKPOINTS", "")
TINY = Path(__file__).parent / "tiny.py"
T = TypeVar("T")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="torch has an environment of its own: make test-local"),
]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("tiny")
    done = subprocess.run(
        [PYTHON, str(TINY), str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1])


def inside(folder: Path, act: Callable[[OfflineEndpoint], Awaitable[T]], **more: Any) -> T:
    raw = {"kind": "local", "model": str(folder), "python": PYTHON, "device": "cpu",
           "threads": 1, **more}  # fmt: skip

    async def run() -> T:
        options = EndpointOptions(request_timeout=120)
        endpoint = parse_endpoint(more.get("quantization", "arm"), raw, options)
        assert isinstance(endpoint, OfflineEndpoint)
        async with endpoint:
            return await act(endpoint)

    return asyncio.run(run())


def ask(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


async def ask_all(endpoint: OfflineEndpoint, questions: dict[str, str], n: int) -> list[Reply]:
    sampling = Sampling(max_tokens=n)
    return list(await asyncio.gather(*(endpoint.send(ask(q), sampling) for q in questions)))


def test_what_transformers_itself_answers(tiny: tuple[Path, dict[str, str]]) -> None:
    """Equal texts, whatever the checkpoint's generation_config.json would sample."""
    folder, expected = tiny

    async def act(endpoint: OfflineEndpoint) -> None:
        replies = await ask_all(endpoint, expected, 24)
        assert [reply.text for reply in replies] == list(expected.values())
        assert {reply.finish_reason for reply in replies} <= {"stop", "length"}
        await check_stop(endpoint, *next(iter(expected.items())))
        await check_sampling(endpoint)
        await check_logprobs(endpoint)
        record = await probe(endpoint)
        assert [f.message for f in record.findings if f.status == "failed" and f.blocks] == []
        identity = record.identity
        assert (identity.kind, identity.engine, identity.quantization) == (
            "transformers", "transformers", "f32",
        )  # fmt: skip
        assert identity.details["config_quantized"] is False
        assert identity.context_length == 8192

    inside(folder, act)


async def check_stop(endpoint: OfflineEndpoint, question: str, whole: str) -> None:
    word = whole[6:9]
    stopped = await endpoint.send(ask(question), Sampling(max_tokens=24, stop=(word,)))
    assert (stopped.text, stopped.finish_reason) == (whole[: whole.index(word)], "stop")
    short = await endpoint.send(ask(question), Sampling(max_tokens=3))
    assert (short.finish_reason, short.usage.completion_tokens) == ("length", 3)


async def check_sampling(endpoint: OfflineEndpoint) -> None:
    hot = [Sampling(max_tokens=24, temperature=1.5, seed=seed, top_k=40) for seed in (1, 1, 2)]
    one, again, other = [(await endpoint.send(ask("Go"), s)).text for s in hot]
    assert one == again != other
    plain = await endpoint.send(ask("Go"), Sampling(max_tokens=24))
    strict = Sampling(max_tokens=24, frequency_penalty=2.0, presence_penalty=2.0)
    assert (await endpoint.send(ask("Go"), strict)).text != plain.text


async def check_logprobs(endpoint: OfflineEndpoint) -> None:
    told = (await endpoint.send(ask("Go"), Sampling(max_tokens=8, logprobs=5))).logprobs
    assert told is not None
    assert told.top is not None
    for chosen, top in zip(told.logprobs, told.top, strict=True):
        assert chosen == pytest.approx(top[0][1])
        assert sum(math.exp(value) for _, value in top) <= 1.0001


def test_a_batch_answers_as_one_by_one(tiny: tuple[Path, dict[str, str]]) -> None:
    folder, expected = tiny

    async def act(endpoint: OfflineEndpoint) -> None:
        replies = await ask_all(endpoint, expected, 24)
        assert [reply.text for reply in replies] == list(expected.values())

    inside(folder, act, batch=4)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torchao-int8wo", "torchao int8 weight-only"),
        ("bnb-nf4", "bitsandbytes nf4"),
        ("bnb-int8", "bitsandbytes int8"),
    ],
)
def test_quantized_while_it_is_loaded(
    tiny: tuple[Path, dict[str, str]], name: str, words: str
) -> None:
    folder, expected = tiny

    async def act(endpoint: OfflineEndpoint) -> None:
        identity = await endpoint.identity()
        assert (identity.quantization, identity.details["config_quantized"]) == (words, True)
        whole = sum(f.stat().st_size for f in folder.glob("*.safetensors"))
        assert identity.weights_bytes is not None
        assert identity.weights_bytes < 0.75 * whole
        replies = await ask_all(endpoint, expected, 24)
        assert all(reply.text for reply in replies)

    inside(folder, act, quantization=name)


@pytest.mark.parametrize(
    ("name", "words"), [("w4a16", "int4, groups of 64"), ("fp8-dynamic", "fp8")]
)
def test_a_quantized_checkpoint_is_what_its_config_says(name: str, words: str) -> None:
    """The embedded model in compressed-tensors, as `make test-vllm` makes it."""
    folder = Path(CHECKPOINTS) / name
    if not CHECKPOINTS or not folder.is_dir():
        pytest.skip("the checkpoints of make test-vllm are not there (EVALKIT_CHECKPOINTS)")

    async def act(endpoint: OfflineEndpoint) -> None:
        identity = await endpoint.identity()
        assert identity.quantization == f"compressed-tensors {words}"
        assert identity.details["config_quantized"] is True
        reply = await endpoint.send(ask("What is the capital of France?"), Sampling(max_tokens=10))
        assert "Paris" in str(reply.text)

    inside(folder, act)
