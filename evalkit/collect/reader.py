"""Reading a journal: line by line, so that memory never holds its texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from evalkit.collect.awaited import Awaited
from evalkit.collect.records import decode
from evalkit.collect.writer import reason_of
from evalkit.errors import StoreError
from evalkit.types import Completion

RESTART = "Move the folder away, or use --fresh to throw its answers away and ask again."


class JournalReader:
    """The records of a journal. A last line without an end may be in the making: left out."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def records(self) -> Iterator[Completion]:
        """Yield every record in the order of writing.

        Raises:
            StoreError: For a line that is no record, naming it.
        """
        return (record for _, record in self._lines())

    def completions(self, asked: Awaited | None = None) -> Iterator[Completion]:
        """Yield one record for each request: its answer, or else its last failure.

        Answers come in the order of writing, and the failures after them. Memory holds one
        fingerprint for each request.

        Args:
            asked: Only those with these fingerprints; each is taken out when it is answered.

        Raises:
            StoreError: For a line that is no record, naming it.
        """
        return (record for _, record in self.located(asked))

    def located(self, asked: Awaited | None = None) -> Iterator[tuple[int, Completion]]:
        """Yield what `completions` does, each with the place at which `at` finds it again."""
        return first_answers(self._lines(), asked, self.at)

    def _lines(self) -> Iterator[tuple[int, Completion]]:
        """Yield where each whole line starts, and what it says."""
        start = 0
        with self._reading() as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield start, decode(line)
                except StoreError as error:
                    where = f"{self._path}, line {number}"
                    raise StoreError(
                        f"{where}: {error.message}", hint=_after_good_lines(number - 1)
                    ) from error
                start += len(line)

    def at(self, starts: Iterable[int]) -> Iterator[Completion]:
        """Yield the records at some places.

        Raises:
            StoreError: When there is none, or the journal cannot be read.
        """
        with self._reading() as lines:
            for start in starts:
                lines.seek(start)
                yield decode(lines.readline())

    @contextmanager
    def _reading(self) -> Iterator[BinaryIO]:
        try:
            lines: BinaryIO = self._path.open("rb")
        except FileNotFoundError:
            lines = BytesIO()
        except OSError as error:
            raise self._unreadable(error) from error
        with lines:
            try:
                yield lines
            except OSError as error:
                raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> StoreError:
        return StoreError(f"{self._path}: {reason_of(error)}.")


def first_answers(
    records: Iterable[tuple[int, Completion]],
    asked: Awaited | None,
    at: Callable[[Iterable[int]], Iterable[Completion]],
) -> Iterator[tuple[int, Completion]]:
    """Yield one record for each request, with its place: its answer, or else its last failure.

    Args:
        records: With their places, in the order of writing.
        asked: As for `JournalReader.completions`.
        at: Finds the records at some places again.
    """
    answered: set[str] = set()
    failed: dict[str, int] = {}
    for start, record in records:
        fingerprint = record.fingerprint
        if record.error is not None:
            if fingerprint not in answered if asked is None else fingerprint in asked:
                failed[fingerprint] = start
            continue
        # The first answer stays: whatever was scored from it stays true.
        if asked is not None and not asked.tick(fingerprint):
            continue
        if asked is None:
            if fingerprint in answered:
                continue
            answered.add(fingerprint)
        failed.pop(fingerprint, None)
        yield start, record
    starts = sorted(failed.values())
    yield from zip(starts, at(starts), strict=True)


def _after_good_lines(count: int) -> str:
    if count == 0:
        return RESTART
    lines = "line before it is" if count == 1 else f"{count} lines before it are"
    return f"The {lines} whole and still there. {RESTART}"
