"""Nested settings, identities and moments as readers see them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from evalkit.report import numbers
from evalkit.report.text import one_line

HASH_LENGTH: Final = 12


def flat(values: Mapping[str, Any], prefix: str = "") -> tuple[tuple[str, str], ...]:
    """Return every value by its dotted name."""
    lines: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{prefix}{one_line(str(key))}"
        if isinstance(value, Mapping) and value:
            lines += flat(value, f"{name}.")
        else:
            lines.append((name, value_text(value)))
    return tuple(lines)


def date(text: str) -> str:
    """Write an ISO date and time as people read it, in UTC; anything else as it is."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError):
        pass
    return one_line(text)


def iso(text: str) -> str:
    """Write a moment in ISO 8601; empty when it is none."""
    try:
        return datetime.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def identity_value(name: str, value: Any) -> str:
    """Write one field of an identity: sizes with their unit, hashes shortened."""
    if name == "weights_bytes" and isinstance(value, int | float):
        return numbers.size(value)
    if name.endswith("_hash"):
        return one_line(str(value))[:HASH_LENGTH]
    return value_text(value)


def value_text(value: Any) -> str:
    """Write a value on one line; a dash for none."""
    if isinstance(value, Mapping):
        return ", ".join(f"{one_line(str(key))}={value_text(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(value_text(item) for item in value)
    if isinstance(value, bool):
        return str(value).lower()
    return one_line(str(value)) if value is not None else numbers.DASH
