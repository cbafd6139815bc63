from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.errors import (
    AuthError,
    BadRequest,
    ConnectError,
    EndpointError,
    NotFoundError,
)
from evalkit.fingerprint import canonical
from evalkit.types import Reply, Sampling
from tests.servers.fake import FakeServer, Fault, Script
from tests.servers.faults import HEALS, STAYS, STOPS

Ask = Callable[..., Reply]
KEY = "sk-very-secret-1234"


def raw(server: FakeServer, **more: Any) -> dict[str, Any]:
    return {"base_url": server.url, "model": "fake", **more}


def test_an_answer(ask: Ask) -> None:
    with FakeServer(Script(answers={"2+2?": "4"})) as server:
        reply = ask(raw(server), "2+2?")
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("4", None, "stop")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (1, 1)
    assert reply.model == "fake"
    assert 0 < reply.timing.total < 5


def test_what_arrives_is_what_was_asked(ask: Ask) -> None:
    with FakeServer() as server:
        ask(
            raw(server, headers={"X-Team": "a"}, extra_body={"n": 1}, omit=["top_k"]),
            "hé 中文",
            Sampling(max_tokens=5, seed=3),
        )
        entry = server.log[0]
    assert entry["body"]["messages"] == [{"role": "user", "content": "hé 中文"}]
    assert (entry["body"]["seed"], entry["body"]["n"]) == (3, 1)
    assert "top_k" not in entry["body"]
    assert entry["headers"]["X-Team"] == "a"
    assert "Authorization" not in entry["headers"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", [*HEALS, *STAYS, *STOPS])
def test_every_fault_is_a_typed_error(ask: Ask, kind: str, stream: bool) -> None:
    slow = kind in {"hang", "slow", "stall"}
    options = EndpointOptions(request_timeout=0.3 if slow else 5.0)
    with FakeServer(Script(faults=(Fault(kind, seconds=3.0),))) as server:
        with pytest.raises(EndpointError) as caught:
            ask(raw(server, stream=stream), options=options)
        assert len(server.log) == 1, "one attempt, no hidden retry"
        assert "'mine'" in str(caught.value)
        assert server.url in str(caught.value)
    assert type(caught.value).__name__ == (HEALS | STAYS | STOPS)[kind]
    assert caught.value.retryable is (kind in HEALS)
    assert ("within 0.3 s" in str(caught.value)) == slow
    assert "\n" not in str(caught.value)


def test_null_content_is_an_answer_of_its_own_kind(ask: Ask) -> None:
    with FakeServer(Script(faults=(Fault("null"),))) as server:
        assert ask(raw(server)).text is None


def test_reasoning_is_kept_apart(ask: Ask) -> None:
    with FakeServer(Script(message={"reasoning_content": "hm"})) as server:
        reply = ask(raw(server), "x")
    assert (reply.text, reply.reasoning) == ("echo: x", "hm")


def test_stop_strings_can_be_kept_for_the_answer(ask: Ask) -> None:
    script = Script(answers={"x": "one END two"}, message={"reasoning_content": "the END"})
    sampling = Sampling(max_tokens=8, stop=("END",))
    with FakeServer(script) as server:
        asked = ask(raw(server), "x", sampling)
        kept = ask(raw(server, client_stop=True), "x", sampling)
        sent = [entry["body"].get("stop") for entry in server.log]
    assert sent == [["END"], None]
    assert asked.text == "one ", "this server obeys"
    assert (kept.text, kept.reasoning, kept.finish_reason) == ("one ", "the END", "stop")


def test_nobody_listens(ask: Ask) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(ConnectError, match=f"mine.*127.0.0.1:{port}") as caught:
            ask({"base_url": f"http://127.0.0.1:{port}", "model": "m"})
    assert "cannot be reached: Connection refused." in str(caught.value)
    assert "ssl" not in str(caught.value)


def test_the_key_is_sent_and_its_absence_named(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(Script(key=KEY)) as server:
        with pytest.raises(AuthError, match="OPENAI_API_KEY, which is not set"):
            ask(raw(server))
        monkeypatch.setenv("MY_KEY", KEY)
        assert ask(raw(server, api_key_env="MY_KEY")).text == "echo: hi"
        monkeypatch.setenv("OPENAI_API_KEY", "wrong-key-5678")
        with pytest.raises(AuthError) as caught:
            ask(raw(server))
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert ask(raw(server)).text == "echo: hi"
        with pytest.raises(AuthError):
            ask(raw(server, api_key_env=""))
    message = str(caught.value)
    for word in ("mine", server.url, "OPENAI_API_KEY", "wrong key"):
        assert word in message
    assert "wrong-key-5678" not in message


@pytest.mark.parametrize("around", ["{}\r", " {}\n", "\t{} "])
def test_white_space_around_keys_and_headers_is_not_sent(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, around: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", around.format(KEY))
    with FakeServer(Script(key=KEY)) as server:
        assert ask(raw(server, headers={"X-Team": around.format("a")})).text == "echo: hi"
        sent = server.log[0]["headers"]
    assert (sent["Authorization"], sent["X-Team"]) == (f"Bearer {KEY}", "a")


def test_a_server_that_repeats_the_key_does_not_reveal_it(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(Script(faults=(Fault("leak"),))) as server:
        with pytest.raises(BadRequest) as caught:
            ask(raw(server))
        assert KEY in server.log[0]["headers"]["Authorization"]
    assert "***" in str(caught.value)
    assert KEY not in str(caught.value)
    assert KEY not in repr(caught.value)
    assert KEY not in repr(caught.value.__cause__)


def test_url_credentials_work_and_are_masked(ask: Ask) -> None:
    with FakeServer(Script(faults=(Fault("400"),))) as server:
        url = server.url.replace("http://", "http://me:hush-hush@")
        with pytest.raises(BadRequest) as caught:
            ask({"base_url": url, "model": "m"})
        assert server.log[0]["headers"]["Authorization"].startswith("Basic ")
    assert "hush-hush" not in str(caught.value)


def test_repr_and_label_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    settings = {
        "kind": "openai",
        "base_url": "http://u:hush-hush@h:1/v1",
        "model": "m",
        "headers": {"X-Auth": "header-secret"},
    }
    endpoint = parse_endpoint("mine", settings, EndpointOptions())
    for text in (repr(endpoint), endpoint.label, endpoint.name):
        for secret in (KEY, "hush-hush", "header-secret"):
            assert secret not in text
    assert endpoint.label == "m at h:1"


def test_an_unknown_model_says_what_there_is(ask: Ask) -> None:
    script = Script(models=("qwen-fp8", "qwen-int4"), faults=(Fault("404"),))
    with FakeServer(script) as server, pytest.raises(NotFoundError) as caught:
        ask(raw(server))
    assert "The model does not exist." in str(caught.value)
    assert "qwen-fp8, qwen-int4" in str(caught.value)


class TestIdentity:
    def test_a_server_that_says_nothing(self, identify: Callable[..., Any]) -> None:
        with FakeServer(Script(models=None)) as server:
            got = identify(raw(server))
        assert (got.kind, got.model, got.base_url) == ("openai", "fake", server.url + "/v1")
        assert got.engine is got.engine_version is got.context_length is None

    def test_vllm(self, identify: Callable[..., Any]) -> None:
        entry = {
            "id": "fake",
            "owned_by": "vllm",
            "created": 123,
            "root": "org/model-FP8",
            "max_model_len": 2048,
        }
        pages = {"/v1/models": {"data": [entry]}, "/version": {"version": "0.32.0"}}
        with FakeServer(Script(pages=pages)) as server:
            got = identify(raw(server))
        assert (got.engine, got.engine_version) == ("vLLM", "0.32.0")
        assert got.context_length == 2048
        assert got.details == {"root": "org/model-FP8"}
        assert "123" not in canonical(got)

    def test_llama_cpp(self, identify: Callable[..., Any]) -> None:
        meta = {"n_ctx": 1024, "n_params": 5, "size": 6, "ftype": "Q8_0"}
        entry = {"id": "other", "owned_by": "llamacpp", "created": 123, "meta": meta}
        props = {"chat_template": "{{x}}", "build_info": "b6000-abc", "model_ftype": "Q8_0"}
        pages = {"/v1/models": {"data": [entry]}, "/props": props}
        with FakeServer(Script(pages=pages)) as server:
            got = identify(raw(server))
            again = identify(raw(server))
            server.server.script = Script(
                pages={**pages, "/props": {**props, "chat_template": "{{y}}"}}
            )
            changed = identify(raw(server))
        assert (got.engine, got.engine_version) == ("llama.cpp", "b6000-abc")
        assert (got.quantization, got.context_length) == ("Q8_0", 1024)
        assert got.details == {"listed_as": "other", "n_params": 5, "size": 6}
        assert got == again
        assert got.template_hash is not None
        assert got.template_hash != changed.template_hash

    def test_a_model_that_is_not_listed(self, identify: Callable[..., Any]) -> None:
        with (
            FakeServer(Script(models=("qwen-fp8", "qwen-int4"))) as server,
            pytest.raises(NotFoundError, match="qwen-int4"),
        ):
            identify({"base_url": server.url, "model": "qwen-in4"})

    @pytest.mark.parametrize(("listed", "asked"), [("a:latest", "a"), ("models/a", "a")])
    def test_other_spellings_of_a_name(
        self, identify: Callable[..., Any], listed: str, asked: str
    ) -> None:
        with FakeServer(Script(models=(listed,))) as server:
            assert identify({"base_url": server.url, "model": asked}).model == asked

    def test_a_refused_key(self, identify: Callable[..., Any]) -> None:
        with (
            FakeServer(Script(key=KEY)) as server,
            pytest.raises(AuthError, match="OPENAI_API_KEY"),
        ):
            identify(raw(server))

    def test_nobody_listens(self, identify: Callable[..., Any]) -> None:
        with FakeServer() as server:
            url = server.url
        with pytest.raises(ConnectError):
            identify({"base_url": url, "model": "m"})
