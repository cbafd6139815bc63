"""Server-sent events, as the WHATWG HTML standard (9.2.5, 9.2.6) reads them.

Two things are kept that the standard throws away: an event that the end of the stream cuts
off (llama.cpp ends `data: [DONE]` without an empty line), and a field named `error`, which
llama.cpp used until September 2025 for what went wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event with data. `name` is empty unless the stream gives one."""

    name: bytes
    data: bytes


class EventParser:
    """Turns the parts of a stream into events, however it was cut into parts.

    It works on bytes: no line end is a part of another UTF-8 character, so that a character
    that is cut in two is whole again before anybody reads it.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._name = b""
        self._data: list[bytes] = []
        self._started = False

    def feed(self, part: bytes) -> list[ServerEvent]:
        """Take the next part; return the events that are complete now."""
        self._rest += part
        if b"\n" not in part and b"\r" not in part and not self._rest.endswith(b"\r"):
            return []
        lines = bytes(self._rest).splitlines(keepends=True)
        # Whether a last CR is a line end or the half of one, only the next part tells.
        self._rest = bytearray() if lines[-1].endswith(b"\n") else bytearray(lines.pop())
        return self._take(lines)

    def close(self) -> list[ServerEvent]:
        """Say that the stream has ended; return what was begun."""
        lines = bytes(self._rest).splitlines(keepends=True)
        self._rest.clear()
        return self._take([*lines, b"\n"])

    def _take(self, lines: list[bytes]) -> list[ServerEvent]:
        events: list[ServerEvent] = []
        for raw in lines:
            line = raw.rstrip(b"\r\n")
            if not self._started:
                self._started = True
                line = line.removeprefix(_BOM)
            if line:
                self._field(line)
            elif self._data:
                events.append(ServerEvent(self._name, b"\n".join(self._data)))
                self._name, self._data = b"", []
            else:
                self._name = b""
        return events

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value
        elif name == b"error":
            self._name = name
            self._data.append(value)
