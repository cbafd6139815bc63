"""Launching the small server of `tests.servers.launched`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.endpoints.launch import LaunchEndpoint
from evalkit.types import Message, Reply, Sampling

T = TypeVar("T")
SERVER = str(Path(__file__).parents[1] / "servers" / "launched.py")


def command(*words: object) -> list[str]:
    return [sys.executable, SERVER, "--port", "{port}", *map(str, words)]


def endpoint(
    tmp_path: Path,
    *words: object,
    notify: Callable[[str], None] | None = None,
    request_timeout: float = 10.0,
    **raw: Any,
) -> LaunchEndpoint:
    options = EndpointOptions(
        request_timeout=request_timeout, log_path=tmp_path / "log.txt", notify=notify
    )
    settings = {
        "kind": "launch", "model": "m", "command": command(*words), "stop_timeout": 1.0,
        "ready_timeout": 30.0, **raw
    }  # fmt: skip
    made = parse_endpoint("mine", settings, options)
    assert isinstance(made, LaunchEndpoint)
    return made


def use(one: LaunchEndpoint, act: Callable[[LaunchEndpoint], Awaitable[T]]) -> T:
    async def go() -> T:
        async with one:
            return await act(one)

    return asyncio.run(go())


async def nothing(_: LaunchEndpoint) -> None:
    return None


async def ask(one: LaunchEndpoint, prompt: str = "say hello") -> Reply:
    return await one.send((Message("user", prompt),), Sampling(max_tokens=8))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone(pids: list[int], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(map(alive, pids)):
            return True
        time.sleep(0.02)
    return False


def read_pids(path: Path, seconds: float = 20.0) -> list[int]:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return [int(word) for word in path.read_text().split()]
