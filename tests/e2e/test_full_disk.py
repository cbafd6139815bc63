"""A disk that is really full: a clear end, every whole line kept, and a run that goes on."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quiz import write_quiz
from tests.servers.fast import FastServer

N, ROOM = 400, 64 * 1024
# The preflight asks other questions, which do not count.
QUIZ = "code word of box"
LIMITED = (
    "import resource, runpy, sys\n"
    f"resource.setrlimit(resource.RLIMIT_FSIZE, ({ROOM}, {ROOM}))\n"
    "sys.argv[0] = 'evalkit'\n"
    "runpy.run_module('evalkit', run_name='__main__', alter_sys=True)\n"
)


def arguments(url: str, quiz: Path, out: Path) -> list[str]:
    # This server is made to be fast: it knows neither stop strings nor long prompts.
    flags = ["-t", str(quiz), "-o", str(out), "-j", "8", "--display", "none"]
    flags.append("--allow-confounded")
    return ["run", f"{url}#fake", *flags]


def check_resumed(server: FastServer, quiz: Path, run: Path, err: str, why: str) -> None:
    journal = (run / "completions.jsonl").read_bytes()
    assert why in err
    assert "Make room on that disk" in err
    assert "Traceback" not in err
    assert journal.endswith(b"}\n")
    kept = journal.count(b"\n")
    assert 20 < kept < N
    assert server.asked().total() <= kept + 8
    command = [sys.executable, "-m", "evalkit", *arguments(server.url, quiz, run)]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert server.asked().total() == N - kept


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    quiz, out = write_quiz(tmp_path / "quiz", N), tmp_path / "run"
    with FastServer(counting=QUIZ) as server:
        command = [sys.executable, "-c", LIMITED, *arguments(server.url, quiz, out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        check_resumed(server, quiz, out, done.stderr, "File too large")


def test_a_file_system_without_space(tmp_path: Path) -> None:
    quiz, disk, out = write_quiz(tmp_path / "quiz", N), tmp_path / "disk", tmp_path / "run"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(disk)]
    space = ["unshare", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*space, *mount], check=False).returncode:
        pytest.skip("this system lets nobody mount a small file system")
    with FastServer(counting=QUIZ) as server:
        command = [sys.executable, "-m", "evalkit", *arguments(server.url, quiz, disk / "run")]
        # The disk goes with its namespace: what was kept is saved before.
        script = f"{shlex.join(mount)} && {{ {shlex.join(command)}; code=$?; " + (
            f"cp -r {shlex.quote(str(disk / 'run'))} {shlex.quote(str(out))}; exit $code; }}"
        )
        done = subprocess.run(
            [*space, "sh", "-c", script], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2, done.stderr
        check_resumed(server, quiz, out, done.stderr, "No space left on device")
