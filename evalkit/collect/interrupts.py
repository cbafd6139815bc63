"""The edge between the synchronous world and the event loop, with its signals."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_with_signals(start: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end; Ctrl-C and SIGTERM ask it to come to one.

    The first signal sets the event that `start` is given, so that requests in flight are
    finished; the second one cancels. Where a loop is running already, as in a notebook, the
    coroutine runs in a thread of its own, and the caller's loop stands still meanwhile.

    Raises:
        KeyboardInterrupt: After the second signal.
    """
    return _run_beside(start) if _in_a_loop() else _run(start, lambda interrupt: None)


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_beside(start: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> T:
    heard: list[Callable[[], None]] = []
    with ThreadPoolExecutor(1, thread_name_prefix="evalkit-run") as pool:
        running = pool.submit(_run, start, heard.append)
        while True:
            try:
                return running.result()
            except KeyboardInterrupt:
                # The caller's own Ctrl-C comes here; one that comes out of the run is its end.
                if running.done():
                    raise
                for interrupt in heard:
                    interrupt()


def _run(
    start: Callable[[asyncio.Event], Coroutine[Any, Any, T]],
    ready: Callable[[Callable[[], None]], None],
) -> T:
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            return runner.run(_supervise(start, ready))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None


async def _supervise(
    start: Callable[[asyncio.Event], Coroutine[Any, Any, T]],
    ready: Callable[[Callable[[], None]], None],
) -> T:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    task = loop.create_task(start(stop))

    def on_signal() -> None:
        if stop.is_set():
            task.cancel()
        stop.set()

    def interrupt() -> None:
        # It may have come to its end in this very moment.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(on_signal)

    ready(interrupt)
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
