"""`soak.jsonl`: all that a soak saw, line by line, so that a crash loses a second at most."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Self

import orjson

from evalkit.collect.writer import JournalWriter, good_end, reason_of
from evalkit.errors import RunLocked, StoreError, UsageError

JOURNAL: Final = "soak.jsonl"
VERSION: Final = 1
_OTHER: Final = "Choose another -o, or begin anew with --fresh."

Line = Mapping[str, Any]


class SoakJournal:
    """Appends to `soak.jsonl`; one writer at a time.

    Lines: `h` head, `s` session, `r` request, `m` memory, `c` canary, `x` event. `t` is
    seconds since the load began, pauses between sessions left out.
    """

    def __init__(self, writer: JournalWriter, head: Line | None, at: float) -> None:
        self._writer = writer
        self._waiting: list[bytes] = []
        self.head = head
        self.at = at

    @classmethod
    def open(cls, folder: Path, *, fresh: bool) -> Self:
        """Open a folder's journal to go on with it; make it where there is none.

        Raises:
            StoreError: When it cannot be used, or another process writes to it.
        """
        path = folder / JOURNAL
        try:
            folder.mkdir(parents=True, exist_ok=True)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {reason_of(error)}.") from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if fresh:
                os.ftruncate(fd, 0)
            end = good_end(fd)
            os.ftruncate(fd, end)
        except BlockingIOError:
            os.close(fd)
            raise RunLocked(f"Another process writes to {path}.") from None
        except StoreError:
            os.close(fd)
            raise StoreError(f"{path} is no journal of a soak.", hint=_OTHER) from None
        head, at = None, 0.0
        if end:
            for line in read(folder):
                head = head or line
                at = max(at, float(line.get("t", 0.0)))
        return cls(JournalWriter(fd, end), head, at)

    def add(self, line: Line) -> None:
        """Take a line; `flush` writes it."""
        self._waiting.append(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def flush(self) -> None:
        """Write what waits.

        Raises:
            StoreError: When the disk takes no more.
        """
        if not self._waiting:
            return
        lines, self._waiting = b"".join(self._waiting), []
        try:
            self._writer.write(lines)
        except OSError as error:
            raise StoreError(f"{JOURNAL} cannot be written: {reason_of(error)}.") from error

    def close(self) -> None:
        """Write what waits, and bring it to the disk.

        Raises:
            StoreError: When the disk takes no more.
        """
        try:
            self.flush()
        finally:
            try:
                self._writer.close()
            except OSError as error:
                raise StoreError(f"{JOURNAL} cannot be written: {reason_of(error)}.") from error


def read(folder: Path) -> Iterator[Line]:
    """Yield the lines of a journal, its head first; a torn last line is left out.

    Raises:
        StoreError: When it is no journal of a soak.
    """
    path = folder / JOURNAL
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if not raw.endswith(b"\n"):
                    return
                line = _checked(raw)
                if line is None or (number == 1) != (line["k"] == "h"):
                    raise StoreError(
                        f"{path} is no journal of a soak: line {number} cannot be read.",
                        hint=_OTHER,
                    )
                yield line
    except FileNotFoundError:
        raise UsageError(f"There is no soak in {folder}.") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {reason_of(error)}.") from error


_NEEDED: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = {
    "h": {"version": (int,), "plan": (dict,), "identity": (dict,), "name": (str,), "label": (str,)},
    "s": {},
    "r": {"e": (int, float)},
    "m": {},
    "c": {"n": (str,), "x": (str,)},
    "x": {"s": (str,), "d": (str,)},
}


def _checked(raw: bytes) -> Line | None:
    try:
        line = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(line, dict) or line.get("k") not in _NEEDED:
        return None
    needed = dict(_NEEDED[line["k"]])
    if line["k"] != "h":
        needed["t"] = (int, float)
    known = all(
        isinstance(line.get(key), kinds) and not isinstance(line.get(key), bool)
        for key, kinds in needed.items()
    )
    return line if known and line.get("version", VERSION) == VERSION else None
