"""Memory of a server's processes, as this machine tells it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.probe.memory import MemoryWatch, gpu_bytes
from evalkit.probe.processes import listener, resident, tree
from evalkit.types import Identity

MIB = 1024**2
# A server whose child holds 60 MiB and takes 60 more when it is told to.
_PROGRAM = """
import socket, subprocess, sys
listening = socket.create_server(("127.0.0.1", 0))
child = subprocess.Popen([sys.executable, "-c",
    "import sys; held = bytearray(60 << 20); print('ready', flush=True); sys.stdin.readline();"
    "more = bytearray(60 << 20); print('more', flush=True); sys.stdin.readline()"],
    stdin=sys.stdin, stdout=subprocess.PIPE, text=True)
child.stdout.readline()
print(listening.getsockname()[1], flush=True)
child.stdout.readline()
print("more", flush=True)
child.wait()
"""


@pytest.fixture
def server() -> Iterator[tuple[int, subprocess.Popen[str]]]:
    with subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline()), process
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_peak_of_a_local_server_and_of_what_it_started(
    server: tuple[int, subprocess.Popen[str]],
) -> None:
    port, process = server
    assert listener(port) == process.pid
    assert len(tree(process.pid)) == 2
    assert resident(tree(process.pid)) > 60 * MIB
    raw = {"kind": "openai", "base_url": f"http://127.0.0.1:{port}", "model": "m"}
    endpoint = parse_endpoint("m", raw, EndpointOptions())
    identity = Identity(kind="openai", model="m", base_url=f"http://127.0.0.1:{port}/v1")

    async def watch() -> int:
        memory = MemoryWatch(endpoint, identity, 0)
        await memory.look_around()
        stop = asyncio.Event()
        watching = asyncio.create_task(memory.watching(stop))
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert await asyncio.to_thread(process.stdout.readline) == "more\n"
        stop.set()
        await watching
        memory._endpoint = None  # type: ignore[assignment]  # it speaks no HTTP
        (found,) = await memory.found()
        assert found.processes == 2
        return found.peak_bytes

    assert 120 * MIB < asyncio.run(watch()) < 400 * MIB


def test_nobody_listens() -> None:
    assert listener(1) is None


def test_nvidia_smi_counts_the_servers_own_processes() -> None:
    table = "101, 20480\n102, 512\n999, 4096\n[N/A], [N/A]\n"
    assert gpu_bytes(table, {101, 102}.__contains__) == (20480 + 512) * MIB
