"""The configuration of a launched server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from evalkit.config import load_config
from evalkit.endpoints.launch_settings import LaunchSettings
from evalkit.endpoints.settings import check_settings
from evalkit.errors import ConfigError

LOG = Path("/runs/server.log")


def settings(command: Any = "serve --port {port}", **raw: Any) -> LaunchSettings:
    return check_settings(
        LaunchSettings, "mine", {"kind": "launch", "model": "org/m", "command": command, **raw}
    )


def filled(one: LaunchSettings) -> list[str]:
    return [one.fill(word, port=8001, log=LOG) for word in one.command]


class TestCommand:
    def test_a_text_is_split_as_a_shell_would_without_a_shell(self) -> None:
        one = settings("serve 'a b' --port {port} $HOME; rm *")
        assert filled(one) == ["serve", "a b", "--port", "8001", "$HOME;", "rm", "*"]

    def test_places_are_filled_in_after_the_split(self) -> None:
        one = settings(["serve", "{model}", "--bind={host}:{port}", "--log", "{log}"])
        assert filled(one) == ["serve", "org/m", "--bind=127.0.0.1:8001", "--log", str(LOG)]

    def test_other_braces_stay(self) -> None:
        config = '{"method":"ngram","n":4}'
        one = settings(["serve", "{port}", config, "{{port}}", "${port}", "{bos}"])
        assert filled(one)[2:] == [config, "{{port}}", "${port}", "{bos}"]

    def test_numbers_in_a_list_are_words(self) -> None:
        assert filled(settings(["serve", "{port}", 8, 0.9]))[2:] == ["8", "0.9"]

    @pytest.mark.parametrize(
        ("raw", "said"),
        [
            ({"command": "serve"}, "takes no {port}"),
            ({"command": []}, "command"),
            ({"command": "serve 'open {port}"}, "cannot be split"),
            ({"command": "serve {prot} {port}"}, "did you mean {port}?"),
            ({"command": "x {port}", "base_url": "http://h"}, "base_url does not belong here"),
            ({"command": "x {port}", "port": 70000}, "port"),
            ({"command": "x {port}", "health": "health"}, "begins with '/'"),
            ({"command": "x {port}", "ready_timeot": 3}, "Did you mean ready_timeout?"),
            ({"command": "x {port}", "headers": {"a b": "c"}}, "does not allow"),
        ],
    )
    def test_what_is_refused(self, raw: dict[str, Any], said: str) -> None:
        with pytest.raises(ConfigError) as caught:
            settings(**raw)
        assert said in str(caught.value)

    def test_a_fixed_port_needs_no_place(self) -> None:
        assert settings("serve", port=8000).port == 8000

    @pytest.mark.parametrize(
        ("command", "program"),
        [
            ("/opt/bin/vllm serve {port}", "vllm"),
            ("/x/python3.11 -m vllm.entrypoints.openai.api_server {port}",
             "vllm.entrypoints.openai.api_server"),
            ("llama-server -m {port}", "llama-server"),
            ("nice -n 10 python3 -m vllm.server {port}", "vllm.server"),
        ],
    )  # fmt: skip
    def test_the_programs_name(self, command: str, program: str) -> None:
        assert settings(command).program == program

    def test_no_key_is_sent_unless_it_is_named(self) -> None:
        assert settings().api_key_env == ""


def test_the_example_configuration_is_valid() -> None:
    path = Path(__file__).parents[2] / "configs" / "launch.yaml"
    raw = load_config(path, environment={}).endpoints
    fp8, int4 = (check_settings(LaunchSettings, name, raw[name]) for name in ("fp8", "int4"))
    assert filled(fp8)[:3] == ["vllm", "serve", "my/model"]
    assert filled(int4)[2:4] == ["my/model-AWQ", "--served-model-name=my/model"]


class TestMasks:
    @pytest.mark.parametrize(
        ("words", "shown"),
        [
            (["serve", "--api-key", "abcdef123", "{port}"], "serve --api-key *** {port}"),
            (["serve", "--api-key=abcdef123", "{port}"], "serve '--api-key=***' {port}"),
            (["serve", "--hf-token", "ab", "{port}"], "serve --hf-token *** {port}"),
            (["serve", "--token", "--port", "{port}"], "serve --token --port {port}"),
            (["serve", "--max-tokens", "512", "{port}"], "serve --max-tokens 512 {port}"),
            (["serve", "--tokenizer", "x y", "{port}"], "serve --tokenizer 'x y' {port}"),
            (["serve", "http://me:abcdef@h/x", "{port}"], "serve 'http://***@h/x' {port}"),
            (["env", "HF_TOKEN=abcdef123", "s", "{port}"], "env 'HF_TOKEN=***' s {port}"),
        ],
    )
    def test_a_command_is_shown_without_keys(self, words: list[str], shown: str) -> None:
        one = settings(words)
        assert one.shown(one.command) == shown

    def test_secrets_are_those_of_arguments_environment_and_headers(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOME_API_KEY", "inherited-1")
        monkeypatch.setenv("SOME_NAME", "harmless-1")
        one = settings(
            ["serve", "{port}", "--api-key", "argument-2"],
            env={"MY_SECRET": "configured-3", "N": "harmless-2", "A_KEY": "x"},
            headers={"X-Auth": "header-4"},
        )
        wanted = {"inherited-1", "argument-2", "configured-3", "header-4"}
        assert wanted <= set(one.secrets())
        assert not {"harmless-1", "harmless-2", "x"} & set(one.secrets())
        assert "-4" not in one.scrub("it says header-4 and argument-2")

    def test_nothing_secret_in_its_repr(self) -> None:
        one = settings(["serve", "{port}", "--api-key", "argument-2"], env={"X_KEY": "value-3"})
        assert "argument-2" not in repr(one)
        assert "value-3" not in repr(one)


class TestHash:
    def test_port_and_log_and_keys_are_not_in_it(self) -> None:
        a = settings("serve --port 8000 --api-key abcdef1", port=8000, env={"A_KEY": "1" * 9})
        b = settings("serve --port 8001 --api-key abcdef2", port=8001, env={"A_KEY": "2" * 9})
        assert a.command_hash() == b.command_hash()

    @pytest.mark.parametrize(
        "raw",
        [
            {"command": "serve --port {port} --quantization fp8"},
            {"env": {"VLLM_USE_V1": "1"}},
        ],
    )
    def test_what_decides_is_in_it(self, raw: dict[str, Any]) -> None:
        base = {"kind": "launch", "model": "org/m", "command": "serve --model {model} {port}"}
        one = check_settings(LaunchSettings, "a", base)
        other = check_settings(LaunchSettings, "a", base | raw)
        assert one.command_hash() != other.command_hash()

    def test_a_file_of_weights_counts_by_size_and_time(self, tmp_path: Path) -> None:
        file = tmp_path / "m.gguf"
        file.write_bytes(b"one")
        one = settings(f"serve -m={file} --port {{port}}")
        before = one.command_hash()
        os.utime(file, (1, 1))
        assert one.command_hash() != before

    def test_other_folders_do_not_count(self, tmp_path: Path) -> None:
        one = settings(f"serve --cache {tmp_path} --port {{port}}")
        before = one.command_hash()
        (tmp_path / "x.bin").write_bytes(b"cached")
        assert one.command_hash() == before
