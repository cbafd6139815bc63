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
_MS_REC, _MS_PRIVATE, _MS_BIND, _MS_NOSUID_NODEV = 0x4000, 0x40000, 0x1000, 0x6
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


def become_nobody(libc: Any, level: str) -> list[str]:
    """Give up root, for whom neither permissions nor the limit of processes count."""
    if not is_real_root():
        return ["unprivileged-user"]
    places = [Path(sys.base_prefix).resolve(), Path(os.__file__).resolve().parent]
    if level != "bubblewrap" and libc.unshare(NEW_MOUNT) == 0:
        libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
        places = [place for place in places if not open_way(libc, place)]
    if any(map(first_closed, places)):
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


def is_real_root() -> bool:
    """Say whether this is the machine's root, and not a container's that is mapped."""
    try:
        inside, outside, _ = Path("/proc/self/uid_map").read_text(encoding="ascii").split()[:3]
    except (OSError, ValueError):
        inside = outside = "0"
    return os.geteuid() == 0 and inside == outside


def first_closed(place: Path) -> Path | None:
    """Return the outermost folder on the way to a place that not everybody may pass."""
    way = [*reversed(place.parents), place]
    return next((folder for folder in way if folder.stat().st_mode & 0o005 != 0o005), None)


def open_way(libc: Any, place: Path) -> bool:
    """Where only root reaches a place, cover all that is around it; say whether it is open."""
    closed = first_closed(place)
    if closed is None:
        return True
    if closed == place:
        return False
    handle = os.open(place, os.O_PATH | os.O_DIRECTORY)
    try:
        if not mount_empty(libc, str(closed), "size=64k,mode=755"):
            return False
        place.mkdir(mode=0o755, parents=True)
        source = f"/proc/self/fd/{handle}".encode()
        return bool(libc.mount(source, str(place).encode(), None, _MS_BIND | _MS_REC, None) == 0)
    finally:
        os.close(handle)


def enter(libc: Any, namespaces: int) -> bool:
    """Enter new namespaces, a user namespace among them; say whether it worked.

    A new process namespace begins with the next child.
    """
    uid, gid = os.geteuid(), os.getegid()
    return bool(libc.unshare(NEW_USER | namespaces) == 0) and keep_user(uid, gid)


def keep_user(uid: int, gid: int) -> bool:
    """In a new user namespace, be there who one was outside; say whether it worked."""
    try:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1", encoding="ascii")
    except OSError:
        return False
    return True


def protect_files(libc: Any) -> list[str]:
    """Make all mounts read-only; files that the user may read stay readable."""
    if libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return []
    attributes = struct.pack("QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    size = len(attributes)
    if libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, size) != 0:
        return []
    # Each run still has to write its user there, before it covers it.
    attributes = struct.pack("QQQQ", 0, _MOUNT_ATTR_RDONLY, 0, 0)
    libc.syscall(_SYS_MOUNT_SETATTR, _AT_FDCWD, b"/proc", 0, attributes, size)
    return ["read-only-files"]


def mount_empty(libc: Any, place: str, options: str) -> bool:
    """Mount an empty file system in memory; say whether it worked."""
    return bool(
        libc.mount(b"tmpfs", place.encode(), b"tmpfs", _MS_NOSUID_NODEV, options.encode()) == 0
    )


def close_doors(libc: Any, level: str) -> list[str]:
    """Close the doors of a level for good; return the names of the layers in place."""
    os.umask(0o022)
    layers = [level, "empty-environment"]
    if libc is None:
        return layers
    layers += become_nobody(libc, level)
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
