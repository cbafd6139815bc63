"""Reading the files of others: bounded, and with one sentence for everything that is off."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, cast

from pydantic_core import from_json

from evalkit.errors import LogError
from evalkit.fingerprint import digest
from evalkit.plainkeys import holds_secret, names_secret
from evalkit.types import Message

MOST_FILE: Final = 2 << 30
"""Bytes of a file that is read as a whole."""
MOST_LINE: Final = 64 << 20
"""Bytes of a line of JSON lines, and of one sample in an archive."""
_HEAD: Final = 1 << 16
_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "tool": "user",
    "assistant": "assistant",
    "model": "assistant",
}


def parse(data: bytes, where: str) -> Any:
    """Parse JSON, whatever NaN its writer put in.

    Raises:
        LogError: When it is none.
    """
    try:
        return from_json(data)
    except ValueError:
        pass
    try:
        # The standard parser knows half a character, and says better what is wrong.
        return json.loads(data)
    except json.JSONDecodeError as error:
        reason = "it is cut off" if error.pos >= len(error.doc) - 1 else error.msg
        raise LogError(f"{where} is not valid JSON: {reason}.") from None
    except (RecursionError, ValueError) as error:
        deep = isinstance(error, RecursionError)
        reason = "nested too deeply" if deep else "it is no UTF-8 text"
        raise LogError(f"{where} is not valid JSON: {reason}.") from None


def read_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises:
        LogError: When it does not, or is too large.
    """
    with opened(path) as file:
        data = file.read(MOST_FILE + 1)
    if len(data) > MOST_FILE:
        raise LogError(f"'{path}' is larger than {MOST_FILE >> 30} GiB.")
    return as_object(parse(data, f"'{path}'"), f"'{path}'")


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of JSON lines, each with the words that name its place.

    Raises:
        LogError: For a line that is none.
    """
    with opened(path) as file:
        number = 0
        while line := file.readline(MOST_LINE + 1):
            number += 1
            where = f"'{path}' line {number}"
            if len(line) > MOST_LINE:
                raise LogError(f"{where} is longer than {MOST_LINE >> 20} MiB.")
            if line.strip():
                yield where, as_object(parse(line, where), where)


def opened(path: Path) -> IO[bytes]:
    """Open a file.

    Raises:
        LogError: When it cannot be read.
    """
    try:
        return cast(IO[bytes], path.open("rb"))
    except OSError as error:
        raise LogError(f"'{path}' cannot be read: {error.strerror}.") from None


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file; nothing when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""


def first_object(path: Path) -> dict[str, Any]:
    """Return the object in the first line that holds anything; an empty one when there is none."""
    try:
        with path.open("rb") as file:
            for _ in range(100):
                line = file.readline(MOST_LINE)
                if line.strip():
                    found = from_json(line)
                    return found if isinstance(found, dict) else {}
                if not line:
                    break
    except (OSError, ValueError):
        pass
    return {}


def as_object(value: Any, where: str) -> dict[str, Any]:
    """Return an object.

    Raises:
        LogError: When it is none.
    """
    if not isinstance(value, dict):
        raise LogError(f"{where} is not a JSON object.")
    return value


def objects(value: Any, where: str) -> list[dict[str, Any]]:
    """Return a list of objects.

    Raises:
        LogError: When it is none.
    """
    if not isinstance(value, list):
        raise LogError(f"{where} is not a list.")
    return [as_object(one, f"{where}, entry {number}") for number, one in enumerate(value, 1)]


def inner(record: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return the object at a path of keys, and an empty one where there is none."""
    found: Any = record
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, dict) else {}


def text_of(value: Any) -> str | None:
    """Return a text as UTF-8 can hold it; `None` for anything else."""
    if not isinstance(value, str):
        return None
    return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")


def shown(value: Any) -> str:
    """Return anything as text for readers."""
    if value is None:
        return ""
    return text_of(value) or text_of(json.dumps(value, ensure_ascii=False)) or ""


def number_of(value: Any) -> float | None:
    """Return a finite number, true as 1 and false as 0; `None` for anything else."""
    if not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def count_of(value: Any) -> int | None:
    """Return a whole number from 0 up to what JSON holds exactly; `None` for anything else."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 1 << 53 else None


def id_of(value: Any, where: str) -> str:
    """Return an id as text.

    Raises:
        LogError: When it is none.
    """
    plain = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    if not plain:
        raise LogError(f"{where}: the id of the sample is neither text nor a whole number.")
    return text_of(str(value)) or ""


def messages_of(value: Any) -> tuple[Message, ...]:
    """Return the turns of a prompt that is a text or a list of messages; nothing for no prompt."""
    if isinstance(value, str):
        return (Message("user", text_of(value) or ""),) if value else ()
    turns = []
    for turn in value if isinstance(value, list) else ():
        if not isinstance(turn, Mapping):
            return ()
        role = _ROLES.get(str(turn.get("role", "user")))
        if role is None:
            return ()
        turns.append(Message(cast(Any, role), content_of(turn.get("content"))))
    return tuple(turns)


def content_of(value: Any) -> str:
    """Return the text of a message, whose content may come in parts; other parts by their kind."""
    if not isinstance(value, list):
        return shown(value)
    parts = []
    for part in value:
        if isinstance(part, Mapping):
            kind = str(part.get("type", "part"))
            parts.append(text_of(part.get("text")) or ("" if kind == "text" else f"[{kind}]"))
        else:
            parts.append(shown(part))
    return "\n".join(filter(None, parts))


def hash_of(value: Any) -> str:
    """Hash anything that came from JSON."""
    try:
        return digest(value)
    except (TypeError, ValueError, RecursionError):
        return hashlib.sha256(repr(value).encode("utf-8", "replace")).hexdigest()[:32]


def harmless(value: Any, name: str = "") -> Any:
    """Return settings without keys and passwords, whatever a user wrote into them."""
    from evalkit.endpoints.urls import is_url, mask_url

    if isinstance(value, Mapping):
        return {
            str(key): harmless(one, str(key))
            for key, one in value.items()
            if not names_secret(str(key))
        }
    if isinstance(value, list | tuple):
        return [harmless(one, name) for one in value]
    if isinstance(value, str):
        if is_url(value):
            return mask_url(value)
        return "…" if holds_secret(value) else text_of(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
