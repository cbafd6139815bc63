"""Engines that are packages: a real worker process, with a stub in vLLM's place."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from evalkit.endpoints.base import EndpointOptions, is_checkpoint, parse_endpoint, resolve_target
from evalkit.endpoints.offline import OfflineEndpoint
from evalkit.endpoints.offline_settings import CheckpointSettings, VLLMSettings, cached_commit
from evalkit.errors import (
    BadRequest,
    ConfigError,
    ContextLengthError,
    LaunchError,
    MissingExtraError,
)
from evalkit.types import Identity, Message, Sampling

STUBS = Path(__file__).parents[1] / "workers" / "stubs"
T = TypeVar("T")


def checkpoint(folder: Path, **config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"dtype": "bfloat16", **config}))
    (folder / "model.safetensors").write_bytes(b"\0" * 64)
    return folder


def stubbed(folder: Path, **more: Any) -> OfflineEndpoint:
    raw = {
        "kind": "vllm",
        "model": str(folder),
        "env": {"PYTHONPATH": str(STUBS), "STUB_ONCE": str(folder / "died")},
        "ready_timeout": 60.0,
        **more,
    }
    options = EndpointOptions(log_path=folder / "log.txt", request_timeout=60)
    endpoint = parse_endpoint("arm", raw, options)
    assert isinstance(endpoint, OfflineEndpoint)
    return endpoint


def inside(endpoint: OfflineEndpoint, act: Callable[[OfflineEndpoint], Awaitable[T]]) -> T:
    async def run() -> T:
        async with endpoint:
            return await act(endpoint)

    return asyncio.run(run())


def ask(*texts: str) -> tuple[Message, ...]:
    return tuple(Message("user", text) for text in texts)


def test_what_a_worker_says_and_answers(tmp_path: Path) -> None:
    """One start for all that needs one: identity, waves, refusals, a death."""
    folder = checkpoint(tmp_path / "int4-checkpoint")

    async def act(endpoint: OfflineEndpoint) -> None:
        identity = await endpoint.identity()
        check_identity(identity, folder)
        await check_answers(endpoint)
        await check_refusals(endpoint)
        reply = await endpoint.send(ask("die"), Sampling(max_tokens=9))
        assert (reply.text or "").startswith("die")
        assert endpoint.deaths == ("'RuntimeError: the engine is dead'",)
        assert await endpoint.identity() == identity

    inside(stubbed(folder, context=200, engine_args={"seed": 3}), act)


def check_identity(identity: Identity, folder: Path) -> None:
    assert (identity.kind, identity.engine, identity.engine_version) == (
        "vllm", "vLLM", "0.0.stub",
    )  # fmt: skip
    assert (identity.model, identity.quantization) == ("int4-checkpoint", "bf16")
    assert (identity.context_length, identity.weights_bytes) == (200, 64)
    assert identity.base_url is None
    assert identity.template_hash
    assert identity.tokenizer_hash
    assert identity.rendering_hash
    assert identity.details == {"root": str(folder), "size": 64, "config_quantized": False}


async def check_answers(endpoint: OfflineEndpoint) -> None:
    sampling = Sampling(max_tokens=64, seed=5, stop=("END",), logprobs=2, top_k=-1)
    replies = await asyncio.gather(*(endpoint.send(ask(f"q{n}"), sampling) for n in range(8)))
    texts = [reply.text or "" for reply in replies]
    assert [text.split()[0] for text in texts] == [f"q{n}" for n in range(8)]
    # What came together was answered together, and every field was said.
    assert len({text.split("wave")[1].split(",")[0] for text in texts}) < 8
    for word in ("'temperature': 0.0", "'seed': 5", "'stop': ['END']", "'top_k': -1",
                 "'max_tokens': 64", "'min_p': 0.0", "'repetition_penalty': 1.0"):  # fmt: skip
        assert word in texts[0]
    assert replies[0].finish_reason == "stop"
    assert replies[0].usage.completion_tokens
    assert replies[0].logprobs is not None
    cut = await endpoint.send(ask("q"), Sampling(max_tokens=2))
    assert (cut.finish_reason, cut.usage.completion_tokens) == ("length", 2)


async def check_refusals(endpoint: OfflineEndpoint) -> None:
    with pytest.raises(ContextLengthError, match="200"):
        await endpoint.send(ask("x" * 300), Sampling(max_tokens=4))
    with pytest.raises(BadRequest, match="refuses these messages"):
        await endpoint.send(ask("refuse me"), Sampling(max_tokens=4))
    for page, body, status in (
        ("/v1/chat/completions", b"{not json", 400),
        ("/v1/chat/completions", b"[]", 400),
        ("/v1/chat/completions", b'{"model": "another"}', 404),
        ("/v1/chat/completions", b'{"model": "int4-checkpoint", "messages": [], "x": 1}', 400),
        ("/v1/completions", b'{"model": "int4-checkpoint", "prompt": "p", "n": 2}', 400),
        ("/v1/completions", b'{"model": "int4-checkpoint", "prompt": "p", "top_p": 7}', 400),
        ("/nothing", b"{}", 404),
    ):
        got, said = await endpoint.exchange(page, body)
        assert (got, "error" in json.loads(said)) == (status, True), said
    body = {"model": "int4-checkpoint", "prompt": "plain", "max_tokens": 3}
    got, said = await endpoint.exchange("/v1/completions", json.dumps(body).encode())
    assert (got, json.loads(said)["choices"][0]["text"].split()[0]) == (200, "plain")


def test_a_model_that_does_not_load_says_why(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "gone")
    endpoint = stubbed(folder)
    (folder / "config.json").unlink()
    with pytest.raises(LaunchError, match=r"does not appear to have a file named config\.json"):
        inside(endpoint, lambda e: e.identity())


def test_quantized_while_it_is_loaded(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "bf16")
    identity = inside(stubbed(folder, quantization="fp8"), lambda e: e.identity())
    assert identity.quantization == "fp8, while it is loaded"
    assert identity.details["config_quantized"] is True


def test_a_missing_package_is_said_with_its_line(tmp_path: Path) -> None:
    raw = {"kind": "local", "model": str(checkpoint(tmp_path / "m")), "quantization": "bnb-nf4",
           "env": {"PYTHONPATH": "/nowhere"}}  # fmt: skip
    with pytest.raises(MissingExtraError) as told:
        parse_endpoint("nf4", raw, EndpointOptions())
    assert "Endpoint 'nf4' (bnb-nf4) needs a package" in told.value.message
    assert "-m pip install" in str(told.value.hint)
    assert "bitsandbytes" in str(told.value.hint)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"quantization": "bnb-nf5"}, "none of bnb-nf4"),
        ({"quantisation": "bnb-nf4"}, "unknown key"),
        ({"kind": "vllm", "engine_args": {"dtype": "half"}}, "key of its own"),
        ({"kind": "vllm", "engine_args": {"trust_remote_code": True}}, "own code is not run"),
        ({"python": "/nowhere/python"}, "is not found"),
        ({"batch": 0}, "batch"),
    ],
)
def test_settings_are_checked(tmp_path: Path, more: dict[str, Any], words: str) -> None:
    raw = {"kind": "local", "model": str(checkpoint(tmp_path / "m")), **more}
    with pytest.raises(ConfigError, match=words):
        parse_endpoint("arm", raw, EndpointOptions())


def test_what_counts_as_a_checkpoint(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "bf16")
    assert [is_checkpoint(m) for m in (str(folder), "org/model", "q8", "x.gguf", None)] == [
        True, True, False, False, False,
    ]  # fmt: skip
    name, raw = resolve_target(str(folder), {})
    assert name.startswith("bf16-")
    assert raw == {"kind": "local", "model": str(folder)}
    with pytest.raises(ConfigError, match=r"holds no config\.json"):
        parse_endpoint("x", {"kind": "local", "model": str(tmp_path)}, EndpointOptions())


def test_answers_belong_to_weights_and_options(tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "bf16")
    one = CheckpointSettings(model=str(folder))
    assert one.work_hash() == CheckpointSettings(model=str(folder)).work_hash()
    nf4 = CheckpointSettings(model=str(folder), quantization="bnb-nf4")
    keyed = CheckpointSettings(model=str(folder), env={"HF_TOKEN": "hf-secret"})
    assert nf4.work_hash() != one.work_hash()
    assert keyed.work_hash() == one.work_hash()
    before = one.work_hash()
    (folder / "model.safetensors").write_bytes(b"\1" * 65)
    assert one.work_hash() != before


def test_a_name_on_the_hub_belongs_to_its_commit(tmp_path: Path) -> None:
    refs = tmp_path / "hub" / "models--org--model" / "refs"
    refs.mkdir(parents=True)
    (refs / "main").write_text("abc123\n")
    env = {"HF_HOME": str(tmp_path)}
    assert cached_commit("org/model", None, env) == "abc123"
    assert cached_commit("org/model", "def456", env) == "def456"
    settings = VLLMSettings(model="org/model", env=env)
    before = settings.work_hash()
    (refs / "main").write_text("fff999\n")
    assert settings.work_hash() != before
