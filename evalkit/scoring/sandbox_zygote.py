"""The fork server: an interpreter that is warm, and forks a world of its own for each run.

Standard library only: it runs inside the sandbox. For each run it receives one end of a
socket and clones itself into new namespaces. The child mounts an empty working directory,
takes the limits on, and becomes the driver (`sandbox_driver.py`), the first process of
that world: when it ends, the kernel ends all others. The server itself never reads from
the socket, so no run's tests are ever in the memory that the next run inherits.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import platform
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from evalkit.scoring.sandbox_doors import (
    NEW_IPC,
    NEW_MOUNT,
    NEW_PID,
    NEW_USER,
    keep_user,
    mount_empty,
)
from evalkit.scoring.sandbox_driver import drive
from evalkit.scoring.sandbox_filter import clone_number, install
from evalkit.scoring.sandbox_wire import Catch, read_frame, write_frame

_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 4, 38, 36
_CAPABILITY_VERSION_3 = 0x20080522
# Seconds after the wall clock's limit; the driver has its own deadline and is on time.
_GRACE = 3.0
# What answers import most: read once here instead of in each run.
_WARM = [
    "abc", "bisect", "collections", "copy", "dataclasses", "datetime", "decimal",
    "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json",
    "math", "operator", "random", "re", "statistics", "string", "textwrap",
    "typing",
]  # fmt: skip


def serve(libc: Any, layers: list[str]) -> None:
    """Say which layers are in place, then run what comes until nobody is there any more."""
    # The child is the first process of the new process namespace, where there is one.
    if "unshare" in layers and (child := os.fork()):
        os.waitpid(child, 0)
        return
    for name in _WARM:
        importlib.import_module(name)
    # Asking later would start a program on some systems.
    platform.machine()
    control = socket.socket(fileno=os.dup(0))
    # No pipe of a run may get the number of a standard stream.
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    user = os.geteuid(), os.getegid()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    gc.collect()
    gc.freeze()
    control.sendall(json.dumps(layers).encode() + b"\n")
    while True:
        message, handles, _, _ = socket.recv_fds(control, 64, 1)
        if not handles:
            return
        folder = tempfile.mkdtemp(dir=".") if "limits" in layers else "."
        driver, own = spawn(libc)
        if driver == 0:
            with Catch():
                for handle in (woken, wake, control.fileno()):
                    os.close(handle)
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                # With a handler of Python's, the answer could interrupt who gives the verdict.
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                os.setsid()
                os.chdir(folder)
                job = read_frame(handles[0])
                drive(handles[0], job, [*layers, *settle(libc, own, user), *limit(libc, job)])
            os._exit(1)
        watch(driver, handles[0], woken, float(message) + _GRACE)
        if folder != ".":
            shutil.rmtree(folder, ignore_errors=True)


def watch(driver: int, run: int, woken: int, seconds: float) -> None:
    """Wait until a driver ends, or nobody waits for it any more, or it is late; end it."""
    poll = select.poll()
    poll.register(woken, select.POLLIN)
    poll.register(run, 0)
    deadline = time.monotonic() + seconds
    status, used = 0, None
    while used is None:
        left = deadline - time.monotonic()
        ready = dict(poll.poll(1000 * max(left, 0.0)))
        if run in ready or left <= 0:
            os.kill(driver, signal.SIGKILL)
            _, status, used = os.wait4(driver, 0)
        elif woken in ready:
            os.read(woken, 512)
            # Zero: it was another child's end that woke this process.
            ended, status, usage = os.wait4(driver, os.WNOHANG)
            used = usage if ended else None
    with suppress(OSError):
        # Read only when the driver died before it could give a verdict.
        write_frame(run, {"status": status, "cpu": used.ru_utime + used.ru_stime})
    os.close(run)


def spawn(libc: Any) -> tuple[int, bool]:
    """Fork, into namespaces of the child's own if that is possible; say whether it is.

    It is clone(2) and not unshare(2) with a second fork: forks of an interpreter are what
    a run costs.
    """
    number = clone_number(platform.machine()) if libc is not None else None
    if number is not None:
        namespaces = NEW_USER | NEW_PID | NEW_IPC | NEW_MOUNT
        pid = libc.syscall(number, namespaces | signal.SIGCHLD, 0, 0, 0, 0)
        if pid >= 0:
            return pid, True
    return os.fork(), False


def settle(libc: Any, own: bool, user: tuple[int, int]) -> list[str]:
    """Arrange the new namespaces: hide /proc and mount an empty directory."""
    with suppress(OSError):
        # Whatever takes the machine's memory, this goes first.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    if not own or not keep_user(*user):
        return []
    layers = ["user-namespace", "pid-namespace"]
    here = str(Path.cwd())
    if mount_empty(libc, "/proc", "size=4k,nr_inodes=8,mode=555"):
        layers.append("hidden-proc")
    if mount_empty(libc, here, "size=8m,nr_inodes=1k,mode=777"):
        os.chdir(here)
        layers.append("private-directory")
    return layers


def limit(libc: Any, job: dict[str, Any]) -> list[str]:
    """Set the limits, give up every privilege, and install the filter of system calls."""
    cpu = int(job["cpu_seconds"])
    table = {
        # Soft equals hard: the first process of a namespace ignores the soft limit's signal.
        "RLIMIT_CPU": cpu,
        "RLIMIT_AS": job["memory_bytes"],
        "RLIMIT_FSIZE": job["file_bytes"],
        "RLIMIT_NOFILE": job["open_files"],
        "RLIMIT_CORE": 0,
    }
    for name, value in table.items():
        # macOS refuses RLIMIT_AS.
        with suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))
    layers = ["rlimits"]
    if libc is None:
        return layers
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    dropped = libc.capset(header, bytes(24)) == 0
    sealed = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if dropped and sealed:
        layers.append("no-new-privileges")
    if sealed and sys.platform.startswith("linux"):
        layers += install(libc)
    return layers
