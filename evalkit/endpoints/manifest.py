"""The hashes of a checkpoint's files: what was tested is what is shipped."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evalkit.errors import StoreError

MANIFEST_VERSION: Final = 1
_HINT: Final = "Make one with: evalkit check --write-manifest DIR > manifest.json"


@dataclass(frozen=True, slots=True)
class FileHash:
    """One file: its path from the folder, with slashes; its bytes; their SHA-256.

    Attributes:
        link: Whether it is a symbolic link to its bytes, as in the hub's cache.
    """

    path: str
    size: int
    sha256: str
    link: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """How a file is not what the manifest says: `missing`, `extra`, `changed` or `link`."""

    path: str
    kind: str
    message: str


def hash_files(path: Path) -> list[FileHash]:
    """Hash a file, or every file below a folder, in the order of their paths.

    Links to files are followed, links to folders are not.

    Raises:
        StoreError: When something cannot be read, holds no file, or is neither file nor folder.
    """
    try:
        found = [_hash(file, name) for name, file in _walk(path)]
    except OSError as error:
        where = error.filename or path
        raise StoreError(f"{where} cannot be read: {error.strerror or error}.") from error
    if not found:
        raise StoreError(f"{path} holds no file.")
    return found


def manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a file or folder: equal for equal content, wherever it lies.

    Raises:
        StoreError: See `hash_files`.
    """
    rows = []
    for file in hash_files(path):
        row: dict[str, Any] = {"path": file.path, "size": file.size, "sha256": file.sha256}
        rows.append({**row, "link": True} if file.link else row)
    return {"manifest_version": MANIFEST_VERSION, "algorithm": "sha256", "files": rows}


def read_manifest(path: Path) -> list[FileHash]:
    """Read a manifest.

    Raises:
        StoreError: When it cannot be read or is none.
    """
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError):
        raise StoreError(f"{path} is not a manifest: it is no JSON.", hint=_HINT) from None
    if not isinstance(data, Mapping) or data.get("manifest_version") != MANIFEST_VERSION:
        raise StoreError(f"{path} is not a manifest of version {MANIFEST_VERSION}.", hint=_HINT)
    try:
        rows = [
            FileHash(
                str(row["path"]), int(row["size"]), str(row["sha256"]), bool(row.get("link", False))
            )
            for row in data["files"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise StoreError(f"{path} is not a manifest: its list of files is off.") from None
    if not rows:
        raise StoreError(f"{path} is a manifest of nothing.", hint=_HINT)
    return rows


def verify(path: Path, expected: list[FileHash]) -> list[Difference]:
    """Compare files with a manifest; sizes first, so that a wrong file costs no hashing.

    Raises:
        StoreError: When something cannot be read.
    """
    differences = []
    try:
        there = dict(_walk(path))
        wanted = {file.path: file for file in expected}
        for name in sorted(wanted.keys() - there.keys()):
            differences.append(Difference(name, "missing", f"{name} is missing."))
        for name in sorted(there.keys() - wanted.keys()):
            differences.append(Difference(name, "extra", f"{name} is not in the manifest."))
        for name in sorted(wanted.keys() & there.keys()):
            differences += _compare(there[name], wanted[name])
    except OSError as error:
        where = error.filename or path
        raise StoreError(f"{where} cannot be read: {error.strerror or error}.") from error
    return differences


def _compare(file: Path, wanted: FileHash) -> Iterator[Difference]:
    name = wanted.path
    size = file.stat().st_size
    if size != wanted.size:
        yield Difference(name, "changed", f"{name} has {size} bytes, not {wanted.size}.")
    elif _hash(file, name).sha256 != wanted.sha256:
        yield Difference(name, "changed", f"{name} holds other bytes of the same length.")
    if file.is_symlink() != wanted.link:
        now = "is a link now" if file.is_symlink() else "is no link any more"
        yield Difference(name, "link", f"{name} {now}.")


def _walk(path: Path) -> list[tuple[str, Path]]:
    """Return every file below a folder by its name in a manifest, sorted; or the file itself.

    Raises:
        FileNotFoundError: For what is not there, broken links included.
    """
    if path.is_file():
        return [(path.name, path)]
    found: list[tuple[str, Path]] = []
    for folder, _, names in os.walk(path, onerror=_raise):
        for name in names:
            file = Path(folder) / name
            file.stat()
            if file.is_file():
                found.append((file.relative_to(path).as_posix(), file))
    return sorted(found)


def _raise(error: OSError) -> None:
    raise error


def _hash(file: Path, name: str) -> FileHash:
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    return FileHash(name, file.stat().st_size, digest, file.is_symlink())
