"""What a report says of the release that a candidate is compared against: finished strings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """What is new in one candidate. `weights` and `engine` are keys: same, new, unknown.

    Attributes:
        what: Without its name and details.
        fields: Every field of the identity that differs: its name, before, after.
        data: The same for machines.
    """

    candidate: str
    weights: str
    engine: str
    what: str
    text: str
    fields: tuple[tuple[str, str, str], ...]
    data: Mapping[str, tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class SnapshotBlock:
    """A release to go back to.

    Attributes:
        facts: Its identity, sampling and settings: name and value.
        data: The same for machines.
    """

    folder: str
    endpoint: str
    verdict: str | None
    created: str
    timestamp: str
    text: str
    facts: tuple[tuple[str, str], ...]
    data: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ReleaseBlock:
    """The release that stands as the baseline.

    Attributes:
        sentence: Which it is, and why.
        notes: What was done so that it compares.
        rollback: What to go back to, as a sentence; `target` holds it.
    """

    folder: str
    endpoint: str
    role: str
    sentence: str
    changes: tuple[ChangeLine, ...]
    notes: tuple[str, ...]
    rollback: str
    target: SnapshotBlock | None
