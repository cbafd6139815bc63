"""What a public format is, and how its records are read.

Ids are those of the set; a set that has none is numbered by its rows from 0, as lm-eval and
the sets' own papers do.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalkit.errors import TasksetError
from evalkit.registry import Registry
from evalkit.tasksets.faults import faults_of, question_hash
from evalkit.tasksets.head import Head
from evalkit.tasksets.jsonl import taskset_of
from evalkit.tasksets.parquet import PARQUET, parquet_records
from evalkit.tasksets.records import Located
from evalkit.tasksets.rows import Row, checked, parse_object
from evalkit.tasksets.textfile import open_text
from evalkit.types import Taskset


@dataclass(frozen=True, slots=True)
class Format:
    """A public format.

    Attributes:
        head: Of the tasksets that are made of it.
        records: From a file to its records.
        row: From a record to the fields of a row.
        left_out: From a record to why it cannot be asked, if it cannot; a word that the report
            knows (`left_out.*`).
    """

    head: Head
    records: Callable[[Path], Iterator[Located]]
    row: Callable[[Located], dict[str, Any]]
    left_out: Callable[[Located], str | None] = lambda _: None


FORMATS: Registry[Format] = Registry(
    "format",
    {
        name: f"evalkit.tasksets.formats.{name}"
        for name in (
            "cmath",
            "gsm8k",
            "halluqa",
            "humaneval",
            "ifbench",
            "ifeval",
            "math",
            "mbpp",
            "mgsm",
            "popqa",
            "simpleqa",
            "triviaqa",
            "truthfulqa",
        )
    },
)


def load_published(form: str, path: Path) -> Taskset:
    """Make a taskset of a public set's own file.

    Args:
        form: Name of the format.
        path: The file, possibly compressed by gzip, or the Parquet file of the hub.

    Raises:
        UnknownNameError: For a format that is not known.
        MissingExtraError: For a Parquet file, when its reader is not installed.
        TasksetError: Names file and line.
    """
    chosen = FORMATS.get(form)
    records = parquet_records(path) if path.suffix == PARQUET else chosen.records(path)
    return published_taskset(form, records, path, f"{form}:{path}")


def published_taskset(
    form: str, records: Iterable[Located], path: Path, origin: str, head: Head | None = None
) -> Taskset:
    """Make a taskset of records in a public format.

    Args:
        form: Name of their format.
        records: In their order.
        path: Names their file in errors.
        origin: What loads the taskset again, by name.
        head: Of the taskset, where it is not the format's.

    Raises:
        TasksetError: For a record that is not of the format, and when there is none.
    """
    reading = _Reading(form)
    made = taskset_of(head or FORMATS.get(form).head, path, origin, reading.rows(records))
    return replace(made, faults=reading.faults, left_out=dict(reading.left_out))


class _Reading:
    """Makes rows of records, and keeps what is wrong with them and what was left out."""

    def __init__(self, form: str) -> None:
        self._form = FORMATS.get(form)
        self._known = faults_of(form)
        self.faults: dict[str, str] = {}
        self.left_out: Counter[str] = Counter()

    def rows(self, records: Iterable[Located]) -> Iterator[Row]:
        seen: dict[str, str] = {}
        form = self._form
        for located in records:
            reason = form.left_out(located)
            if reason is not None:
                self.left_out[reason] += 1
                continue
            row = checked({"language": "en", **form.row(located)}, form.head, located.where)
            if row.id in seen:
                raise TasksetError(
                    f"{located.where}: id '{row.id}' stands already in {seen[row.id]}."
                )
            seen[row.id] = located.where
            fault = self._known.get(question_hash(row.input or "")) if self._known else None
            if fault is not None:
                self.faults[row.id] = fault.says
            yield row


def some_texts(given: Any) -> list[str]:
    """Return the texts of a list that are not empty, each once; nothing for what is no list.

    >>> some_texts(["Paris", " Paris ", "", None, "Lutetia"])
    ['Paris', 'Lutetia']
    """
    if not isinstance(given, list):
        return []
    kept = (text.strip() for text in given if isinstance(text, str))
    return list(dict.fromkeys(filter(None, kept)))


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


def csv_records(path: Path, columns: Sequence[str], *, delimiter: str = ",") -> Iterator[Located]:
    """Yield the records of a table.

    Args:
        path: Its file.
        columns: That must be there.
        delimiter: Between its cells.

    Raises:
        TasksetError: When a column is not there.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    with open_text(path, newline="") as lines:
        reader = csv.DictReader(lines, strict=True, delimiter=delimiter)
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
