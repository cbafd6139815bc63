"""What a run leaves behind when it is killed, and what the next one makes of it."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from evalkit.collect.journal import RunFolder
from tests.collect.builders import requests
from tests.servers.fake import FakeServer, Fault, Script

COUNT = 240
IN_FLIGHT = 4


def start(url: str, folder: Path, count: int = COUNT) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.collect.program", url, str(folder), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def wait_for(process: subprocess.Popen[str], word: str, times: int) -> None:
    """Wait until a run has said a word so many times."""
    assert process.stdout is not None
    for line in process.stdout:
        times -= line.strip() == word
        if times <= 0:
            return
    raise AssertionError(f"it ended before it said {word}")


def finish(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=30)
    return process.returncode


@pytest.mark.slow
def test_killed_at_random_points_nothing_is_lost_doubled_or_asked_again(tmp_path: Path) -> None:
    rng = random.Random(0)
    folder = RunFolder(tmp_path / "run")
    settled: set[str] = set()
    with FakeServer(Script(delay=0.004)) as server:
        for _ in range(10):
            before = len(server.log)
            process = start(server.url, folder.path)
            wait_for(process, "Completed", rng.randint(1, 18))
            process.send_signal(signal.SIGKILL)
            finish(process)
            asked_now = {entry["prompt"] for entry in server.log[before:]}
            assert not asked_now & settled, "an answer in the journal was asked for again"
            settled = {f"quiz question {c.sample_id[-3:]}" for c in folder.records()}
        assert 0 < len(settled) < COUNT, "the kills must fall into the middle"
        assert finish(start(server.url, folder.path)) == 0
        counts = Counter(entry["prompt"] for entry in server.log)
    records = list(folder.records())
    assert sorted(c.fingerprint for c in records) == sorted(r.fingerprint for r in requests(COUNT))
    assert all(c.text == f"echo: quiz question {c.sample_id[-3:]}" for c in records)
    assert len(counts) == COUNT
    assert sum(counts.values()) - COUNT <= 10 * IN_FLIGHT


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_drains(tmp_path: Path, number: signal.Signals) -> None:
    folder = RunFolder(tmp_path / "run")
    with FakeServer(Script(delay=0.05)) as server:
        process = start(server.url, folder.path)
        wait_for(process, "Completed", 5)
        process.send_signal(number)
        assert finish(process) == 130
        asked = {entry["prompt"] for entry in server.log}
        recorded = {f"quiz question {c.sample_id[-3:]}" for c in folder.completions()}
        assert asked == recorded, "what was in flight was finished"
        assert 5 <= len(asked) < COUNT
        assert finish(start(server.url, folder.path)) == 0
        assert len(server.log) == COUNT


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with FakeServer(Script(faults=(Fault("hang", match="question 00"),))) as server:
        process = start(server.url, folder.path, count=20)
        wait_for(process, "Completed", 1)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGINT)
        assert finish(process) == 131
    with folder:
        assert folder.repaired == 0
