"""The edge between the synchronous world and the event loop, with its signals."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_with_signals(start: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end; Ctrl-C and SIGTERM ask it to come to one.

    The first signal sets the event that `start` is given, so that requests in flight are
    finished; the second one cancels.

    Raises:
        KeyboardInterrupt: After the second signal.
    """
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            return runner.run(_supervise(start))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


async def _supervise(start: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> T:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    task = loop.create_task(start(stop))

    def on_signal() -> None:
        if stop.is_set():
            task.cancel()
        stop.set()

    # Only the main thread may listen; elsewhere signals are the caller's matter.
    heard = _SIGNALS if threading.current_thread() is threading.main_thread() else ()
    for number in heard:
        loop.add_signal_handler(number, on_signal)
    try:
        return await task
    finally:
        for number in heard:
            loop.remove_signal_handler(number)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
