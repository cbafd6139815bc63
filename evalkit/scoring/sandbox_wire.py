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


# Classes that a test may hand over, as in `only(values, int)`.
_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(bool, int, float, complex, str, bytes, range),
        *(list, tuple, dict, set, frozenset, type(None)),
    )
}


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


def encode(value: Any, other: Callable[[Any], Any]) -> Any:
    """Return a JSON form of a value that keeps its type.

    Args:
        value: Plain values, and containers of them.
        other: Gives the form of what is neither.
    """
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
        return ["dict", [[encode(k, other), encode(v, other)] for k, v in value.items()]]
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            return [kind.__name__, [encode(item, other) for item in value]]
    if isinstance(value, (types.GeneratorType, map, filter, zip, reversed)):
        items = itertools.islice(value, MAX_ITEMS)
        return ["iterator", [encode(item, other) for item in items]]
    if isinstance(value, type) and _TYPES.get(value.__name__) is value:
        return ["type", value.__name__]
    return other(value)


def decode(form: Any, other: Callable[..., Any]) -> Any:
    """Return the value of a form made by `encode`, or by something hostile.

    Args:
        form: What came over the pipe.
        other: Makes a value from the parts of a form "object".

    Raises:
        Stop: When the form is not one that `encode` makes.
    """
    if not isinstance(form, list):
        return form

    def items(forms: Any) -> list[Any]:
        return [decode(item, other) for item in forms]

    makers: dict[str, Callable[..., Any]] = {
        "int": lambda digits: int(digits, 16),
        "float": float.fromhex,
        "complex": lambda re, im: complex(float.fromhex(re), float.fromhex(im)),
        "bytes": bytes.fromhex,
        "range": range,
        "dict": lambda pairs: {decode(k, other): decode(v, other) for k, v in pairs},
        "list": items,
        "tuple": lambda forms: tuple(items(forms)),
        "set": lambda forms: set(items(forms)),
        "frozenset": lambda forms: frozenset(items(forms)),
        "iterator": lambda forms: iter(items(forms)),
        "type": _TYPES.__getitem__,
        "object": other,
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
