"""The server from outside: what it shows, and what it only seems to show."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Collection, Iterator
from types import TracebackType
from typing import Any, Self

import pytest

from evalkit.errors import ConnectError
from evalkit.soak.watching import Line, ServerWatch
from evalkit.types import Identity, Message, Reply, Sampling

SECONDS = 25.0


class Told:
    """An endpoint on another machine whose pages come from a list, again and again."""

    name = label = "told"

    def __init__(self, pages: list[str], versions: list[str]) -> None:
        self._pages: Iterator[str] = itertools.cycle(pages)
        self._versions: Iterator[str] = itertools.cycle(versions)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pass

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        raise NotImplementedError

    async def identity(self) -> Identity:
        return identity(next(self._versions))

    def body(self, messages: tuple[Message, ...], sampling: Sampling) -> dict[str, Any]:
        raise NotImplementedError

    async def exchange(self, page: str, data: bytes | None = None) -> tuple[int, bytes]:
        text = next(self._pages)
        if text == "refused":
            raise ConnectError("no")
        return (404, b"") if text == "missing" else (200, text.encode())

    def leave_out(self, fields: Collection[str]) -> None:
        raise NotImplementedError

    def scrub(self, text: str) -> str:
        return text


def identity(version: str) -> Identity:
    return Identity(
        kind="openai",
        model="m",
        engine="e",
        engine_version=version,
        base_url="http://far.example:1/v1",
    )


def looked(
    monkeypatch: pytest.MonkeyPatch, pages: list[str], versions: list[str], times: int = 12
) -> list[Line]:
    """Look so many times, each long after the last."""
    clock = itertools.count(step=100.0)
    monkeypatch.setattr("evalkit.soak.watching.time.monotonic", lambda: next(clock))

    async def look() -> list[Line]:
        watch = ServerWatch(Told(pages, versions), identity(versions[0]), SECONDS, lambda: 1.0)
        await watch.find()
        lines = [line for _ in range(times) for line in await watch.look(0.0)]
        await watch.close()
        return lines

    return asyncio.run(look())


def page(began: float, answered: int, held: int = 7_000_000) -> str:
    return (
        f"process_start_time_seconds {began}\nanswered_total {answered}\n"
        f"process_resident_memory_bytes {held:.3e}\n"
    )


def signs(lines: list[Line]) -> list[str]:
    return [line["s"] for line in lines if line["k"] == "x"]


def test_memory_is_read_off_the_servers_page(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = looked(monkeypatch, [page(1.0, 5)], ["1"])
    assert signs(lines) == []
    assert [line["metrics"] for line in lines if line["k"] == "m"] == [7e6] * 12


def test_a_server_that_began_anew_shows_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [page(1.0, 5)] * 3 + ["refused"] + [page(500.0, 1)] * 20
    assert signs(looked(monkeypatch, pages, ["1"])) == ["start_time", "counters"]


def test_two_that_answer_in_turns_are_no_endless_restarts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = signs(looked(monkeypatch, [page(1.0, 900), page(500.0, 7)], ["1", "2"], times=40))
    assert len(found) <= 4


def test_a_page_that_never_was_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = looked(monkeypatch, ["missing", page(1.0, 5)], ["1"])
    assert not any("metrics" in line for line in lines)


def test_a_page_that_hangs_keeps_memory_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hanging(Told):
        async def exchange(self, page: str, data: bytes | None = None) -> tuple[int, bytes]:
            await asyncio.Event().wait()
            raise AssertionError("it never answers")

    monkeypatch.setattr("evalkit.soak.watching.server_process", lambda *_: os.getpid())

    async def look() -> list[Line]:
        watch = ServerWatch(Hanging([], ["1"]), identity("1"), SECONDS, lambda: 1.0)
        await watch.find()
        lines = [line for _ in range(5) for line in await watch.look(0.0)]
        await watch.close()
        return lines

    began = time.perf_counter()
    lines = asyncio.run(look())
    assert time.perf_counter() - began < 3
    assert [line["processes"] > 0 for line in lines if line["k"] == "m"] == [True] * 5
