"""Closes the doors that stay closed for every program, then becomes the fork server.

Runs inside the sandbox, on the standard library alone, started with `-c`: its arguments
are the level (`bubblewrap`, `unshare` or `limits`) and the sources of the other modules
that run inside. Every layer is best effort; the names of those in place go to whoever
started it, which decides whether they are enough.
"""

from __future__ import annotations

import os
import struct
import sys
import types
from contextlib import suppress
from pathlib import Path
from typing import Any

NOBODY = 65534
NEW_USER, NEW_NET, NEW_PID = 0x10000000, 0x40000000, 0x20000000
NEW_IPC, NEW_UTS, NEW_MOUNT = 0x08000000, 0x04000000, 0x00020000
_MS_REC, _MS_PRIVATE, _MS_NOSUID_NODEV = 0x4000, 0x40000, 0x6
_PR_SET_DUMPABLE = 4
_SYS_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1


def load_libc() -> Any:
    """Return the C library on Linux, else `None`."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes

        return ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError):
        return None


def become_nobody(libc: Any) -> list[str]:
    """Give up root, where the interpreter's own files are readable by everybody."""
    home = Path(os.__file__).resolve()
    readable = all(folder.stat().st_mode & 0o005 == 0o005 for folder in home.parents)
    if os.geteuid() != 0 or not readable:
        return []
    try:
        # Inside bubblewrap the directory is a mount that is replaced for each program.
        with suppress(PermissionError):
            os.chown(".", NOBODY, NOBODY)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError:
        return []
    # Changing the user makes /proc/self belong to root; the maps below must be writable.
    libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    return ["unprivileged-user"]


def enter(libc: Any, namespaces: int) -> bool:
    """Enter new namespaces, a user namespace among them; say whether it worked.

    A new process namespace begins with the next child.
    """
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(NEW_USER | namespaces) != 0:
        return False
    keep_user(uid, gid)
    return True


def keep_user(uid: int, gid: int) -> None:
    """In a new user namespace: be there who one was outside."""
    with suppress(OSError):
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")


def protect_files(libc: Any) -> list[str]:
    """Make all mounts read-only; files that the user may read stay readable."""
    if libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return []
    attributes = struct.pack("QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = len(attributes)
    if libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, size) != 0:
        return []
    return ["read-only-files"]


def mount_empty(libc: Any, place: str, options: str) -> bool:
    """Mount an empty file system in memory; say whether it worked."""
    return bool(
        libc.mount(b"tmpfs", place.encode(), b"tmpfs", _MS_NOSUID_NODEV, options.encode()) == 0
    )


def close_doors(libc: Any, level: str) -> list[str]:
    """Close the doors of a level for good; return the names of the layers in place."""
    layers = [level, "empty-environment"]
    if libc is None:
        return layers
    layers += become_nobody(libc)
    if level == "bubblewrap":
        # Bubblewrap did these, or did not start: they are its command line.
        return [*layers, "network-namespace", "read-only-files", "hidden-files"]
    if level == "unshare" and enter(libc, NEW_NET | NEW_PID | NEW_IPC | NEW_UTS | NEW_MOUNT):
        layers += ["network-namespace", *protect_files(libc)]
    return layers


def start(level: str, *sources: str) -> None:
    """Close the doors, then run the last of the modules; `sources` are names and texts."""
    names = sources[::2]
    modules = [types.ModuleType(f"evalkit.scoring.sandbox_{name}") for name in names]
    # This module is imported by the others under its own name.
    sys.modules["evalkit.scoring.sandbox_doors"] = sys.modules["__main__"]
    for module, name, source in zip(modules, names, sources[1::2], strict=True):
        sys.modules[module.__name__] = module
        exec(compile(source, f"sandbox_{name}.py", "exec"), module.__dict__)
    libc = load_libc()
    modules[-1].serve(libc, close_doors(libc, level))


if __name__ == "__main__":
    start(*sys.argv[1:])
