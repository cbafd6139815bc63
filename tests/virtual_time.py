"""An event loop whose clock jumps to the next timer: hours pass at once, the same each time."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.SelectSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end. Nothing may wait for another thread or a socket."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)


def clock() -> float:
    """Return the virtual time, in seconds."""
    return asyncio.get_running_loop().time()
