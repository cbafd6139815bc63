"""What passes between the driver and the answer: frames of plain values.

Standard library only: it runs inside the sandbox. Nothing is unpickled; what a hostile
program sends can be a wrong value, never a program.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import struct
import time
import types
from collections.abc import Callable
from types import TracebackType
from typing import Any

MAX_FRAME = 4_000_000
MAX_ITEMS = 100_000


class Opaque:
    """A result that is not a plain value: it equals nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Catch:
    """A block that may raise anything at all; `error` is what it raised."""

    error: BaseException | None = None

    def __enter__(self) -> Catch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self.error = error
        return True


class Stop(BaseException):
    """The run is over: the answer's process died, timed out, or broke the protocol.

    Not an `Exception`: no `except Exception` of a test may swallow it.
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


def write_frame(fd: int, value: Any) -> None:
    """Write one length-prefixed JSON value."""
    data = json.dumps(value).encode()
    data = struct.pack("!I", len(data)) + data
    while data:
        data = data[os.write(fd, data) :]


def read_exactly(fd: int, size: int, deadline: float | None) -> bytes | None:
    """Read `size` bytes; `None` when the other side is gone.

    Raises:
        Stop: When the deadline passes first.
    """
    parts: list[bytes] = []
    while size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                raise Stop("timeout", "no result before the wall-clock deadline")
        part = os.read(fd, min(size, 65536))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(fd: int, deadline: float | None = None, limit: int | None = None) -> Any:
    """Read one frame; `None` when the other side is gone.

    Raises:
        Stop: When the deadline passes, or the frame is too large or not a frame.
    """
    head = read_exactly(fd, 4, deadline)
    if head is None:
        return None
    (size,) = struct.unpack("!I", head)
    if limit is not None and size > limit:
        raise Stop("wrong_result", "the result is too large")
    body = read_exactly(fd, size, deadline)
    if body is None:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Stop("wrong_result", "the result cannot be read") from None


def encode(value: Any) -> Any:
    """Return a JSON form of a value that keeps its type; anything unknown becomes opaque."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return ["int", hex(value)]
    if isinstance(value, float):
        return ["float", float.hex(value)]
    if isinstance(value, complex):
        return ["complex", float.hex(value.real), float.hex(value.imag)]
    if isinstance(value, (bytes, bytearray)):
        return ["bytes", bytes(value).hex()]
    if isinstance(value, range):
        return ["range", value.start, value.stop, value.step]
    if isinstance(value, dict):
        return ["dict", [[encode(k), encode(v)] for k, v in value.items()]]
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            return [kind.__name__, [encode(item) for item in value]]
    if isinstance(value, (types.GeneratorType, map, filter, zip, reversed)):
        return ["iterator", [encode(item) for item in itertools.islice(value, MAX_ITEMS)]]
    return ["opaque", type(value).__name__]


def decode(form: Any) -> Any:
    """Return the plain value of a form made by `encode`, or by something hostile.

    Raises:
        Stop: When the form is not one that `encode` makes.
    """
    if not isinstance(form, list):
        return form
    makers: dict[str, Callable[..., Any]] = {
        "int": lambda digits: int(digits, 16),
        "float": float.fromhex,
        "complex": lambda re, im: complex(float.fromhex(re), float.fromhex(im)),
        "bytes": bytes.fromhex,
        "range": range,
        "dict": lambda pairs: {decode(k): decode(v) for k, v in pairs},
        "list": lambda items: [decode(item) for item in items],
        "tuple": lambda items: tuple(decode(item) for item in items),
        "set": lambda items: {decode(item) for item in items},
        "frozenset": lambda items: frozenset(decode(item) for item in items),
        "iterator": lambda items: iter([decode(item) for item in items]),
        "opaque": lambda name: Opaque(str(name)[:80]),
    }
    try:
        return makers[form[0]](*form[1:])
    except (KeyError, IndexError, TypeError, ValueError, OverflowError, RecursionError):
        raise Stop("wrong_result", "the result cannot be read") from None


def describe(error: BaseException) -> list[str]:
    """Return an exception as kind, class name and message, however odd the exception is."""
    kind = "exception"
    if isinstance(error, MemoryError):
        kind = "memory"
    elif isinstance(error, SystemExit):
        kind = "exit"
    message = ""
    with Catch():
        message = str(error)[:300]
    return [kind, type(error).__name__[:80], message]
