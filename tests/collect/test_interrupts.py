"""Ctrl-C reaches a run, also where it has a thread of its own beside a running loop."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys

PROGRAM = """
import asyncio, signal, sys
# A shell starts what it runs in the background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from evalkit.collect.interrupts import run_with_signals

async def start(stop):
    print("begun", flush=True)
    await stop.wait()
    print("told", flush=True)
    if {stubborn}:
        await asyncio.Event().wait()
    return "drained"

async def cell():
    return run_with_signals(start)

try:
    print(asyncio.run(cell()) if {beside} else run_with_signals(start))
except KeyboardInterrupt:
    print("cancelled")
"""


def interrupted(*, beside: bool, stubborn: bool) -> str:
    program = PROGRAM.format(beside=beside, stubborn=stubborn)
    # In a notebook Ctrl-C is a plain KeyboardInterrupt, and no matter of the loop.
    program = program.replace("asyncio.run(cell())", "loop_of_a_notebook(cell())")
    program = program.replace(
        "async def cell", "def loop_of_a_notebook(cell):\n"
        "    loop = asyncio.new_event_loop()\n"
        "    try:\n"
        "        return loop.run_until_complete(cell)\n"
        "    finally:\n"
        "        loop.close()\n\n"
        "async def cell",
    )  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        heard = running.stdout.readline()
        running.send_signal(signal.SIGINT)
        heard += running.stdout.readline()
        if stubborn:
            running.send_signal(signal.SIGINT)
        # Not `communicate`: it would pass over what was read ahead with the last line.
        heard += running.stdout.read()
        running.wait(60)
    return heard


def test_the_first_one_drains_and_the_second_one_cancels() -> None:
    for beside in (False, True):
        assert interrupted(beside=beside, stubborn=False) == "begun\ntold\ndrained\n"
        assert interrupted(beside=beside, stubborn=True) == "begun\ntold\ncancelled\n"


def test_a_result_and_an_error_come_back_from_beside_a_loop() -> None:
    from evalkit.collect.interrupts import run_with_signals

    async def good(stop: asyncio.Event) -> int:
        return 7

    async def bad(stop: asyncio.Event) -> int:
        raise ValueError("no")

    async def cell() -> tuple[int, str]:
        found = run_with_signals(good)
        try:
            run_with_signals(bad)
        except ValueError as error:
            return found, str(error)
        return found, ""

    assert asyncio.run(cell()) == (7, "no")
