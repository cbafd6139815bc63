"""The trusted half of a run, on the standard library alone, inside the sandbox.

It has a job (the answer's source) and forks. The child runs the answer and knows nothing
else: it is forked before the tests are read, its standard streams are the null device, and
it serves calls ("call `add` with these arguments") over a pipe. The tests run in this
process, against stand-ins that make those calls, so that nothing the answer does to its
own interpreter (`len`, `__eq__`, `os._exit(0)`) can turn a wrong result into a right one.
"""

from __future__ import annotations

import builtins
import os
import random
import resource
import signal
import sys
import time
import types
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from evalkit.scoring.sandbox_wire import (
    MAX_FRAME,
    Catch,
    Stop,
    decode,
    describe,
    encode,
    read_frame,
    write_frame,
)

_MODULES = frozenset(
    {
        "sys",
        "math",
        "re",
        "collections",
        "itertools",
        "functools",
        "datetime",
        "random",
        "heapq",
        "bisect",
        "string",
        "json",
        "operator",
        "copy",
    }
)

# ---- the answer's side ---------------------------------------------------------------


def serve_answer(source: str, calls: int, results: int) -> None:
    """Run the answer, then serve calls to what it defined until the pipe closes."""
    module = types.ModuleType("answer")
    sys.modules["answer"] = module
    with Catch() as compiling:
        program = compile(source, "answer.py", "exec", dont_inherit=True)
    if compiling.error is not None:
        _, name, message = describe(compiling.error)
        write_frame(results, ["syntax", name, message])
        return
    with Catch() as loading:
        exec(program, module.__dict__)
    if loading.error is not None:
        write_frame(results, describe(loading.error))
        return
    world = list(module.__dict__.items())
    names = [n for n, v in world if isinstance(n, str) and callable(v)]
    modules = [[n, v.__name__] for n, v in world if isinstance(v, types.ModuleType)]
    write_frame(results, ["loaded", names, modules])
    objects: list[Any] = []

    def keep(value: Any) -> Any:
        objects.append(value)
        return ["object", len(objects) - 1, type(value).__name__]

    def find(place: int, *_: Any) -> Any:
        return objects[place]

    while (call := read_frame(calls)) is not None:
        reply: Any = None
        with Catch() as calling:
            kind, target, name, args, kwargs = call
            owner = module if target is None else objects[target]
            value: Any = None
            if kind == "set":
                setattr(owner, name, *decode(args, find))
            elif kind == "get":
                value = getattr(owner, name)
            else:
                value = module.__dict__[name] if target is None else owner
                value = value(*decode(args, find), **decode(kwargs, find))
            reply = ["result", encode(value, keep)]
        write_frame(results, describe(calling.error) if calling.error else reply)


def start_answer(source: str, processes: int, run: int) -> tuple[int, int, int]:
    """Fork the process that runs the answer; return its pid and the two pipe ends.

    `run` is the socket to whoever asked for the run: the answer does not get it.
    """
    calls_out, calls_in = os.pipe()
    results_out, results_in = os.pipe()
    pid = os.fork()
    if pid:
        os.close(calls_out)
        os.close(results_in)
        return pid, calls_in, results_out
    with Catch():
        # As in any interpreter: the answer may expect a KeyboardInterrupt of itself.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.close(run)
        os.close(calls_in)
        os.close(results_out)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.environ.clear()
        # The same answer has the same luck each time it is scored.
        random.seed(0)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
        serve_answer(source, calls_out, results_in)
    os._exit(0)


# ---- the tests' side -----------------------------------------------------------------


class Answer:
    """The answer as the tests see it: names that can be called."""

    def __init__(
        self, pid: int, calls: int, results: int, deadline: float, cpu_seconds: float
    ) -> None:
        self._pid = pid
        self._cpu_seconds = cpu_seconds
        self._calls = calls
        self._results = results
        self._deadline = deadline
        self.raised: BaseException | None = None

    def names(self) -> tuple[list[str], dict[str, Any]]:
        """Wait until the program has run; return what it defined, and modules it imported.

        The modules are this process's own, and only harmless ones.

        Raises:
            Stop: When it did not get so far.
        """
        reply = self._reply()
        if reply[0] != "loaded":
            raise Stop(reply[0], ": ".join(part for part in reply[1:] if part))
        modules = {
            str(n): sys.modules[m] for n, m in reply[2] if m in _MODULES and m in sys.modules
        }
        return [name for name in reply[1] if isinstance(name, str)], modules

    def function(self, name: str) -> Callable[..., Any]:
        """Return a stand-in for one of the answer's functions or classes."""

        def call(*args: Any, **kwargs: Any) -> Any:
            return self.ask("call", None, name, args, kwargs)

        return call

    def ask(
        self,
        kind: str,
        target: int | None,
        name: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Have the answer call, get or set something; return the result.

        Raises:
            Stop: When the answer's process ended, or broke the protocol.
            Exception: What the answer raised.
        """
        forms = [encode(value, handed_over) for value in (list(args), kwargs or {})]
        with suppress(BrokenPipeError):
            write_frame(self._calls, [kind, target, name, *forms])
        reply = self._reply()
        if reply[0] == "result":
            return decode(reply[1], lambda place, shown: Remote(self, int(place), str(shown)[:80]))
        if reply[0] != "exception":
            raise Stop(reply[0], ": ".join(part for part in reply[1:] if part))
        self.raised = rebuilt(reply[1], reply[2])
        raise self.raised

    def _reply(self) -> list[Any]:
        reply = read_frame(self._results, self._deadline, MAX_FRAME)
        if reply is None:
            raise self._death()
        shapes = {"result": 2, "loaded": 3, "exception": 3, "syntax": 3, "memory": 3, "exit": 3}
        if not isinstance(reply, list) or not reply or shapes.get(str(reply[0])) != len(reply):
            raise Stop("wrong_result", "the result cannot be read")
        if reply[0] not in ("result", "loaded"):
            return [reply[0], *(str(part)[:300] for part in reply[1:])]
        return reply

    def _death(self) -> Stop:
        _, status, used = os.wait4(self._pid, 0)
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        # The limit is watched by ticks, the time told is exact: they differ on busy machines.
        if number and used.ru_utime + used.ru_stime > self._cpu_seconds / 2:
            return Stop("timeout", "out of processor time")
        if number:
            return Stop("exit", f"killed by signal {number}: {signal.strsignal(number)}")
        return Stop("exit", f"the program ended itself with status {os.WEXITSTATUS(status)}")


class Remote:
    """An object of the answer's that is no plain value: it equals nothing but itself."""

    def __init__(self, answer: Answer, place: int, shown: str) -> None:
        object.__setattr__(self, "_remote", (answer, place, shown))

    def __getattr__(self, name: str) -> Any:
        answer, place, _ = object.__getattribute__(self, "_remote")
        return answer.ask("get", place, name)

    def __setattr__(self, name: str, value: Any) -> None:
        answer, place, _ = object.__getattribute__(self, "_remote")
        answer.ask("set", place, name, (value,))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it where it lives."""
        answer, place, _ = object.__getattribute__(self, "_remote")
        return answer.ask("call", place, "", args, kwargs)

    def __repr__(self) -> str:
        return f"<{object.__getattribute__(self, '_remote')[2]}>"


def handed_over(value: Any) -> Any:
    """Return the form in which the tests hand over what is no plain value."""
    if type(value) is Remote:
        return ["object", object.__getattribute__(value, "_remote")[1]]
    raise Stop("exception", f"the tests hand over a {type(value).__name__}")


def rebuilt(name: str, message: str) -> Exception:
    """Return an exception of the built-in class of that name, else a `RuntimeError`.

    `StopIteration` is not rebuilt: within `all(map(f, ...))` it would end the loop quietly.
    """
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception) and "Stop" not in name:
        with Catch():
            return kind(message)
    return RuntimeError(f"{name}: {message}")


def run_tests(answer: Answer, tests: Any, entry_point: str) -> None:
    """Run the tests, a program of asserts or a list of [arguments, expected result].

    Raises:
        Stop: When they do not all pass.
    """
    names, modules = answer.names()
    if entry_point not in names:
        raise Stop("exception", f"NameError: no function '{entry_point}'")
    if isinstance(tests, str):
        helpers = [n for n in names if not n.startswith("__") and not hasattr(builtins, n)]
        space: dict[str, Any] = {**modules, **{n: answer.function(n) for n in helpers}}
        space[entry_point] = answer.function(entry_point)
        with Catch() as testing:
            exec(compile(tests, "tests.py", "exec", dont_inherit=True), space)
        if testing.error is not None:
            raise verdict_on(testing.error, answer, tests)
        return
    for form, expected in tests:
        shown = f"{entry_point}({', '.join(map(display, form))})"
        result: Any = None
        equal = False
        with Catch() as calling:
            result = answer.function(entry_point)(*form)
            equal = result == expected
        if calling.error is not None:
            raise verdict_on(calling.error, answer, "", shown)
        if not equal:
            raise Stop("wrong_result", f"{shown} gave {display(result)}, not {display(expected)}")


def display(value: Any) -> str:
    """Return the start of a value's `repr`, or its type where it has none that can be made."""
    shown = f"<{type(value).__name__}>"
    with Catch():
        shown = repr(value)[:80]
    return shown


def verdict_on(error: BaseException, answer: Answer, tests: str, shown: str = "") -> Stop:
    """Say what an exception that left the tests means."""
    if isinstance(error, Stop):
        return error
    if not shown:
        tb, line = error.__traceback__, 0
        while tb is not None:
            if tb.tb_frame.f_code.co_filename == "tests.py":
                line = tb.tb_lineno
            tb = tb.tb_next
        shown = "".join(tests.splitlines()[line - 1 : line]).strip()[:160]
    _, name, message = describe(error)
    if error is answer.raised:
        return Stop("exception", f"{name}: {message} in {shown}")
    if isinstance(error, AssertionError):
        return Stop("wrong_result", f"failed: {shown}")
    return Stop("wrong_result", f"failed with {name}: {message} in {shown}")


def end_descendants(pid: int) -> None:
    """Kill the answer and, where no namespace does it, the orphans it left to this process."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    for _ in range(100):
        with suppress(OSError):
            orphans = listing.read_text(encoding="ascii").split()
            for orphan in orphans:
                os.kill(int(orphan), signal.SIGKILL)
                os.waitpid(int(orphan), 0)
            if orphans:
                continue
        return


def drive(run: int, job: dict[str, Any], layers: list[str]) -> None:
    """Run a job, report its verdict with the nonce, and end the whole process group."""
    pid, calls, results = start_answer(job["source"], job["processes"], run)
    # Only now, after the fork, do the tests and the nonce enter this process.
    secret = read_frame(run)
    started = time.monotonic()
    answer = Answer(pid, calls, results, started + job["wall_seconds"], job["cpu_seconds"])
    with Catch() as testing:
        run_tests(answer, secret["tests"], job["entry_point"])
    kind, detail = "passed", ""
    if isinstance(testing.error, Stop):
        kind, detail = testing.error.kind, testing.error.detail
    elif testing.error is not None:
        # What the answer sent upset this process: that is no pass, and no fault of ours.
        kind, detail = "wrong_result", ": ".join(describe(testing.error)[1:])
    seconds = time.monotonic() - started
    end_descendants(pid)
    write_frame(
        run,
        {
            "nonce": secret["nonce"],
            "kind": kind,
            "detail": detail,
            "seconds": seconds,
            "layers": layers,
        },
    )
    os.killpg(0, signal.SIGKILL)
    # The first process of a namespace does not die by its own signal.
    os._exit(0)
