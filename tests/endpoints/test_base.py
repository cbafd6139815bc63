from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint, resolve_target
from evalkit.errors import ConfigError, UnknownNameError, UsageError

OPTIONS = EndpointOptions()


def test_configured_name_wins_over_a_built_in_one() -> None:
    raw = {"kind": "openai", "base_url": "http://h", "model": "m"}
    assert resolve_target("q8", {"q8": raw}) == ("q8", raw)


@pytest.mark.parametrize("arm", ["f16", "q8", "q4", "rtn4", "rtn3"])
def test_embedded_arms_need_no_configuration(arm: str) -> None:
    assert resolve_target(arm, {}) == (arm, {"kind": "local", "model": arm})


def test_url_with_model() -> None:
    name, raw = resolve_target("http://127.0.0.1:8101/v1#Qwen/Qwen3-8B", {})
    assert name == "127.0.0.1-8101-Qwen--Qwen3-8B"
    assert raw == {
        "kind": "openai",
        "base_url": "http://127.0.0.1:8101/v1",
        "model": "Qwen/Qwen3-8B",
    }


def test_url_without_model_says_how_to_write_it() -> None:
    with pytest.raises(UsageError, match="#MODEL"):
        resolve_target("http://127.0.0.1:8101", {})


def test_gguf_file(tmp_path: Path) -> None:
    file = tmp_path / "my model.gguf"
    file.write_bytes(b"GGUF")
    name, raw = resolve_target(str(file), {})
    assert raw == {"kind": "local", "model": str(file)}
    other = tmp_path / "other" / "my model.gguf"
    other.parent.mkdir()
    other.write_bytes(b"GGUF")
    assert resolve_target(str(other), {})[0] != name


@pytest.mark.parametrize(("typed", "meant"), [("q5", "q4"), ("qwen-in4", "qwen-int4")])
def test_unknown_name_gets_a_suggestion(typed: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=meant):
        resolve_target(typed, {"qwen-int4": {}})


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({"kind": "opnai", "base_url": "http://h", "model": "m"}, ["mine", "opnai", "openai"]),
        ({"base_url": "http://h", "model": "m"}, ["mine", "no kind"]),
        (
            {"kind": "openai", "base_ulr": "http://h", "model": "m"},
            ["mine", "base_ulr", "base_url"],
        ),
        ({"kind": "openai", "base_url": "http://h"}, ["mine", "model"]),
        ({"kind": "openai", "base_url": "h:80", "model": "m"}, ["mine", "base_url"]),
        ({"kind": "openai", "base_url": "http://h:99999", "model": "m"}, ["mine", "base_url"]),
        ({"kind": "local", "model": "q9"}, ["mine", "model", "q8"]),
        ({"kind": "local", "model": "q8", "slots": 0}, ["mine", "slots"]),
        ({"kind": "local", "model": "q8", "thread": 2}, ["mine", "thread", "threads"]),
    ],
)
def test_bad_configuration_is_one_clear_sentence(raw: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_endpoint("mine", raw, OPTIONS)
    for word in words:
        assert word in str(caught.value)
    assert "pydantic" not in str(caught.value).lower()
    assert "\n" not in str(caught.value)


def test_the_error_never_prints_the_value_of_a_header() -> None:
    raw = {"kind": "openai", "base_url": "http://h", "model": "m", "headers": "sk-secret"}
    with pytest.raises(ConfigError) as caught:
        parse_endpoint("mine", raw, OPTIONS)
    assert "sk-secret" not in str(caught.value)
    assert "sk-secret" not in repr(caught.value)


def test_a_key_that_is_named_must_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    raw = {"kind": "openai", "base_url": "http://h", "model": "m", "api_key_env": "MY_KEY"}
    with pytest.raises(ConfigError, match="MY_KEY"):
        parse_endpoint("mine", raw, OPTIONS)
