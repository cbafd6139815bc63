"""The processes of a server on this machine, and the memory that they hold (Linux)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_PROC = Path("/proc")
_LISTENS = "0A"
_KIB = 1024


def listener(port: int) -> int | None:
    """Return the process that listens on a port of this machine.

    `None` when that cannot be seen: nobody does, it belongs to another user, or this is not
    Linux.
    """
    sockets = {f"socket:[{inode}]" for inode in _listening(port)}
    if not sockets:
        return None
    found = []
    for folder in _PROC.glob("[0-9]*"):
        try:
            links = {str(link.readlink()) for link in (folder / "fd").iterdir()}
        except OSError:
            continue
        if links & sockets:
            found.append(int(folder.name))
    # Workers inherit the socket of the process that opened it.
    return min(found, default=None, key=started)


def tree(root: int) -> tuple[int, ...]:
    """Return a process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for folder in _PROC.glob("[0-9]*"):
        parent = _stat(int(folder.name), 1)
        if parent is not None:
            children.setdefault(parent, []).append(int(folder.name))
    found, waiting = [], [root]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, ())
    return tuple(found)


def resident(pids: Iterable[int]) -> int:
    """Return the bytes that processes hold in memory; what two share counts for each."""
    page = os.sysconf("SC_PAGE_SIZE")
    total = 0
    for pid in pids:
        try:
            total += int((_PROC / str(pid) / "statm").read_text().split()[1]) * page
        except (OSError, IndexError, ValueError):
            continue
    return total


def highest(pid: int) -> int | None:
    """Return the most that one process ever held, as the kernel remembers."""
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * _KIB
    return None


def _listening(port: int) -> set[str]:
    inodes = set()
    for name in ("tcp", "tcp6"):
        try:
            lines = (_PROC / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTENS and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(fields[9])
    return inodes


def started(pid: int) -> int:
    """Return when a process began, in ticks since the machine did; 0 when there is none."""
    return _stat(pid, 19) or 0


def _stat(pid: int, place: int) -> int | None:
    """Return a number of `/proc/PID/stat`, counted after the name, which may hold anything."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[place])
