"""A record of a public set, wherever it was read: a file's line, or a row of the hub's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.errors import TasksetError

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
