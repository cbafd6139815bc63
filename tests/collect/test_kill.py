"""What a run leaves behind when it is killed, and what the next one makes of it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from evalkit.collect.journal import RunFolder
from evalkit.collect.records import decode
from evalkit.types import Completion, Timing
from tests.servers.fake import FakeServer, Fault, Script
from tests.servers.fast import FastServer

COUNT = 120


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


class Forked:
    """Runs in children of one warm process, so that a hundred of them take seconds."""

    def __init__(self, url: str, folder: Path, count: int, connections: int) -> None:
        self._line = f"{url}\t{folder}\t{count}\t{connections}\n"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.collect.program", "--fork"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )

    def start(self) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(self._line)
        self._process.stdin.flush()
        return self._read()

    def ended(self) -> int:
        """Wait for the end of the run; its exit code, or minus the signal that killed it."""
        return self._read()

    def _read(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate(timeout=30)


class Tail:
    """The fingerprints of a journal's whole lines, read on as it grows."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._end = 0
        self.numbers: list[int] = []

    def size(self) -> int:
        return self._path.stat().st_size if self._path.exists() else 0

    def read(self) -> list[int]:
        if self.size():
            with self._path.open("rb") as file:
                file.seek(self._end)
                lines = file.read().split(b"\n")[:-1]
            self._end += sum(len(line) + 1 for line in lines)
            self.numbers += [int(decode(line).sample_id.rpartition("-")[2]) for line in lines]
        return self.numbers


KILLS = 100


@pytest.mark.slow
def test_killed_at_a_hundred_random_points_nothing_is_lost_doubled_or_asked_again(
    tmp_path: Path,
) -> None:
    rng, count, connections = random.Random(20261130), 5000, 8
    journal = Tail(tmp_path / "run" / "completions.jsonl")
    total: Counter[int] = Counter()
    killed_midway = 0
    with FastServer(delay=0.003) as server:
        runs = Forked(server.url, tmp_path / "run", count, connections)
        for kill in range(KILLS):
            settled = set(journal.read())
            process = runs.start()
            if kill % 2:
                grown = journal.size() + rng.randrange(1, 20_000)
                deadline = time.monotonic() + 2
                while journal.size() < grown and time.monotonic() < deadline:
                    time.sleep(0.0002)
            else:
                time.sleep(rng.uniform(0, 0.08))
            os.kill(process, signal.SIGKILL)
            killed_midway += runs.ended() == -signal.SIGKILL and len(journal.read()) < count
            asked = server.asked()
            assert not settled & set(asked), "an answer in the journal was asked for again"
            total += asked
        assert killed_midway == KILLS, "the kills must fall into the run"
        assert len(settled) > KILLS, "and the run must get on between them"
        runs.start()
        assert runs.ended() == 0
        total += server.asked()
        whole = Forked(server.url, tmp_path / "whole", count, connections)
        whole.start()
        assert whole.ended() == 0
    for program in (runs, whole):
        program.close()
    assert sorted(journal.read()) == list(range(count)), "none lost, none doubled"
    assert set(total) == set(range(count))
    assert total.total() - count <= KILLS * connections
    assert answers(tmp_path / "run") == answers(tmp_path / "whole")


def answers(folder: Path) -> dict[str, Completion]:
    """What a run came to, without what depends on the clock."""
    timeless = Timing(0, 0)
    return {
        c.fingerprint: replace(c, timing=timeless, attempts=())
        for c in RunFolder(folder).completions()
    }


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
