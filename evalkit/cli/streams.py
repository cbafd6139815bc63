"""Standard output that may be closed, full, or read by somebody who leaves early."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, TextIO

from evalkit.errors import StoreError


class Output:
    """Standard output, forgiving a reader who left.

    The exit code is a verdict: `evalkit compare … | head -1` must not turn it into a fault,
    and still less into a pass.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._left = False
        self._failure: StoreError | None = None

    def write(self, text: str) -> int:
        """Write, unless nobody reads any more.

        Raises:
            StoreError: When the device is full or fails.
        """
        self._attempt(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Flush, unless nobody reads any more.

        Raises:
            StoreError: When the device is full or fails.
        """
        self._attempt(self._stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _attempt(self, work: Any) -> None:
        # Said again each time: whoever only probes the stream may have swallowed it.
        if self._failure is not None:
            raise self._failure
        if self._left:
            return
        try:
            work()
        except BrokenPipeError:
            self._leave()
        except OSError as error:
            self._leave()
            self._failure = StoreError(
                f"The result cannot be written to standard output: {error.strerror}."
            )
            raise self._failure from None

    def _leave(self) -> None:
        # What is still buffered would raise once more when Python ends.
        self._left = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


def open_missing_streams() -> None:
    """Give closed standard descriptors a place: event loops abort on a socket among 0 to 2."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or _null()
    sys.stderr = sys.stderr or _null()


def _null() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def terminal_width() -> int:
    """Return the columns of the terminal; 100 where there is none."""
    return shutil.get_terminal_size((100, 24)).columns


def terminal_color() -> bool:
    """Whether colours may be written to standard output."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
