"""What hostile programs can do: nothing, as root and as an ordinary user.

The whole file runs once more as an ordinary user when it is started as root.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from evalkit.errors import SandboxError
from evalkit.scoring import sandbox_server
from evalkit.scoring.sandbox import Limits, RunKind, RunResult, layers, run_program
from tests.scoring.hostile_programs import DAEMONS, PROGRAMS, READERS

LIMITS = Limits(cpu_seconds=1, wall_seconds=2.5)
ADD = "def add(a, b):\n    return a + b\n"
USER = 12345
KINDS = {
    "memory": RunKind.MEMORY,
    "ignored-signals": RunKind.TIMEOUT,
    "loop-at-import": RunKind.TIMEOUT,
    "sleep": RunKind.TIMEOUT,
    "exit": RunKind.EXIT,
    "network": RunKind.EXCEPTION,
    "stdout-flood": RunKind.WRONG_RESULT,
}


class Host(NamedTuple):
    """What a program could harm."""

    canary: Path
    port: int
    abstract: str
    heard: list[str]


@pytest.fixture(params=["bubblewrap", "unshare"])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EVALKIT_SANDBOX", request.param)
    monkeypatch.setenv("EVALKIT_HOSTILE", "a-secret")
    try:
        layers()
    except SandboxError as error:
        pytest.skip(f"not possible here: {error}")
    return str(request.param)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    canary = tmp_path / "canary"
    canary.write_text("canary", encoding="utf-8")
    heard: list[str] = []
    abstract = f"evalkit-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{abstract}")
        local.listen()
        tcp.settimeout(0)
        local.settimeout(0)
        yield Host(canary, tcp.getsockname()[1], abstract, heard)
        for server in (tcp, local):
            with pytest.raises(BlockingIOError):
                server.accept()
    assert canary.read_text("utf-8") == "canary"


def run(source: str, host: Host) -> RunResult:
    filled = source.format(
        canary=str(host.canary), port=host.port, abstract=host.abstract, parent=os.getpid()
    )
    return run_program(filled, [[[1, 2], 3]], entry_point="add", limits=LIMITS)


def servers() -> set[str]:
    """Return all processes of sandboxes of this user: what they fork has the same command."""
    found = set()
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            mine = folder.stat().st_uid in (os.getuid(), 65534)
        except OSError:
            continue
        if mine and b"sandbox_doors" in command and descends(int(folder.name), os.getpid()):
            found.add(folder.name)
    return found


def settled_servers() -> set[str]:
    """Return them when none comes or goes: the process of a run that has ended goes last."""
    seen = [servers()]
    deadline = time.monotonic() + 5
    while len(seen) < 10 and time.monotonic() < deadline:
        threading.Event().wait(0.02)
        now = servers()
        seen = [*seen, now] if now == seen[-1] else [now]
    return seen[-1]


def descends(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_harm_is_done(name: str, level: str, host: Host) -> None:
    started = time.monotonic()
    result = run(PROGRAMS[name], host)
    assert not result.passed, result
    assert result.kind is KINDS.get(name, result.kind), result
    # Ended by a limit and not by us: the deadline of the whole is far away.
    assert time.monotonic() - started < 20
    # The next one is served as if nothing had been.
    assert run(ADD, host).passed


@pytest.mark.parametrize("name", READERS)
def test_what_is_on_the_host_is_not_seen(
    name: str, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALKIT_SANDBOX", "bubblewrap")
    try:
        layers()
    except SandboxError as error:
        pytest.skip(f"not possible here: {error}")
    result = run(READERS[name], host)
    assert not result.passed, result


@pytest.mark.parametrize("name", DAEMONS)
def test_what_is_left_behind_is_ended(name: str, level: str, host: Host) -> None:
    assert run(ADD, host).passed
    before = settled_servers()
    assert before
    assert run(DAEMONS[name], host).passed
    deadline = time.monotonic() + 5
    while servers() != before and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    assert servers() == before


def test_runs_do_not_see_each_other(level: str, host: Host) -> None:
    leave = "def add(a, b):\n    open('left', 'w').write('x')\n    return 3\n"
    look = "import os\ndef add(a, b):\n    return len(os.listdir('.')) + 3\n"
    assert run(leave, host).passed
    assert run(look, host).passed


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="this is an ordinary user's run")
def test_the_same_as_an_ordinary_user() -> None:
    if shutil.which("bwrap") is None or shutil.which("setpriv") is None:
        pytest.skip("bwrap and setpriv make root an ordinary user")
    # The interpreter and the project may lie where only root can go.
    home = Path(sys.base_prefix)
    root = Path(__file__).resolve().parents[2]
    command = ["bwrap", "--dev-bind", "/", "/"]
    for place in dict.fromkeys((home, root, Path(sys.prefix))):
        closed = [p for p in reversed(place.parents) if p.stat().st_mode & 0o005 != 0o005]
        if closed:
            command += ["--perms", "0755", "--tmpfs", str(closed[0])]
            for folder in (p for p in reversed(place.parents) if closed[0] in p.parents):
                command += ["--perms", "0755", "--dir", str(folder)]
            command += ["--ro-bind", str(place), str(place)]
    command += ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
    command += [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "EVALKIT"))
    }
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout


def test_a_level_that_does_not_exist_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_SANDBOX", "docker")
    with pytest.raises(SandboxError, match="EVALKIT_SANDBOX is 'docker'"):
        layers()


def test_without_a_safe_level_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_server, "_NEEDED", frozenset({"a-layer-nobody-has"}))
    monkeypatch.delenv("EVALKIT_SANDBOX", raising=False)
    sandbox_server._level.cache_clear()
    try:
        with pytest.raises(SandboxError, match="no safe sandbox"):
            run_program(ADD, [[[1, 2], 3]], entry_point="add")
    finally:
        sandbox_server._level.cache_clear()


def test_limits_alone_must_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALKIT_SANDBOX", "limits")
    assert layers()[0] == "limits"
    assert run_program(ADD, [[[1, 2], 3]], entry_point="add").passed
