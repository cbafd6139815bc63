"""Bytes to disk: appending so that nothing is lost, and replacing as a whole."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import orjson

from evalkit.errors import StoreError

SYNC_SECONDS = 1.0
_BLOCK = 1 << 16


class JournalWriter:
    """Appends whole lines to a file.

    Lines are with the operating system when `write` returns, so that they survive the death
    of this process; a thread brings them to the disk each second, so that at most a
    second's work is lost when the machine dies.
    """

    def __init__(self, fd: int, end: int) -> None:
        self._fd = fd
        self._end = end
        self._dirty = False
        self._failed: OSError | None = None
        self._told = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._sync_often, daemon=True, name="journal-sync")
        self._thread.start()

    def write(self, lines: bytes) -> None:
        """Append lines by one write; when the disk takes only a part, the whole lines of it.

        Raises:
            OSError: When the disk is full or fails, now or in the thread. From then on
                nothing more is written: a caller that tries again would write lines twice.
        """
        if self._failed is not None:
            self._told = True
            raise self._failed
        view, written = memoryview(lines), 0
        try:
            while written < len(lines):
                written += os.pwrite(self._fd, view[written:], self._end + written)
        except OSError as error:
            self._failed, self._told = error, True
            # Where even cutting fails, the next opening repairs the torn line.
            with suppress(OSError):
                self.truncate(self._end + lines.rfind(b"\n", 0, written) + 1)
            raise
        self._end += written
        self._dirty = True

    def truncate(self, end: int) -> None:
        """Cut the file off.

        Raises:
            OSError: When the disk fails.
        """
        os.ftruncate(self._fd, end)
        self._end = end

    def close(self) -> None:
        """Bring everything to the disk; close the file, and with it the lock.

        Raises:
            OSError: When the disk fails, now or before, unless `write` said so.
        """
        self._closing.set()
        self._thread.join()
        try:
            os.fsync(self._fd)
        except OSError as error:
            self._failed = self._failed or error
        finally:
            os.close(self._fd)
        if self._failed is not None and not self._told:
            raise self._failed

    def _sync_often(self) -> None:
        while not self._closing.wait(SYNC_SECONDS):
            if not self._dirty:
                continue
            self._dirty = False
            try:
                os.fsync(self._fd)
            except OSError as error:
                self._failed = error
                return


def good_end(fd: int) -> int:
    """Return where the last whole line of a journal ends.

    After a crash of the process the last line may lack its end; after one of the machine
    the last lines may be anything.

    Raises:
        StoreError: When no line is whole: this is no journal, and nothing of it may be cut.
    """
    whole = end = _line_start(fd, os.fstat(fd).st_size)
    while end > 0:
        start = _line_start(fd, end - 1)
        try:
            orjson.loads(os.pread(fd, end - start, start))
        except orjson.JSONDecodeError:
            end = start
        else:
            return end
    if whole > 0:
        raise StoreError(
            "completions.jsonl is not a journal: no line of it can be read.",
            hint="Move the folder away.",
        )
    return 0


def _line_start(fd: int, end: int) -> int:
    """Return the position after the last newline before `end`, or 0."""
    while end > 0:
        begin = max(0, end - _BLOCK)
        found = os.pread(fd, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def reason_of(error: OSError) -> str:
    """Return why the disk failed, in the system's words and without a path."""
    return error.strerror or str(error)


def write_atomic(path: Path, parts: Iterable[bytes]) -> None:
    """Replace a file, so that after a crash the old or the new one is there, whole.

    Who may read it is the umask's matter, as for every file that a program makes.

    Args:
        path: The file.
        parts: What it will hold, written as it comes.

    Raises:
        OSError: When it cannot be written; the old file stays.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with os.fdopen(fd, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
