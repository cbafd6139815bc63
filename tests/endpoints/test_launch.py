"""Servers that evalkit starts: real processes, from the first health page to the last child."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.launch import LaunchEndpoint
from evalkit.endpoints.ports import free_port
from evalkit.errors import (
    AuthError,
    ConfigError,
    EvalKitError,
    LaunchError,
    NotFoundError,
    ServerError,
)
from evalkit.fingerprint import identity_key
from tests.endpoints.launching import ask, command, endpoint, gone, nothing, read_pids, use


def failure(one: LaunchEndpoint) -> EvalKitError:
    with pytest.raises(EvalKitError) as caught:
        use(one, nothing)
    return caught.value


class TestStart:
    def test_it_answers_and_ends(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        said: list[str] = []
        one = endpoint(tmp_path, "--pids", pids, notify=said.append)
        reply = use(one, ask)
        assert reply.text == "hello"
        assert gone(read_pids(pids), 0.5)
        assert said[0].startswith("starting mine: ")
        assert str(tmp_path / "server.log") in said[0]

    def test_it_waits_for_health_and_for_an_answer(self, tmp_path: Path) -> None:
        record = tmp_path / "record"
        one = endpoint(tmp_path, "--load", "0.4", "--record", record)
        begin = time.monotonic()
        use(one, nothing)
        assert time.monotonic() - begin >= 0.4
        assert record.read_text() == "Say OK.\n"

    def test_a_server_without_a_health_page(self, tmp_path: Path) -> None:
        assert use(endpoint(tmp_path, "--no-health-page"), ask).text == "hello"

    def test_a_health_page_that_must_be_there(self, tmp_path: Path) -> None:
        one = endpoint(tmp_path, health="/ready", ready_timeout=0.7)
        assert "was not ready within 0.7 s" in failure(one).message

    def test_a_command_in_one_text(self, tmp_path: Path) -> None:
        text = " ".join(f"'{word}'" for word in command())
        assert use(endpoint(tmp_path, command=text), ask).text == "hello"

    def test_places_in_the_environment(self, tmp_path: Path) -> None:
        program = f"import os, runpy, sys; sys.argv[1:] = ['--port', os.environ['PORT']]; \
runpy.run_path({command()[1]!r}, run_name='__main__')"
        words = [sys.executable, "-c", program]
        one = endpoint(tmp_path, command=words, env={"PORT": "{port}"})
        assert use(one, ask).text == "hello"

    def test_it_may_be_used_again(self, tmp_path: Path) -> None:
        one = endpoint(tmp_path)
        assert use(one, ask).text == "hello"
        assert use(one, ask).text == "hello"
        assert (tmp_path / "server.log").read_text().count("evalkit starts") == 2

    def test_the_log_holds_command_and_words(self, tmp_path: Path) -> None:
        use(endpoint(tmp_path, "--say", "loading weights"), nothing)
        log = (tmp_path / "server.log").read_text()
        assert "evalkit starts: " in log
        assert "loading weights\n" in log

    def test_without_a_folder_the_log_stays_only_after_a_failure(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        raw = {"kind": "launch", "model": "m", "command": command()}
        use_it = parse_endpoint("mine", raw, EndpointOptions())
        assert isinstance(use_it, LaunchEndpoint)
        use(use_it, nothing)
        assert list(tmp_path.glob("*.log")) == []
        raw["command"] = command("--exit", 3)
        broken = parse_endpoint("mine", raw, EndpointOptions())
        assert isinstance(broken, LaunchEndpoint)
        error = failure(broken)
        (log,) = tmp_path.glob("*.log")
        assert str(log) in str(error.hint)


class TestNoStart:
    def test_a_program_that_is_not_there_is_found_before_anything_begins(
        self, tmp_path: Path
    ) -> None:
        with pytest.raises(ConfigError, match="'no-such-server' is not found") as caught:
            endpoint(tmp_path, command="no-such-server --port {port}")
        assert caught.value.exit_code == 2

    def test_a_program_that_cannot_be_executed(self, tmp_path: Path) -> None:
        broken = tmp_path / "broken"
        broken.write_bytes(b"\x7fELF nonsense")
        broken.chmod(0o755)
        error = failure(endpoint(tmp_path, command=[str(broken), "{port}"]))
        assert isinstance(error, LaunchError)
        assert "cannot be started: Exec format error" in error.message

    def test_an_early_end_tells_the_cause_from_the_log(self, tmp_path: Path) -> None:
        said = "ModuleNotFoundError: No module named 'flash_attn'"
        error = failure(endpoint(tmp_path, "--say", said, "--exit", 1))
        assert isinstance(error, LaunchError)
        assert error.message == (
            f"Endpoint 'mine': its server ended before it was ready: '{said}'."
        )
        assert str(error.hint).startswith("Install it in the environment")
        assert error.exit_code == 5

    def test_an_early_end_by_a_signal(self, tmp_path: Path) -> None:
        assert (
            "illegal instruction (signal 4)" in failure(endpoint(tmp_path, "--signal", 4)).message
        )

    def test_it_never_becomes_healthy(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        one = endpoint(tmp_path, "--never-healthy", "--pids", pids, ready_timeout=1.0)
        error = failure(one)
        assert "was not ready within 1 s" in error.message
        assert gone(read_pids(pids))

    def test_healthy_and_every_request_fails(self, tmp_path: Path) -> None:
        said = "AttributeError: '_OpNamespace' '_C' object has no attribute 'cpu_gemm_wna16'"
        one = endpoint(tmp_path, "--fail", 500, "--fail-say", said)
        error = failure(one)
        assert "says that it is ready and fails the first request" in error.message
        assert "cpu_gemm_wna16" in error.message
        assert "no kernel" in str(error.hint)

    def test_the_first_request_ends_it(self, tmp_path: Path) -> None:
        error = failure(endpoint(tmp_path, "--die-after", 0))
        assert "ended at the first request: killed (signal 9)" in error.message

    @pytest.mark.parametrize(("status", "kind"), [(401, AuthError), (404, NotFoundError)])
    def test_a_refusal_is_said_as_it_is(
        self, tmp_path: Path, status: int, kind: type[EvalKitError]
    ) -> None:
        assert isinstance(failure(endpoint(tmp_path, "--fail", status)), kind)

    def test_a_refused_field_is_an_answer(self, tmp_path: Path) -> None:
        use(endpoint(tmp_path, "--fail", 400), nothing)

    def test_a_fixed_port_in_use_is_refused_at_once(self, tmp_path: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            error = failure(endpoint(tmp_path, port=port))
        assert isinstance(error, ConfigError)
        assert f"Port {port} is in use" in error.message

    def test_a_free_port_that_is_taken_meanwhile(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            ports = iter([taken.getsockname()[1], free_port()])
            monkeypatch.setattr("evalkit.endpoints.launch.free_port", lambda: next(ports))
            assert use(endpoint(tmp_path), ask).text == "hello"

    def test_it_is_given_up_while_it_starts(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        one = endpoint(tmp_path, "--never-healthy", "--pids", pids)

        async def go() -> None:
            opening = asyncio.create_task(one.__aenter__())
            await asyncio.to_thread(read_pids, pids)
            opening.cancel()
            with pytest.raises(asyncio.CancelledError):
                await opening

        asyncio.run(go())
        assert gone(read_pids(pids), 0.5)


class TestDeath:
    def test_one_death_is_survived_and_what_was_in_flight_is_asked_again(
        self, tmp_path: Path
    ) -> None:
        said: list[str] = []
        one = endpoint(
            tmp_path, "--die-after", 4, "--deaths", tmp_path / "deaths", notify=said.append
        )

        async def many(one: LaunchEndpoint) -> list[str | None]:
            replies = await asyncio.gather(*(ask(one, f"say word{n}") for n in range(12)))
            return [reply.text for reply in replies]

        assert use(one, many) == [f"word{n}" for n in range(12)]
        assert [text for text in said if "died" in text] == [
            "mine died (killed (signal 9), as the system does when memory runs out); "
            "it is started again"
        ]

    def test_a_second_death_is_an_outage(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        one = endpoint(tmp_path, "--die-after", 1, "--pids", pids)

        async def many(one: LaunchEndpoint) -> list[Any]:
            asked = (ask(one, f"say word{n}") for n in range(4))
            return await asyncio.gather(*asked, return_exceptions=True)

        replies = use(one, many)
        assert {type(reply) for reply in replies} == {LaunchError}
        assert len(one.deaths) == 2
        assert replies[0].message.startswith("The server of endpoint 'mine' died again: killed")
        assert "the same command goes on" in str(replies[0].hint)
        assert gone(read_pids(pids))

    def test_a_restart_that_fails_is_an_outage_for_everybody(self, tmp_path: Path) -> None:
        one = endpoint(tmp_path, "--die-after", 1, "--once", tmp_path / "once")

        async def many(one: LaunchEndpoint) -> list[Any]:
            asked = (ask(one, f"say word{n}") for n in range(4))
            return await asyncio.gather(*asked, return_exceptions=True)

        replies = use(one, many)
        assert {type(reply) for reply in replies} == {LaunchError}
        assert {reply.message for reply in replies} == {
            "Endpoint 'mine': its server ended before it was ready: 'OSError: the device is gone'."
        }
        assert all("goes on from there" in str(reply.hint) for reply in replies)

    def test_its_identity_is_read_again_from_the_next_one(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        one = endpoint(tmp_path, "--pids", pids)

        async def look(one: LaunchEndpoint) -> None:
            before = await one.identity()
            os.kill(read_pids(pids)[0], signal.SIGKILL)
            assert await one.identity() == before
            assert len(one.deaths) == 1

        use(one, look)

    def test_no_restart_when_none_is_wanted(self, tmp_path: Path) -> None:
        one = endpoint(tmp_path, "--die-after", 1, restarts=0)
        with pytest.raises(LaunchError, match="died: killed"):
            use(one, ask)

    def test_a_server_that_says_it_is_sick_is_replaced(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evalkit.endpoints.launch_server._SETTLE_SECONDS", 0.3)
        one = endpoint(tmp_path, "--sick-after", 2)

        async def three(one: LaunchEndpoint) -> list[str | None]:
            return [(await ask(one)).text for _ in range(2)]

        assert use(one, three) == ["hello", "hello"]
        assert (tmp_path / "server.log").read_text().count("evalkit starts") == 2

    def test_a_server_that_is_slow_to_say_how_it_is_is_left_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("evalkit.endpoints.launch_server._HEALTH_SECONDS", 0.3)
        one = endpoint(tmp_path, "--busy-after", 1)

        async def fail(one: LaunchEndpoint) -> None:
            with pytest.raises(ServerError):
                await ask(one)

        use(one, fail)
        assert one.deaths == ()

    def test_a_failed_request_of_a_healthy_server_is_the_requests_own(self, tmp_path: Path) -> None:
        one = endpoint(tmp_path, "--fail", 400)

        async def fail(one: LaunchEndpoint) -> None:
            with pytest.raises(EvalKitError) as caught:
                await ask(one)
            assert not isinstance(caught.value, LaunchError)

        use(one, fail)
        assert (tmp_path / "server.log").read_text().count("evalkit starts") == 1


class TestIdentity:
    async def _identity(self, one: LaunchEndpoint) -> Any:
        return await one.identity()

    def test_the_command_is_part_of_it_and_the_port_is_not(self, tmp_path: Path) -> None:
        first, second = (use(endpoint(tmp_path), self._identity) for _ in range(2))
        other = use(endpoint(tmp_path, "--wrong", 1), self._identity)
        assert identity_key(first) == identity_key(second)
        assert identity_key(first) != identity_key(other)
        assert first.kind == "launch"
        assert first.engine == "vLLM"
        assert first.base_url is None
        assert "--port {port}" in first.details["command"]

    def test_weights_made_anew_at_the_same_path_are_others(self, tmp_path: Path) -> None:
        weights = tmp_path / "weights"
        weights.mkdir()
        (weights / "config.json").write_text("{}")
        (weights / "model.safetensors").write_bytes(b"one")
        one = endpoint(tmp_path, "--say", weights)
        before = one.command_hash()
        assert one.command_hash() == before
        (weights / "model.safetensors").write_bytes(b"other")
        assert one.command_hash() != before


class TestSecrets:
    def test_no_key_reaches_the_log_the_messages_or_the_identity(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OTHER_TOKEN", "inherited-secret-1")
        monkeypatch.setenv("SERVER_KEY", "sent-secret-2")
        said: list[str] = []
        one = endpoint(
            tmp_path,
            "--print-env", "MY_SECRET", "--say", "key=argument-secret-4 inherited-secret-1",
            env={"MY_SECRET": "configured-secret-3"},
            api_key_env="SERVER_KEY",
            headers={"X-Api-Key": "header-secret-5"},
            notify=said.append,
        )  # fmt: skip

        async def look(one: LaunchEndpoint) -> str:
            return repr(await one.identity()) + repr(one)

        seen = use(one, look) + "".join(said) + (tmp_path / "server.log").read_text()
        assert "MY_SECRET is *** and" in seen
        broken = endpoint(
            tmp_path, "--api-key=argument-secret-4", env={"MY_SECRET": "configured-secret-3"}
        )
        seen += str(failure(broken)) + (tmp_path / "server.log").read_text()
        for secret in ("inherited-secret-1", "sent-secret-2", "configured-secret-3"):
            assert secret not in seen
        assert "unrecognized arguments: --api-key=***" in seen
        assert "header-secret-5" not in seen
