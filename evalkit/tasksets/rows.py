"""The rows of a taskset: what one may hold, and reading them from JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_core import from_json

from evalkit.errors import TasksetError
from evalkit.tasksets.head import Head
from evalkit.tasksets.targets import target_problem
from evalkit.types import Language
from evalkit.yamlfile import Checked, explain_validation


class Turn(Checked):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class Row(Checked):
    """One sample as it is written down: `input` or `messages`, never both."""

    id: str = Field(min_length=1)
    language: Language
    category: str = ""
    input: str | None = None
    messages: tuple[Turn, ...] = ()
    target: dict[str, Any]
    cluster: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


def json_rows(
    lines: Iterable[str], head: Head, file: str, first: int = 1
) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a JSONL file with their lines.

    Args:
        lines: Of the file, as they end.
        head: Says which key holds what, and what the scorer needs to know.
        file: Names it in errors.
        first: Number of the first line.

    Raises:
        TasksetError: Names the file and line.
    """
    for number, line in enumerate(lines, start=first):
        if not line.strip():
            continue
        where = f"{file} line {number}"
        loaded = parse_object(line, where)
        if head.columns or head.defaults or head.lists:
            loaded = mapped(loaded, head, where)
        yield number, checked(loaded, head, where, escaped="\\u" in line)


def parse_object(line: str, where: str) -> dict[str, Any]:
    """Parse a line that should hold one JSON object.

    Raises:
        TasksetError: When it does not.
    """
    try:
        loaded = _parse(line)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise TasksetError(f"{where} is not valid JSON: {reason}.") from None
    except ValueError as error:
        raise TasksetError(f"{where} is not valid JSON: {error}.") from None
    if not isinstance(loaded, dict):
        raise TasksetError(f"{where} is not a JSON object.")
    return loaded


def checked(raw: Mapping[str, Any], head: Head, where: str, *, escaped: bool = True) -> Row:
    """Check one row.

    Args:
        raw: Its fields.
        head: Of its taskset.
        where: Names file and line in errors.
        escaped: Whether it may hold half a character: a file's text cannot, an escape can.

    Raises:
        TasksetError: For anything that a sample cannot be made of.
    """
    try:
        row = Row.model_validate(raw)
    except ValidationError as error:
        message, hint = explain_validation(error, where, Row)
        raise TasksetError(message, hint=hint) from None
    if escaped and not is_text(row.model_dump()):
        raise TasksetError(f"{where} holds half a character (a lone surrogate).")
    if (row.input is None) == (not row.messages):
        raise TasksetError(f"{where} needs either 'input' or 'messages'.")
    problem = target_problem(head.scorer, row.target)
    if problem is not None:
        raise TasksetError(
            f"Key 'target' in {where}: {problem}.", hint="The README says what each scorer needs."
        )
    return row


def mapped(given: Mapping[str, Any], head: Head, where: str) -> dict[str, Any]:
    """Give values their fields, as a head says: its columns, lists and defaults.

    A value that is missing, `None` or empty text takes the default; without one the field
    is left out, so that its own rule is what is told.

    Raises:
        TasksetError: When a field and the whole that it belongs to are both given.
    """
    columns = head.columns
    taken = set(columns.values())
    fields = {field: given.get(column) for field, column in columns.items()}
    if not columns:
        fields = dict(given)
    else:
        # A field's own name is its column where the head names no other.
        fields |= {
            name: value
            for name, value in given.items()
            if name not in taken and name not in columns and _own(name)
        }
    row: dict[str, Any] = {}
    for field in dict.fromkeys((*fields, *head.defaults)):
        value = fields.get(field)
        if value is None or value == "":
            value = head.defaults.get(field)
        if value is None:
            continue
        separator = head.lists.get(field)
        if separator is not None and isinstance(value, str):
            value = [item.strip() for item in value.split(separator) if item.strip()]
        _put(row, field, value, where)
    return row


def _own(name: str) -> bool:
    return name in Row.model_fields or name.startswith(("target.", "metadata."))


def _put(row: dict[str, Any], field: str, value: Any, where: str) -> None:
    group, dot, key = field.partition(".")
    if not dot:
        if isinstance(row.get(field), dict):
            raise TasksetError(f"{where} gives '{field}' as a whole and in parts.")
        row[field] = value
        return
    whole = row.setdefault(group, {})
    if not isinstance(whole, dict) or key in whole:
        raise TasksetError(f"{where} gives '{group}' as a whole and in parts.")
    whole[key] = value


def _parse(line: str) -> Any:
    """Parse JSON so that rows share their keys and short words: half the memory of a row."""
    try:
        return from_json(line, cache_strings="all")
    except ValueError:
        # The standard parser has the last word, and a better one on what is wrong.
        return json.loads(line)


def is_text(value: Any) -> bool:
    """Whether all strings of a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
