"""Files to which lines are only ever added, each holding the hash of the one before.

A line that is changed or taken out is noticed. That guards against accidents, not against
intent: who rewrites the whole file makes a sound one.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from evalkit.errors import StoreError
from evalkit.fingerprint import canonical, digest

HASH, PREVIOUS, TIME = "hash", "previous", "time"


@dataclass(frozen=True, slots=True)
class Chain:
    """What such a file holds, the oldest first.

    Attributes:
        path: It need not be there yet.
        entries: Each with `hash`, `previous` and `time` beside its own content.
        broken: What to do when a line is not as it was written.
    """

    path: Path
    entries: tuple[Mapping[str, Any], ...]
    broken: str

    @classmethod
    def read(cls, path: Path, broken: str) -> Self:
        """Read and check a file.

        A last line without an end was never finished, and does not count.

        Raises:
            StoreError: When it cannot be read, or a line does not follow from the one before.
        """
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return cls(path, (), broken)
        except OSError as error:
            raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
        return cls(path, tuple(_checked(path, data[: data.rfind(b"\n") + 1], broken)), broken)

    def add(self, content: Mapping[str, Any]) -> Self:
        """Write one line and bring it to the disk.

        Returns:
            The chain with it.

        Raises:
            StoreError: When it cannot be written, or another process has written meanwhile.
        """
        return self.append(self.path, self.broken, content, self._require_unmoved)

    @classmethod
    def append(
        cls,
        path: Path,
        broken: str,
        content: Mapping[str, Any],
        agree: Callable[[Self], None],
    ) -> Self:
        """Write one line after whatever is there, one writer after the other.

        Args:
            path: Of the file.
            broken: What to do when a line is not as it was written.
            content: Of the line.
            agree: Raises when the line must not follow what is there.

        Raises:
            StoreError: When it cannot be read or written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                found = cls.read(path, broken)
                agree(found)
                entry = found._next(content)
                whole = path.read_bytes().rfind(b"\n") + 1
                os.ftruncate(file.fileno(), whole)
                file.write(canonical(entry).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}.") from error
        return cls(path, (*found.entries, entry), broken)

    def _next(self, content: Mapping[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = {**content, PREVIOUS: self._last(), TIME: now}
        return {**entry, HASH: digest(entry)}

    def _last(self) -> str:
        return str(self.entries[-1][HASH]) if self.entries else ""

    def _require_unmoved(self, found: Self) -> None:
        if found._last() != self._last():
            raise StoreError(
                f"Another process wrote to {self.path}.", hint="Run the same command again."
            )


def content_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry without its place in the chain."""
    return {key: value for key, value in entry.items() if key not in (HASH, PREVIOUS, TIME)}


def _checked(path: Path, data: bytes, broken: str) -> Iterator[Mapping[str, Any]]:
    previous = ""
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            entry = json.loads(line)
            own = entry.pop(HASH)
            sound = own == digest(entry) and entry[PREVIOUS] == previous
        except (ValueError, KeyError, AttributeError, TypeError):
            sound = False
        if not sound:
            raise StoreError(
                f"{path} was changed: line {number} is not as it was written.", hint=broken
            )
        previous = own
        yield {**entry, HASH: own}
