"""Starts the sandbox's fork servers, hands them runs, and ends them.

Three levels, the strongest that works here first:

* `bubblewrap`: a file system with nothing but the interpreter and the system's libraries,
  no network, no privileges; a new user, process, mount and IPC namespace for each run.
* `unshare`: the same namespaces without the program `bwrap`. Files are read-only, but what
  the user may read, a program may read.
* `limits`: resource limits and an empty environment. Nothing keeps a program from the
  network or from files, so this is used only where EVALKIT_SANDBOX=limits asks for it: in a
  container that is thrown away.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from evalkit.errors import SandboxError

LEVELS = ("bubblewrap", "unshare", "limits")
_VARIABLE = "EVALKIT_SANDBOX"
_START_SECONDS = 30.0
_END_SECONDS = 10.0
# Without one of these a program could send out or change what it finds, or fork for ever.
_NEEDED = frozenset({"network-namespace", "read-only-files", "unprivileged-user"})
_OWN_WORLD = frozenset({"pid-namespace", "private-directory", "hidden-proc"})
_INSIDE = ("wire", "filter", "driver", "zygote")


class Started(NamedTuple):
    """A fork server: its process, the socket to it, and the layers that it reported."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    folder: str
    layers: tuple[str, ...]


def level() -> str:
    """Return the level in use: the one that EVALKIT_SANDBOX names, else the strongest safe one.

    Raises:
        SandboxError: When none is safe here, or the one that was named does not work.
    """
    return _level(os.environ.get(_VARIABLE) or "auto")


@functools.cache
def _level(wanted: str) -> str:
    if wanted not in ("auto", *LEVELS):
        raise SandboxError(
            f"{_VARIABLE} is '{wanted}'.", hint=f"Use auto or one of: {', '.join(LEVELS)}."
        )
    reasons = []
    for name in LEVELS if wanted == "auto" else (wanted,):
        try:
            started = start(name)
        except SandboxError as error:
            reasons.append(f"{name}: {error.message}")
            continue
        end(started)
        if name == wanted == "limits" or set(started.layers) >= _NEEDED:
            return name
        reasons.append(f"{name}: it leaves doors open here.")
    raise SandboxError(
        f"There is no safe sandbox here ({' '.join(reasons)})",
        hint="Install bubblewrap, or score in a container that you throw away, "
        f"with {_VARIABLE}=limits.",
    )


def start(name: str) -> Started:
    """Start a fork server of a level and wait until it is ready.

    Raises:
        SandboxError: When it does not start.
    """
    folder = tempfile.mkdtemp(prefix="evalkit-")
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = subprocess.Popen(
                _command(name),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={"PYTHONHASHSEED": "0"},
                start_new_session=True,
            )
    except OSError as error:
        ours.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise SandboxError(f"{error.strerror or error}.") from error
    ours.settimeout(_START_SECONDS)
    hello = b""
    with suppress(OSError):
        while not hello.endswith(b"\n") and (part := ours.recv(65536)):
            hello += part
    started = Started(process, ours, folder, tuple(json.loads(hello)) if hello else ())
    if not hello.endswith(b"\n"):
        reason = end(started).strip()[-300:] or "it said nothing"
        raise SandboxError(f"The sandbox does not start: {reason}.")
    return started


def end(server: Started) -> str:
    """End a fork server with all that it runs; return what it wrote to standard error."""
    # It ends by itself when nobody is there any more; so does what it runs.
    server.control.close()
    try:
        _, errors = server.process.communicate(timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(server.process.pid, signal.SIGKILL)
        _, errors = server.process.communicate()
    shutil.rmtree(server.folder, ignore_errors=True)
    return errors.decode("utf-8", "replace")


class Pool:
    """Idle fork servers. Each is used by one thread at a time."""

    def __init__(self) -> None:
        self._idle: list[tuple[str, Started]] = []
        self._lock = threading.Lock()

    @contextmanager
    def server(self, name: str) -> Iterator[Started]:
        """Lend a server of a level; one that the block left by an error is ended.

        Raises:
            SandboxError: When none can be started.
        """
        started = self._take(name)
        try:
            yield started
        except BaseException:
            end(started)
            raise
        with self._lock:
            self._idle.append((name, started))

    def _take(self, name: str) -> Started:
        while True:
            with self._lock:
                place = next((i for i, (n, _) in enumerate(self._idle) if n == name), None)
                found = None if place is None else self._idle.pop(place)[1]
            if found is None:
                return start(name)
            if found.process.poll() is None:
                return found
            end(found)

    def close(self) -> None:
        """End all idle servers."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, server in idle:
            end(server)

    def forget(self) -> None:
        """In a forked child: leave the parent's servers to the parent."""
        self._lock = threading.Lock()
        for _, server in self._idle:
            server.control.close()
            # Not ours to wait for; without this its end would be reported as a leak.
            server.process.returncode = 0
        self._idle = []


def is_own_world(layers: Sequence[str] | None) -> bool:
    """Say whether a run left nothing behind in its server; one without layers died in it."""
    return layers is not None and set(layers) >= _OWN_WORLD


def _command(name: str) -> list[str]:
    # `-I` would ignore PYTHONHASHSEED, and the order of a set would then decide whether an
    # answer passes. `-P -s` with an environment of our own isolates as well. The base
    # interpreter, not a virtual environment's link to it: `-S` needs nothing else.
    binary = str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    python = [binary, "-P", "-s", "-S", "-B", "-X", "utf8", "-c", _inner_source("doors"), name]
    for module in _INSIDE:
        python += [module, _inner_source(module)]
    return [*_bubblewrap(binary), *python] if name == "bubblewrap" else python


def _bubblewrap(binary: str) -> list[str]:
    """Return the command line that shows a program the interpreter and nothing else."""
    as_root = os.geteuid() == 0
    # Root drops to nobody inside; a mapped root would not be held by the limit of processes.
    user = (
        ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        if as_root
        else ["--unshare-user"]
    )
    shown = [
        "/usr/lib", "/usr/lib32", "/usr/lib64", "/lib", "/lib64", "/nix/store", "/gnu/store",
        "/etc/ld.so.cache", "/usr/share/zoneinfo", binary, str(Path(os.__file__).resolve().parent),
        f"{sys.base_exec_prefix}/lib/python{sys.version_info[0]}.{sys.version_info[1]}",
        str(sysconfig.get_config_var("LIBDIR") or "/usr/lib"),
    ]  # fmt: skip
    command = ["bwrap", *user, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command += ["--unshare-cgroup-try", "--hostname", "sandbox", "--new-session"]
    # Made by itself it lets only root through a folder.
    for folder in sorted({str(folder) for path in shown for folder in Path(path).parents} - {"/"}):
        command += ["--perms", "0755", "--dir", folder]
    for path in dict.fromkeys(shown):
        if Path(path).is_symlink() and Path(path).parent == Path("/"):
            command += ["--symlink", str(Path(path).readlink()), path]
        else:
            command += ["--ro-bind-try", path, path]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--"]
    return command


@functools.cache
def _inner_source(name: str) -> str:
    return Path(__file__).with_name(f"sandbox_{name}.py").read_text(encoding="utf-8")


POOL = Pool()
atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)
