"""`kill -9` at any moment, then the same command: nothing is lost, nothing is asked twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer, Fault

N, CONNECTIONS, KILLS = 60, 3, 6


def command(tmp_path: Path, out: str, a: FakeServer, b: FakeServer) -> list[str]:
    return [
        sys.executable, "-m", "evalkit", "compare", f"{a.url}#fake", f"{b.url}#fake",
        "-t", str(tmp_path / "quiz"), "-o", str(tmp_path / out), "-j", str(CONNECTIONS),
        "--display", "none", "--aa", "0",
    ]  # fmt: skip


def content(folder: Path) -> object:
    """Return `comparison.json` without what depends on the clock."""
    comparison = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    return {k: v for k, v in comparison.items() if k not in ("created", "timing")}


def asked(*servers: FakeServer) -> Counter[tuple[int, str]]:
    return Counter(
        (index, entry["prompt"])
        for index, server in enumerate(servers)
        for entry in server.log
        if "code word" in entry["prompt"]
    )


def journaled(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("completions.jsonl"))


@pytest.mark.slow
def test_killed_runs_go_on_where_they_were(tmp_path: Path) -> None:
    write_quiz(tmp_path / "quiz", N)
    good, bad = script(N, wrong=[1], delay=0.02), script(N, wrong=range(20), delay=0.02)
    rng = random.Random(7)
    with FakeServer(good) as a, FakeServer(bad) as b:
        whole = subprocess.run(command(tmp_path, "whole", a, b), check=False, timeout=60)
        assert whole.returncode == 3
        a.log.clear()
        b.log.clear()
        killed = 0
        for _ in range(KILLS):
            target = journaled(tmp_path / "killed") + rng.randrange(1, 15)
            process = subprocess.Popen(command(tmp_path, "killed", a, b))
            deadline = time.monotonic() + 60
            # Killed by what it has done, not by the clock: the machine may be slow.
            while process.poll() is None and time.monotonic() < deadline:
                if journaled(tmp_path / "killed") >= target:
                    os.kill(process.pid, signal.SIGKILL)
                    killed += 1
                    break
            process.wait(60)
        last = subprocess.run(command(tmp_path, "killed", a, b), check=False, timeout=60)
        assert killed >= KILLS - 1
        assert last.returncode == 3
        assert content(tmp_path / "killed") == content(tmp_path / "whole")
        counts = asked(a, b)
        assert set(counts.values()) <= {1, 2, 3, 4, 5, 6, 7}
        assert len(counts) == 2 * N
        repeated = sum(count - 1 for count in counts.values())
        assert repeated <= killed * CONNECTIONS
        assert journaled(tmp_path / "killed") == 2 * N


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_and_exits_130(tmp_path: Path, number: signal.Signals) -> None:
    write_quiz(tmp_path / "quiz", N)
    with FakeServer(script(N, delay=0.05)) as a, FakeServer(script(N, wrong=[1], delay=0.05)) as b:
        process = subprocess.Popen(
            command(tmp_path, "out", a, b), stderr=subprocess.PIPE, text=True
        )
        while process.poll() is None and journaled(tmp_path / "out") < 5:
            pass
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "The same command goes on from there" in err
        assert "Traceback" not in err
        # Drained: every request that reached the server was answered and kept.
        assert journaled(tmp_path / "out") == sum(asked(a, b).values())
        again = subprocess.run(command(tmp_path, "out", a, b), check=False, timeout=60)
        assert again.returncode == 4
        assert set(asked(a, b).values()) == {1}


def test_a_second_ctrl_c_stops_at_once_and_loses_nothing(tmp_path: Path) -> None:
    write_quiz(tmp_path / "quiz", N)
    hang = Fault("hang", match="box 7?")
    with FakeServer(script(N, faults=(hang,), delay=0.05)) as a, FakeServer(script(N)) as b:
        process = subprocess.Popen(
            command(tmp_path, "out", a, b), stderr=subprocess.PIPE, text=True
        )
        while process.poll() is None and not any("box 7?" in key[1] for key in asked(a)):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        # Drained but for the one that hangs: the first signal waits for it.
        while process.poll() is None and journaled(tmp_path / "out") < asked(a).total() - 1:
            time.sleep(0.01)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        clock = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert time.monotonic() - clock < 2
        assert "Traceback" not in err
        kept = journaled(tmp_path / "out")
        assert kept == asked(a).total() - 1
        a.server.script = script(N)
        a.log.clear()
        subprocess.run(command(tmp_path, "out", a, b), check=False, timeout=60)
        assert asked(a).total() == N - kept


def test_answers_of_another_endpoint_are_refused_with_the_difference(tmp_path: Path) -> None:
    write_quiz(tmp_path / "quiz", N)
    flags = ["-t", str(tmp_path / "quiz"), "-o", str(tmp_path / "run"), "--display", "none"]
    with FakeServer(script(N)) as a, FakeServer(script(N)) as b:
        for server in (a, b):
            done = subprocess.run(
                [sys.executable, "-m", "evalkit", "run", f"{server.url}#fake", *flags],
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 2
        assert f"'{a.url}/v1' → '{b.url}/v1'" in done.stderr
        assert "--fresh" in done.stderr
        assert not asked(b), "nothing was asked before the difference was seen"
