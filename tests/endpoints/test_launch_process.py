"""Nothing that a server has started stays, however evalkit ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from evalkit.endpoints import launch_guard
from evalkit.endpoints.launch_guard import Log
from evalkit.endpoints.launch_process import Order, ServerProcess
from tests.endpoints.launching import (
    SERVER,
    alive,
    command,
    endpoint,
    gone,
    nothing,
    read_pids,
    use,
)

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="orphans are found on Linux only")

PROGRAM = """
import asyncio, signal, sys
from pathlib import Path
from evalkit.endpoints.base import EndpointOptions, parse_endpoint

# A shell starts what it runs in the background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

async def main():
    options = EndpointOptions(log_path=Path(sys.argv[1]) / "log.txt")
    raw = {"kind": "launch", "model": "m", "command": sys.argv[2:], "stop_timeout": 0.5}
    async with parse_endpoint("mine", raw, options):
        print("up", flush=True)
        END

asyncio.run(main())
"""


def evalkit(tmp_path: Path, end: str, *words: object) -> subprocess.Popen[str]:
    """Start a program that launches a server and then comes to its end in some way."""
    program = textwrap.dedent(PROGRAM).replace("END", end)
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), *command(*words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    return process


STUBBORN = ("--grandchildren", 2, "--stubborn")


class TestEnd:
    @LINUX
    def test_children_that_left_the_group_and_ignore_sigterm(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        one = endpoint(tmp_path, *STUBBORN, "--pids", pids, stop_timeout=0.3)
        use(one, nothing)
        found = read_pids(pids)
        assert len(found) == 3
        assert not any(map(alive, found))

    def test_a_server_that_obeys_is_not_killed(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        begin = time.monotonic()
        use(endpoint(tmp_path, "--pids", pids, stop_timeout=30), nothing)
        assert time.monotonic() - begin < 20
        assert gone(read_pids(pids), 0.5)

    @LINUX
    def test_what_is_left_of_a_server_that_died_is_ended_too(self, tmp_path: Path) -> None:
        pids = tmp_path / "pids"
        one = endpoint(tmp_path, "--grandchildren", 2, "--pids", pids)

        async def kill(_: object) -> None:
            found = await asyncio.to_thread(read_pids, pids)
            os.kill(found[0], signal.SIGKILL)
            assert await asyncio.to_thread(gone, found)

        use(one, kill)


class TestOurEnd:
    @LINUX
    @pytest.mark.parametrize(
        "end",
        [
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "raise RuntimeError('a fault of ours')",
            "import os; os._exit(1)",
            "sys.exit(3)",
        ],
    )
    def test_a_crash_of_evalkit_ends_all_of_it(self, tmp_path: Path, end: str) -> None:
        pids = tmp_path / "pids"
        process = evalkit(tmp_path, end, *STUBBORN, "--pids", pids)
        found = read_pids(pids)
        process.communicate(timeout=20)
        assert gone(found)

    @LINUX
    def test_also_when_a_fork_still_holds_the_channel(self, tmp_path: Path) -> None:
        end = "import os, signal, time\n        if os.fork() == 0: time.sleep(30); os._exit(0)\n"
        end += "        os.kill(os.getpid(), signal.SIGKILL)"
        pids = tmp_path / "pids"
        process = evalkit(tmp_path, end, "--pids", pids)
        found = read_pids(pids)
        process.wait(20)
        assert gone(found)
        assert process.stdout is not None
        process.stdout.close()

    def test_a_signal_to_the_terminals_group_does_not_reach_the_server(
        self, tmp_path: Path
    ) -> None:
        pids = tmp_path / "pids"
        process = evalkit(tmp_path, "await asyncio.sleep(600)", "--pids", pids)
        (server,) = read_pids(pids)
        assert os.getpgid(server) != os.getpgid(process.pid)
        assert os.getpgid(server) == os.getsid(server) == server
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert gone([server])

    @LINUX
    def test_the_guards_own_death_ends_the_server(self, tmp_path: Path) -> None:
        async def go() -> None:
            words = (sys.executable, SERVER, "--port", "0", "--pids", str(tmp_path / "pids"))
            order = Order("mine", words, "shown", {}, tmp_path / "server.log", (), 1.0)
            process = await ServerProcess.start(order)
            (server,) = await asyncio.to_thread(read_pids, tmp_path / "pids")
            os.kill(process._guard.pid, signal.SIGKILL)
            await asyncio.wait_for(process.ended.wait(), 10)
            assert process.exit_code == -signal.SIGKILL
            assert await asyncio.to_thread(gone, [server])
            await process.stop()

        asyncio.run(go())


def test_the_guard_needs_the_standard_library_only() -> None:
    code = (
        "import runpy, sys; before = set(sys.modules);"
        f"runpy.run_path({launch_guard.__file__!r}, run_name='guard');"
        "print(sorted(m for m in sys.modules if m.startswith('evalkit')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


class TestLog:
    @pytest.mark.parametrize("size", [1, 3, 7, 1000])
    def test_a_key_is_masked_wherever_the_output_is_cut(self, tmp_path: Path, size: int) -> None:
        said = b"Args: key=topsecret\rbar 50%\rbar topsecret-longer\nend topsecret"
        log = Log(tmp_path / "log", [b"topsecret", b"topsecret-longer"])
        for begin in range(0, len(said), size):
            log.write(said[begin : begin + size])
        log.close()
        assert (tmp_path / "log").read_bytes() == b"Args: key=***\rbar 50%\rbar ***\nend ***"

    def test_a_line_without_an_end_does_not_stay_in_memory(self, tmp_path: Path) -> None:
        log = Log(tmp_path / "log", [b"topsecret"])
        for _ in range(100):
            log.write(b"x" * 10_000 + b"topse")
            log.write(b"cret")
        assert (tmp_path / "log").stat().st_size > 900_000
        log.close()
        assert b"secret" not in (tmp_path / "log").read_bytes()
        assert (tmp_path / "log").read_bytes().count(b"***") == 100
