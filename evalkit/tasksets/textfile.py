"""Reading text files that people made: whatever an editor or a spreadsheet saved.

UTF-8 with or without a byte order mark, and UTF-16 or UTF-32 as told by their mark or by
their zero bytes, are read. Anything else is not guessed at: the same bytes are text in many
encodings. The error says where, and what they look like.
"""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TextIO, cast

from evalkit.errors import TasksetError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # Before UTF-16: its mark begins with that one.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BY_ZEROS = {"x0x0": "utf-16-le", "0x0x": "utf-16-be", "x000": "utf-32-le", "000x": "utf-32-be"}
_GZIP = b"\x1f\x8b"
_SPREADSHEET = b"PK\x03\x04"
_BLOCK = 1 << 16


@contextmanager
def open_text(
    path: Path, encoding: str | None = None, *, newline: str = "\n", nameable: bool = False
) -> Iterator[TextIO]:
    """Open a text file for reading, without changing a character.

    Args:
        path: A file, possibly compressed by gzip.
        encoding: As somebody says; by default as the first bytes show.
        newline: What ends a line; by default a line feed alone, and with `""` a carriage
            return too.
        nameable: Whether who wrote the file may say its encoding; a hint then says where.

    Raises:
        TasksetError: When it cannot be read, or is not text in that encoding: also from
            within the block, with the line.
    """
    try:
        with _open_bytes(path) as raw:
            chosen = encoding or _encoding(raw, path)
            # str.splitlines would also cut at U+2028 in a text.
            with io.TextIOWrapper(raw, encoding=chosen, newline=newline) as text:
                yield text
    except UnicodeError:
        raise _not_text(path, chosen, encoding is not None, nameable) from None
    except (EOFError, gzip.BadGzipFile):
        raise TasksetError(f"'{path}' is a damaged gzip file.") from None
    except OSError as error:
        raise TasksetError(f"'{path}' cannot be read: {error.strerror or error}.") from None


def read_text(path: Path, encoding: str | None = None) -> str:
    """Read a whole text file.

    Raises:
        TasksetError: As `open_text` does.
    """
    with open_text(path, encoding) as text:
        return text.read()


@contextmanager
def _open_bytes(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as raw:
        if raw.peek(2)[:2] == _GZIP:
            with gzip.open(raw) as plain:
                yield cast(IO[bytes], plain)
        else:
            yield raw


def _encoding(raw: IO[bytes], path: Path) -> str:
    head = cast(io.BufferedReader, raw).peek(8)[:8]
    if head.startswith(_SPREADSHEET):
        raise TasksetError(
            f"'{path}' is a spreadsheet or an archive, not text.",
            hint="Save the table as CSV in UTF-8.",
        )
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    # Records begin with ASCII, of which UTF-16 and UTF-32 write the zero bytes too.
    zeros = "".join("0" if byte == 0 else "x" for byte in head[:4])
    return _BY_ZEROS.get(zeros, "utf-8")


def _not_text(path: Path, encoding: str, told: bool, nameable: bool) -> TasksetError:
    """Say where a file stops to be text, and what it may be instead."""
    name = encoding.upper().removesuffix("-SIG")
    line = _bad_line(path, encoding)
    if told:
        return TasksetError(
            f"'{path}' line {line} is not {name} text.",
            hint="Its taskset.yaml or head names that encoding.",
        )
    hint = "Save the file as UTF-8."
    if encoding.startswith("utf-8") and _decodes(path, "gb18030"):
        named = ", or write 'encoding: gb18030' in its taskset.yaml or head" if nameable else ""
        hint = f"It looks like Chinese text in GBK: save the file as UTF-8{named}."
    return TasksetError(f"'{path}' line {line} is not {name} text.", hint=hint)


def _bad_line(path: Path, encoding: str) -> int:
    """Return the line in which decoding first fails."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    for block in _blocks(path):
        try:
            line += decoder.decode(block).count("\n")
        except UnicodeError as error:
            start = getattr(error, "start", 0)
            good = getattr(error, "object", b"")[:start]
            return line + good.decode(encoding, errors="ignore").count("\n")
    return line


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for block in _blocks(path):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _blocks(path: Path) -> Iterator[bytes]:
    with _open_bytes(path) as raw:
        while block := raw.read(_BLOCK):
            yield block
