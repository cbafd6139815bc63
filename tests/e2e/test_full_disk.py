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
# Questions that the preflight of a run has beyond those of `check`.
MORE = 10
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


def quizzed(server: FastServer) -> int:
    """Count the questions of the quiz since the last call, without those of a preflight.

    A preflight asks the same each time, and this server tells prompts by a number in them.
    """
    asked = server.asked()
    check = [sys.executable, "-m", "evalkit", "check", f"{server.url}#fake"]
    subprocess.run(check, capture_output=True, check=False)
    own = server.asked()
    return sum(count - own[number] for number, count in asked.items() if 0 <= number < N)


def check_resumed(server: FastServer, quiz: Path, run: Path, err: str, why: str) -> None:
    journal = (run / "completions.jsonl").read_bytes()
    assert why in err
    assert "Make room on that disk" in err
    assert "Traceback" not in err
    assert journal.endswith(b"}\n")
    kept = journal.count(b"\n")
    assert 2 * MORE < kept < N
    assert quizzed(server) <= kept + 8 + MORE
    command = [sys.executable, "-m", "evalkit", *arguments(server.url, quiz, run)]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert N - kept <= quizzed(server) <= N - kept + MORE < N


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    quiz, out = write_quiz(tmp_path / "quiz", N), tmp_path / "run"
    with FastServer() as server:
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
    with FastServer() as server:
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
