"""What a public format is, and how its records are read.

Ids are those of the set; a set that has none is numbered by its rows from 0, as lm-eval and
the sets' own papers do.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalkit.errors import TasksetError
from evalkit.registry import Registry
from evalkit.tasksets.head import Head
from evalkit.tasksets.jsonl import taskset_of
from evalkit.tasksets.rows import Row, checked, parse_object
from evalkit.tasksets.textfile import open_text
from evalkit.types import Taskset

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Located:
    """One record of a file, and where it stands.

    Attributes:
        place: Among the records, from 0.
        where: Names file and line in errors.
    """

    record: Record
    place: int
    where: str

    def text(self, *names: str) -> str:
        """Return the first of these fields that is there, as text.

        Raises:
            TasksetError: When none is.
        """
        for name in names:
            value = self.record.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
                return str(value)
        raise TasksetError(
            f"{self.where} has no '{names[0]}'.", hint="Is the file of another format?"
        )

    def id(self, *names: str) -> str:
        """Return the record's own id, or else its place."""
        given = (self.record.get(name) for name in names)
        return next((str(value) for value in given if value not in (None, "")), str(self.place))


@dataclass(frozen=True, slots=True)
class Format:
    """A public format.

    Attributes:
        head: Of the tasksets that are made of it.
        records: From a file to its records.
        row: From a record to the fields of a row.
    """

    head: Head
    records: Callable[[Path], Iterator[Located]]
    row: Callable[[Located], dict[str, Any]]


FORMATS: Registry[Format] = Registry(
    "format",
    {
        name: f"evalkit.tasksets.formats.{name}"
        for name in (
            "gsm8k",
            "halluqa",
            "humaneval",
            "ifeval",
            "math",
            "mbpp",
            "simpleqa",
            "truthfulqa",
        )
    },
)


def load_published(form: str, path: Path) -> Taskset:
    """Make a taskset of a public set's own file.

    Args:
        form: Name of the format.
        path: The file, possibly compressed by gzip.

    Raises:
        UnknownNameError: For a format that is not known.
        TasksetError: Names file and line.
    """
    chosen = FORMATS.get(form)
    return taskset_of(chosen.head, path, f"{form}:{path}", _rows(chosen, path))


def _rows(form: Format, path: Path) -> Iterator[Row]:
    seen: dict[str, str] = {}
    for located in form.records(path):
        row = checked({"language": "en", **form.row(located)}, form.head, located.where)
        if row.id in seen:
            raise TasksetError(f"{located.where}: id '{row.id}' stands already in {seen[row.id]}.")
        seen[row.id] = located.where
        yield row


def json_lines(path: Path) -> Iterator[Located]:
    """Yield the records of a JSONL file."""
    place = 0
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                where = f"'{path}' line {number}"
                yield Located(parse_object(line, where), place, where)
                place += 1


def json_list(path: Path) -> Iterator[Located]:
    """Yield the records of a JSON array, or of JSON lines."""
    with open_text(path) as text:
        first = text.read(1)
        while first.isspace():
            first = text.read(1)
        whole = first + text.read() if first == "[" else ""
    if first != "[":
        yield from json_lines(path)
        return
    try:
        records = json.loads(whole)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise TasksetError(f"'{path}' is not valid JSON: {reason}.") from None
    for place, record in enumerate(records):
        where = f"'{path}' record {place + 1}"
        if not isinstance(record, dict):
            raise TasksetError(f"{where} is not a JSON object.")
        yield Located(record, place, where)


def csv_records(path: Path, columns: Sequence[str]) -> Iterator[Located]:
    """Yield the records of a CSV file.

    Raises:
        TasksetError: When a column is not there.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with open_text(path, newline="") as lines:
        reader = csv.DictReader(lines, strict=True)
        try:
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise TasksetError(
                    f"'{path}' has no column '{missing[0]}'.", hint="Is the file of another format?"
                )
            line = reader.line_num + 1
            for place, record in enumerate(reader):
                yield Located(record, place, f"'{path}' line {line}")
                line = reader.line_num + 1
        except csv.Error as error:
            raise TasksetError(
                f"'{path}' line {reader.line_num} is not a row of a table: {error}."
            ) from None


def head(**keys: Any) -> Head:
    """Make a head with what all public sets share."""
    return Head.model_validate({"version": 1, **keys})
