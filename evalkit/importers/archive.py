"""Reading members of somebody's zip archive: bounded, and in memory alone.

Inspect packs its logs with Zstandard (method 93), which Python's own `zipfile` reads from 3.14
on; the package `zstandard` does it before that.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from evalkit.errors import LogError, MissingExtraError
from evalkit.importers.reading import MOST_FILE, MOST_LINE

ZSTANDARD: Final = 93
MOST_MEMBERS: Final = 1_000_000
_LOCAL: Final = struct.Struct("<4s22xHH")
_MAGIC: Final = b"PK\x03\x04"


class Archive:
    """A zip archive, opened by `open_archive`."""

    def __init__(self, path: Path, opened: zipfile.ZipFile) -> None:
        self.path = path
        self._zip = opened
        self._unpacked_bytes = 0
        members = opened.infolist()
        if len(members) > MOST_MEMBERS:
            raise LogError(f"'{path}' holds more than {MOST_MEMBERS} files.")
        # A member that stands there twice counts as it was written last, as in a log that grew.
        self._members = {member.filename: member for member in members}

    @property
    def names(self) -> list[str]:
        """Names of the members; they are never paths of anything on disk."""
        return list(self._members)

    def read(self, name: str) -> bytes:
        """Return the content of a member.

        Raises:
            LogError: When it is not there, damaged, or larger than it may be.
            MissingExtraError: When it is packed with Zstandard and nothing here unpacks that.
        """
        where = f"'{self.path}', {name[:80]!r},"
        member = self._members.get(name)
        if member is None:
            raise LogError(f"{where} is not there.")
        self._unpacked_bytes += member.file_size
        if self._unpacked_bytes > MOST_FILE:
            raise LogError(f"'{self.path}' holds more than {MOST_FILE >> 30} GiB.")
        if member.file_size > MOST_LINE:
            raise LogError(f"{where} is larger than {MOST_LINE >> 20} MiB.")
        try:
            if member.compress_type == ZSTANDARD:
                return self._unpacked(member)
            with self._zip.open(member) as file:
                # A size that is told too small would hide what comes out.
                data = file.read(member.file_size + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, ValueError):
            raise LogError(f"{where} is damaged.") from None
        except (NotImplementedError, RuntimeError):
            raise LogError(f"{where} is packed or encrypted in a way that is not read.") from None
        return data

    def _unpacked(self, member: zipfile.ZipInfo) -> bytes:
        try:
            import zstandard
        except ModuleNotFoundError:
            raise MissingExtraError(
                f"Reading '{self.path}' (packed with Zstandard)",
                "pip install 'quant-evalkit[inspect]', or convert it: inspect log convert "
                "LOG.eval --to json --output-dir DIR",
            ) from None
        with self.path.open("rb") as file:
            file.seek(member.header_offset)
            magic, name, extra = _LOCAL.unpack(file.read(_LOCAL.size))
            if magic != _MAGIC:
                raise zipfile.BadZipFile
            file.seek(name + extra, 1)
            reader = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
            try:
                data = reader.read(member.file_size)
            except zstandard.ZstdError as error:
                raise zipfile.BadZipFile from error
        if len(data) != member.file_size or zlib.crc32(data) != member.CRC:
            raise zipfile.BadZipFile
        return bytes(data)


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open a zip archive for reading.

    Raises:
        LogError: When it is none, or damaged.
    """
    try:
        opened = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError):
        raise LogError(f"'{path}' is a damaged archive.", hint="Was it copied whole?") from None
    with opened:
        yield Archive(path, opened)
