from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint, resolve_target
from evalkit.errors import ConfigError, UnknownNameError, UsageError

OPTIONS = EndpointOptions()


def test_configured_name_wins_over_a_built_in_one() -> None:
    raw = {"kind": "openai", "base_url": "http://h", "model": "m"}
    assert resolve_target("q8", {"q8": raw}) == ("q8", raw)


@pytest.mark.parametrize("arm", ["f16", "q8", "q4", "rtn4", "rtn3", "rtn2"])
def test_embedded_arms_need_no_configuration(arm: str) -> None:
    assert resolve_target(arm, {}) == (arm, {"kind": "local", "model": arm})


def test_an_embedded_arm_may_have_another_as_its_draft() -> None:
    raw = {"kind": "local", "model": "f16", "draft": "q4"}
    assert resolve_target("f16+q4", {}) == ("f16+q4", raw)
    with pytest.raises(UnknownNameError):
        resolve_target("f16+q5", {})


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


def test_a_path_that_is_no_endpoint_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for run in ("q8", "q4"):
        (tmp_path / "r1" / "runs" / run).mkdir(parents=True)
        (tmp_path / "r1" / "runs" / run / "header.json").write_text("{}", "utf-8")
    (tmp_path / "r1" / "comparison.json").write_text("{}", "utf-8")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "completions.jsonl").write_text("", "utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").write_text("", "utf-8")
    told = {}
    for target in ("x.gguf", "no/where", "r1", "torn", "empty", "notes.txt"):
        with pytest.raises(UsageError) as caught:
            resolve_target(target, {})
        told[target] = str(caught.value)
        assert f"'{target}'" in told[target]
        assert "Unknown endpoint" not in told[target]
    assert told["x.gguf"] == "'x.gguf' does not exist."
    assert told["no/where"] == "'no/where' does not exist."
    assert told["r1"] == "'r1' is a comparison; its runs are in r1/runs (q4, q8)."
    assert "without its header.json" in told["torn"]
    assert told["empty"].startswith("'empty' is not a run folder (no header.json)")
    assert "no .gguf file" in told["notes.txt"]


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


@pytest.mark.parametrize("key", ["api_key_env", "headers", "name", "base_url"])
def test_a_secret_in_the_wrong_place_is_refused_and_not_repeated(key: str) -> None:
    wrong = {
        "api_key_env": {"api_key_env": "sk-SECRET4"},
        "headers": {"headers": {"X-Team": "sk-SECRET4\nX-More: 1"}},
        "name": {"headers": {"sk-SECRET4 ": "x"}},
        "base_url": {"base_url": "http://h/v1?api_key=sk-SECRET4"},
    }[key]
    raw = {"kind": "openai", "base_url": "http://h", "model": "m", **wrong}
    with pytest.raises(ConfigError, match="mine") as caught:
        parse_endpoint("mine", raw, OPTIONS)
    assert next(iter(wrong)) in str(caught.value)
    assert "SECRET4" not in str(caught.value)
    assert "SECRET4" not in repr(caught.value.__cause__)


def test_a_key_that_looks_like_a_name_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("hf_Secret4", raising=False)
    raw = {"kind": "openai", "base_url": "http://h", "model": "m", "api_key_env": "hf_Secret4"}
    with pytest.raises(ConfigError, match="api_key_env names, which is not set") as caught:
        parse_endpoint("mine", raw, OPTIONS)
    assert "Secret4" not in str(caught.value)


@pytest.mark.parametrize("bad", ["sk-1\r\nX-Evil: 1", "sk-1\x07", "sk-é", "sk 1"])
def test_a_key_that_cannot_be_sent_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", bad)
    raw = {"kind": "openai", "base_url": "http://h", "model": "m"}
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        parse_endpoint("mine", raw, OPTIONS)
    assert bad not in str(caught.value)
