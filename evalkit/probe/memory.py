"""The most memory that an endpoint used while it was measured, wherever that can be read."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from evalkit.endpoints.base import Endpoint, Inspectable, Listening
from evalkit.errors import EndpointError
from evalkit.performance import Memory
from evalkit.probe.processes import highest, listener, resident, tree
from evalkit.types import Identity

_EVERY = 0.5
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_FIGURE = re.compile(r"^process_resident_memory_bytes(?:\{[^}]*\})? ([0-9.eE+]+)$", re.MULTILINE)
_MIB = 1024**2
_QUERY = ("--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits")
_SECONDS = 5.0


class MemoryWatch:
    """Looks at one endpoint's memory, in turns: `watching` is used around what is measured.

    An engine inside this process is told by how much the process grew: `grown_from` is what
    it held before the engine was loaded.
    """

    def __init__(self, endpoint: Endpoint, identity: Identity, grown_from: int) -> None:
        self._endpoint = endpoint
        self._local = identity.kind == "local"
        self._apart = identity.engine == "vLLM"
        self._root = None if self._local else server_process(endpoint, identity)
        self._held = resident([os.getpid()])
        self._growth = max(0, self._held - grown_from)
        self._peak = self._gpu = self._told = 0
        self._pids: tuple[int, ...] = (os.getpid(),) if self._local else ()

    async def look_around(self) -> None:
        """Find the server's processes: dear, so that it is done while nothing is measured."""
        if self._root is not None:
            self._pids = await asyncio.to_thread(tree, self._root)
        self._held = resident([os.getpid()])

    async def watching(self, stop: asyncio.Event) -> None:
        """Look again and again until told to stop."""
        while self._pids:
            self._look()
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _EVERY)
            if stop.is_set():
                self._look()
                break

    async def found(self) -> tuple[Memory, ...]:
        """Return all that could be read; the first is the one to go by."""
        await self._read_metrics()
        found = []
        if self._gpu:
            found.append(Memory("nvidia-smi", self._gpu, len(self._pids)))
        if self._root is not None:
            one = highest(self._root) if len(self._pids) == 1 else None
            peak = max(self._peak, one or 0)
            if peak:
                found.append(Memory("processes", peak, len(self._pids)))
        if self._local and self._growth:
            found.append(Memory("growth", self._growth))
        if self._told:
            found.append(Memory("metrics", self._told))
        return tuple(found)

    def _look(self) -> None:
        if self._local:
            held = resident([os.getpid()])
            # What was freed in between may be taken again without growing.
            self._growth += max(0, held - self._held)
            self._held = max(self._held, held)
        elif self._root is not None:
            self._peak = max(self._peak, resident(self._pids))

    async def measure_gpu(self) -> None:
        """Ask nvidia-smi, where there is one, what the server's processes hold."""
        if self._root is not None and (program := shutil.which("nvidia-smi")):
            pids = tree(self._root)
            self._gpu = max(self._gpu, await gpu_held(program, pids))

    async def _read_metrics(self) -> None:
        # vLLM's engine is a process of its own, and its page tells only of the one that answers.
        if not isinstance(self._endpoint, Inspectable) or self._local or self._apart:
            return
        try:
            status, body = await self._endpoint.exchange("/metrics")
        except EndpointError:
            return
        match = _FIGURE.search(body.decode("utf-8", "replace")) if status == 200 else None
        with suppress(ValueError, OverflowError):
            self._told = int(float(match[1])) if match else 0


def held_now() -> int:
    """Return what this process holds."""
    return resident([os.getpid()])


def server_process(endpoint: Endpoint, identity: Identity) -> int | None:
    """Return the process of a server on this machine; `None` where it cannot be told."""
    port = endpoint.port if isinstance(endpoint, Listening) else _loopback_port(identity)
    pid = None if port is None else listener(port)
    # A server in this very process cannot be told from evalkit.
    return None if pid == os.getpid() else pid


def _loopback_port(identity: Identity) -> int | None:
    try:
        parts = urlsplit(identity.base_url or "")
        return parts.port if parts.hostname in _LOOPBACK else None
    except ValueError:
        return None


async def gpu_held(program: str, pids: Sequence[int]) -> int:
    """Return what processes hold on the GPU by nvidia-smi; 0 where it does not say."""
    try:
        process = await asyncio.create_subprocess_exec(
            program, *_QUERY, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            out, _ = await asyncio.wait_for(process.communicate(), _SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
            return 0
    except OSError:
        return 0
    return gpu_bytes(out.decode("utf-8", "replace"), set(pids).__contains__)


def gpu_bytes(table: str, ours: Callable[[int], bool]) -> int:
    """Sum the memory of some processes in nvidia-smi's answer (PID, MiB)."""
    total = 0
    for line in table.splitlines():
        pid, _, used = (part.strip() for part in line.partition(","))
        if pid.isdecimal() and used.isdecimal() and ours(int(pid)):
            total += int(used) * _MIB
    return total
