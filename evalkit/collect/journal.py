"""The run folder: everything that one endpoint answered, safe against crashes.

`header.json` says who was asked and how, `completions.jsonl` holds one line for each
request that came to an end, `log.txt` is for people. Lines are only ever appended.
"""

from __future__ import annotations

import errno
import fcntl
import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evalkit.collect.awaited import Awaited
from evalkit.collect.reader import RESTART, JournalReader
from evalkit.collect.records import encode
from evalkit.collect.writer import JournalWriter, good_end, reason_of, write_atomic
from evalkit.endpoints.base import SERVER_LOG
from evalkit.errors import RunLocked, StoreError
from evalkit.types import Completion

HEADER, COMPLETIONS, LOG = "header.json", "completions.jsonl", "log.txt"
_DERIVED = ("scores.jsonl", "judge.json")
_KEPT = f"What was answered is still in {COMPLETIONS}. {RESTART}"

# The disk, the user's quota, the longest file that the shell or the file system allows.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_log = logging.getLogger(__name__)


class RunFolder:
    """One endpoint's run. Reading needs nothing; writing happens inside `with`.

    Attributes:
        path: The folder.
        repaired: Bytes of a torn last line that were cut off when it was opened for
            writing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.repaired = 0
        self._reader = JournalReader(path / COMPLETIONS)
        self._writer: JournalWriter | None = None

    @classmethod
    def create_or_open(cls, path: Path) -> Self:
        """Return the run folder at a path, which is made if it is not there.

        Raises:
            StoreError: When the path is something else, or holds somebody else's files.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            foreign = not is_run_folder(path) and any(
                entry.name not in {COMPLETIONS, LOG, SERVER_LOG} for entry in path.iterdir()
            )
        except OSError as error:
            raise StoreError(f"{path} cannot be a run folder: {reason_of(error)}.") from error
        if foreign:
            raise StoreError(
                f"{path} holds other files and is no run folder.", hint="Choose another --output."
            )
        return cls(path)

    @property
    def log_path(self) -> Path:
        """Where people find what happened."""
        return self.path / LOG

    @property
    def completions_path(self) -> Path:
        """The journal itself."""
        return self.path / COMPLETIONS

    def read_header(self) -> Mapping[str, Any] | None:
        """Return the header, or `None` while there is none.

        Raises:
            StoreError: When it cannot be read.
        """
        path = self.path / HEADER
        try:
            header = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            what = "is empty" if _is_empty(path) else f"cannot be read: {error}"
            raise StoreError(f"{path} {what}.", hint=_KEPT) from error
        if not isinstance(header, dict):
            raise StoreError(f"{path} is not the header of a run.", hint=_KEPT)
        return header

    def write_header(self, header: Mapping[str, Any]) -> None:
        """Replace the header as a whole, or leave it as it was.

        Raises:
            StoreError: When it cannot be written.
        """
        text = json.dumps(header, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
        try:
            write_atomic(self.path / HEADER, [text.encode("utf-8", "replace"), b"\n"])
        except OSError as error:
            raise StoreError(f"{self.path / HEADER}: {reason_of(error)}.") from error

    def records(self) -> Iterator[Completion]:
        """Yield every record in the order of writing, failed earlier tries included.

        Raises:
            StoreError: For a line that is no record, naming it.
        """
        return self._reader.records()

    def completions(self, asked: Awaited | None = None) -> Iterator[Completion]:
        """Yield one record for each request: its answer, or else its last failure.

        Args:
            asked: Only those with these fingerprints; it is used up.

        Raises:
            StoreError: For a line that is no record, naming it.
        """
        return self._reader.completions(asked)

    def located(self, asked: Awaited) -> Iterator[tuple[int, Completion]]:
        """Yield what `completions` does, each with the place at which `at` finds it again."""
        return self._reader.located(asked)

    def at(self, starts: Iterable[int]) -> Iterator[Completion]:
        """Yield the records at some places.

        Raises:
            StoreError: When there is none, or the journal cannot be read.
        """
        return self._reader.at(starts)

    def answered(self) -> set[str]:
        """Return the fingerprints that have an answer.

        Raises:
            StoreError: For a line that is no record, naming it.
        """
        return {record.fingerprint for record in self.records() if record.error is None}

    def append(self, *completions: Completion) -> None:
        """Write records by one write; they survive the death of this process from here on.

        Raises:
            StoreError: When they cannot be written (disk full, say): fatal, at once.
        """
        if self._writer is None:
            raise RuntimeError("a run folder is written inside 'with'")
        try:
            self._writer.write(b"".join(map(encode, completions)))
        except OSError as error:
            raise self._unwritten(error) from error

    def discard(self) -> None:
        """Throw away header, records and scores, inside `with` (`--fresh`).

        Raises:
            StoreError: When they cannot be removed.
        """
        if self._writer is None:
            raise RuntimeError("a run folder is written inside 'with'")
        try:
            for name in (HEADER, *_DERIVED):
                (self.path / name).unlink(missing_ok=True)
            self._writer.truncate(0)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be emptied: {reason_of(error)}.") from error

    def __enter__(self) -> Self:
        """Lock the folder for writing and cut off a torn last line.

        Raises:
            RunLocked: When another process writes to it.
            StoreError: When it cannot be written, or its journal is not one.
        """
        try:
            fd = os.open(self.completions_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {reason_of(error)}.") from error
        try:
            self._lock(fd)
            end, size = good_end(fd), os.fstat(fd).st_size
            self.repaired = size - end
            self._writer = JournalWriter(fd, end)
            if self.repaired:
                self._writer.truncate(end)
                _log.warning("%s: cut off a torn last line (%d bytes)", self.path, self.repaired)
        except OSError as error:
            os.close(fd)
            raise StoreError(f"{self.path} cannot be written: {reason_of(error)}.") from error
        except StoreError:
            os.close(fd)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Bring everything to the disk and release the lock.

        Raises:
            StoreError: When the disk did not take it.
        """
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            writer.close()
        except OSError as failed:
            raise self._unwritten(failed) from failed

    def _unwritten(self, error: OSError) -> StoreError:
        full = error.errno in _FULL
        room = "Make room on that disk, or choose an --output on another one. " if full else ""
        return StoreError(
            f"{self.completions_path} cannot be written: {reason_of(error)}.",
            hint=f"{room}What was answered so far is kept; the same command goes on from there.",
        )

    def _lock(self, fd: int) -> None:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunLocked(
                f"Another process writes to {self.path}.",
                hint="Wait for it, or choose another --output.",
            ) from error


def is_run_folder(path: Path) -> bool:
    """Whether a path is a folder with the header of a run."""
    return (path / HEADER).is_file()


def open_run(path: Path) -> RunFolder:
    """Open a run folder for reading.

    Raises:
        StoreError: When it is none.
    """
    if not path.exists():
        raise StoreError(f"{path} does not exist.")
    if not is_run_folder(path):
        if (path / COMPLETIONS).is_file():
            raise StoreError(f"{path} holds answers, but its {HEADER} is missing.", hint=_KEPT)
        raise StoreError(f"{path} is not a run folder: it has no {HEADER}.")
    folder = RunFolder(path)
    folder.read_header()
    return folder


def _is_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0
