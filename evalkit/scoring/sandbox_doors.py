"""Closes doors, then starts the driver: the plain launcher of the sandbox.

Standard library only, started with `-c`; its arguments are the limits as JSON and the
sources of the wire and of the driver. Every layer is best effort except the limits; the
names of those in place become the driver's arguments, so that a report can name them.
This is not bubblewrap: files that the user may read stay readable.
"""

from __future__ import annotations

import json
import os
import resource
import struct
import sys
import types
from contextlib import suppress
from pathlib import Path
from typing import Any

_NOBODY = 65534
_NEW_USER, _NEW_NET, _NEW_PID = 0x10000000, 0x40000000, 0x20000000
_NEW_IPC, _NEW_UTS, _NEW_MOUNT = 0x08000000, 0x04000000, 0x00020000
_MS_REC, _MS_PRIVATE, _MS_NOSUID_NODEV = 0x4000, 0x40000, 0x6
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 4, 38, 36
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
_CAPABILITY_VERSION_3 = 0x20080522


def limit_resources(limits: dict[str, int]) -> list[str]:
    """Set the limits that every process from here on inherits."""
    cpu = limits["cpu_seconds"]
    table = {
        # Soft equals hard: the first process of a namespace ignores the soft limit's signal.
        "RLIMIT_CPU": (cpu, cpu),
        "RLIMIT_AS": (limits["memory_bytes"],) * 2,
        "RLIMIT_FSIZE": (limits["file_bytes"],) * 2,
        "RLIMIT_NOFILE": (limits["open_files"],) * 2,
        "RLIMIT_CORE": (0, 0),
    }
    for name, value in table.items():
        # macOS refuses RLIMIT_AS.
        with suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, name), value)
    return ["rlimits"]


def become_nobody(libc: Any) -> list[str]:
    """Give up root, where the interpreter's own files are readable by everybody."""
    home = Path(os.__file__).resolve()
    readable = all(folder.stat().st_mode & 0o005 == 0o005 for folder in home.parents)
    if os.geteuid() != 0 or not readable:
        return []
    try:
        os.chown(".", _NOBODY, _NOBODY)
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    except OSError:
        return []
    # Changing the user makes /proc/self belong to root; the maps below must be writable.
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    return ["unprivileged-user"]


def enter_namespaces(libc: Any) -> list[str]:
    """Enter new namespaces: no network, no other processes, files read-only."""
    uid, gid = os.geteuid(), os.getegid()
    everything = _NEW_USER | _NEW_NET | _NEW_PID | _NEW_IPC | _NEW_UTS | _NEW_MOUNT
    if libc.unshare(everything) != 0:
        return []
    layers = ["user-namespace", "network-namespace", "pid-namespace"]
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
    return layers + protect_files(libc)


def protect_files(libc: Any) -> list[str]:
    """Make all mounts read-only, hide /proc, and mount an empty working directory."""
    here = str(Path.cwd()).encode()
    if libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return []
    attributes = struct.pack("QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = len(attributes)
    if libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, size) != 0:
        return []
    layers = ["read-only-files"]
    if libc.mount(b"tmpfs", b"/proc", b"tmpfs", _MS_NOSUID_NODEV, b"size=4k,mode=555") == 0:
        layers.append("hidden-proc")
    if libc.mount(b"tmpfs", here, b"tmpfs", _MS_NOSUID_NODEV, b"size=8m,mode=777") == 0:
        os.chdir(here)
        layers.append("private-directory")
    return layers


def drop_privileges(libc: Any) -> list[str]:
    """Drop capabilities, rule out new ones, and keep other processes out of this one."""
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    dropped = libc.capset(header, bytes(24)) == 0
    sealed = libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    return ["no-new-privileges"] if dropped and sealed else []


def close_doors(limits: dict[str, int]) -> list[str]:
    """Close all doors that can be closed; return the names of the layers in place."""
    layers = ["subprocess", "empty-environment", *limit_resources(limits)]
    if not sys.platform.startswith("linux"):
        return layers
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return layers
    layers += become_nobody(libc)
    layers += enter_namespaces(libc)
    return layers + drop_privileges(libc)


def start(limits: str, wire: str, driver: str) -> None:
    """Close the doors, then run the driver's source with the wire's as its only import."""
    module = types.ModuleType("evalkit.scoring.sandbox_wire")
    sys.modules[module.__name__] = module
    exec(compile(wire, "sandbox_wire.py", "exec"), module.__dict__)
    program = compile(driver, "sandbox_driver.py", "exec")
    sys.argv = ["driver", *close_doors(json.loads(limits))]
    exec(program, {"__name__": "__main__"})


if __name__ == "__main__":
    start(*sys.argv[1:])
