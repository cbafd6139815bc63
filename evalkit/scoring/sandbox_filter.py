"""The filter of system calls that a program in the sandbox runs under (seccomp).

Standard library only: it runs inside the sandbox. It refuses what no function needs that
works on its arguments: tracing, mounting, new namespaces, other programs, kernel
interfaces, memory outside the limits, and sockets other than local and IP ones. The
namespaces already keep those in; this makes the kernel's surface smaller.

The filter is a program of the kernel's packet filter: see seccomp(2) and linux/filter.h.
Numbers are those of the kernel's tables for the two architectures.
"""

from __future__ import annotations

import platform
import struct
from typing import Any

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_EPERM, _ENOSYS = 1, 38
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_X32 = 0x40000000
# CLONE_NEW*, the time namespace apart: it cannot be had from clone(2).
_NEW_NAMESPACES = 0x7E020000
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6; virtual machines' sockets pass namespaces.

# Newer calls have one number everywhere.
_DENIED_EVERYWHERE = (
    425, 426, 427,                      # io_uring_setup, _enter, _register
    428, 429, 430, 431, 432, 433, 442,  # open_tree, move_mount, fs*, mount_setattr
    438, 440, 443,                      # pidfd_getfd, process_madvise, quotactl_fd
)  # fmt: skip
_CLONE3 = 435

# Name: audit architecture, clone, socket, and the calls denied.
_TABLES: dict[str, tuple[int, int, int, dict[str, int]]] = {
    "x86_64": (0xC000003E, 56, 41, {
        "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "execve": 59, "execveat": 322, "mount": 165, "umount2": 166, "pivot_root": 155,
        "chroot": 161, "unshare": 272, "setns": 308, "bpf": 321, "perf_event_open": 298,
        "userfaultfd": 323, "keyctl": 250, "add_key": 248, "request_key": 249,
        "init_module": 175, "finit_module": 313, "delete_module": 176, "kexec_load": 246,
        "kexec_file_load": 320, "reboot": 169, "swapon": 167, "swapoff": 168,
        "sethostname": 170, "setdomainname": 171, "acct": 163, "quotactl": 179,
        "settimeofday": 164, "clock_settime": 227, "adjtimex": 159, "clock_adjtime": 305,
        "syslog": 103, "iopl": 172, "ioperm": 173, "modify_ldt": 154,
        "name_to_handle_at": 303, "open_by_handle_at": 304, "fanotify_init": 300,
        "personality": 135, "mbind": 237, "set_mempolicy": 238, "move_pages": 279,
        "migrate_pages": 256, "memfd_create": 319, "shmget": 29, "msgget": 68, "semget": 64,
        "mq_open": 240, "vhangup": 153,
    }),
    "aarch64": (0xC00000B7, 220, 198, {
        "ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "execve": 221, "execveat": 281, "mount": 40, "umount2": 39, "pivot_root": 41,
        "chroot": 51, "unshare": 97, "setns": 268, "bpf": 280, "perf_event_open": 241,
        "userfaultfd": 282, "keyctl": 219, "add_key": 217, "request_key": 218,
        "init_module": 105, "finit_module": 273, "delete_module": 106, "kexec_load": 104,
        "kexec_file_load": 294, "reboot": 142, "swapon": 224, "swapoff": 225,
        "sethostname": 161, "setdomainname": 162, "acct": 89, "quotactl": 60,
        "settimeofday": 170, "clock_settime": 112, "adjtimex": 171, "clock_adjtime": 266,
        "syslog": 116, "name_to_handle_at": 264, "open_by_handle_at": 265,
        "fanotify_init": 262, "personality": 92, "mbind": 235, "set_mempolicy": 237,
        "move_pages": 239, "migrate_pages": 238, "memfd_create": 279, "shmget": 194,
        "msgget": 186, "semget": 190, "mq_open": 180, "vhangup": 58,
    }),
}  # fmt: skip


def program(machine: str) -> bytes | None:
    """Return the filter for a machine as `platform.machine` names it; `None` if unknown."""
    if machine not in _TABLES:
        return None
    architecture, clone, socket, denied = _TABLES[machine]
    refuse = _step(_RETURN, _ERRNO | _EPERM)
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        steps += [_step(_AT_LEAST, _X32, 0, 1), refuse]
    for number in (*denied.values(), *_DENIED_EVERYWHERE):
        steps += [_step(_EQUAL, number, 0, 1), refuse]
    # Unknown is what the C library expects of an old kernel: it goes on with clone(2).
    steps += [_step(_EQUAL, _CLONE3, 0, 1), _step(_RETURN, _ERRNO | _ENOSYS)]
    steps += [
        _step(_EQUAL, clone, 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        refuse,
        _step(_RETURN, _ALLOW),
        _step(_EQUAL, socket, 0, 2 + len(_FAMILIES)),
        _step(_LOAD, _FIRST_ARGUMENT),
        *(_step(_EQUAL, f, len(_FAMILIES) - i, 0) for i, f in enumerate(_FAMILIES)),
        refuse,
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def clone_number(machine: str) -> int | None:
    """Return the number of clone(2)."""
    return _TABLES[machine][1] if machine in _TABLES else None


def install(libc: Any) -> list[str]:
    """Put this process and all its children under the filter, for good.

    It needs `PR_SET_NO_NEW_PRIVS`, or a capability.
    """
    import ctypes

    code = program(platform.machine())
    if code is None:
        return []
    buffer = ctypes.create_string_buffer(code, len(code))
    head = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    worked = libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, head, 0, 0) == 0
    return ["seccomp"] if worked else []


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
