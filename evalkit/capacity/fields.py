"""The fields of a configuration, checked: a file from the net may say anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalkit.capacities import Note
from evalkit.errors import ConfigError

_MOST: Final = 1_000_000_000
_SHOWN: Final = 40


class Fields:
    """A mapping of a configuration, with defaults that are told and never silent.

    Attributes:
        where: The file, for messages.
        assumed: What was not in the file, as `name = value`.
    """

    def __init__(
        self, raw: Mapping[str, Any], where: str, defaults: Mapping[str, Any] | None = None
    ) -> None:
        self._raw = raw
        self.where = where
        self._defaults = defaults or {}
        self.assumed: dict[str, str] = {}

    def __contains__(self, key: str) -> bool:
        return self._raw.get(key) is not None

    def number(
        self, *keys: str, default: int | None = None, low: int = 1, high: int = _MOST
    ) -> int:
        """Return the first of several names that is there.

        Args:
            keys: Names of one quantity; the first is the one for messages.
            default: What it is where the file is silent; it is told as an assumption.
            low: Smallest that makes sense.
            high: Largest.

        Raises:
            ConfigError: When it is missing without a default, or is no such number.
        """
        found = self.optional(*keys, low=low, high=high)
        if found is not None:
            return found
        if default is None:
            raise ConfigError(
                f"{self.where} does not say {keys[0]}.",
                hint="Give the config.json of the model itself, whole.",
            )
        self.assumed[keys[0]] = str(default)
        return default

    def optional(self, *keys: str, low: int = 1, high: int = _MOST) -> int | None:
        """Return the first of several names that is there; else the family's default or `None`.

        Raises:
            ConfigError: When it is no such number.
        """
        for key in keys:
            value = self._raw.get(key)
            if value is None:
                continue
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ConfigError(
                    f"{self.where}: {key} is {str(value)[:_SHOWN]!r}, and must be a whole number "
                    f"from {low} to {high:,}."
                )
            return value
        for key in keys:
            if self._defaults.get(key) is not None:
                self.assumed[key] = str(self._defaults[key])
                return int(self._defaults[key])
        return None

    def flag(self, *keys: str, default: bool) -> bool:
        """Return a switch.

        Raises:
            ConfigError: When it is neither true nor false.
        """
        for key in keys:
            value = self._raw.get(key)
            if value is None:
                continue
            if not isinstance(value, bool):
                raise ConfigError(
                    f"{self.where}: {key} is {str(value)[:_SHOWN]!r}, not true or false."
                )
            return value
        return default

    def words(self, key: str, count: int) -> list[str] | None:
        """Return a list of so many words; `None` when it is not there.

        Raises:
            ConfigError: When it is something else.
        """
        value = self._raw.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigError(f"{self.where}: {key} is no list of words.")
        if len(value) < count:
            raise ConfigError(f"{self.where}: {key} names {len(value)} of {count} layers.")
        return value[:count]

    def flags(self, key: str, count: int) -> list[bool] | None:
        """Return a list of so many zeros and ones; `None` when it is empty or not there.

        Raises:
            ConfigError: When it is something else.
        """
        value = self._raw.get(key)
        if not value:
            return None
        listed = isinstance(value, list) and len(value) >= count
        if not listed or any(item not in (0, 1) for item in value):
            raise ConfigError(f"{self.where}: {key} is no list of {count} zeros and ones.")
        return [bool(item) for item in value[:count]]

    def numbers(self, key: str) -> set[int]:
        """Return a list of whole numbers; empty when it is not there.

        Raises:
            ConfigError: When it is something else.
        """
        value = self._raw.get(key)
        if value is None:
            return set()
        if not isinstance(value, list) or not all(type(item) is int for item in value):
            raise ConfigError(f"{self.where}: {key} is no list of whole numbers.")
        return set(value)

    def part(self, key: str) -> Mapping[str, Any] | None:
        """Return a mapping inside; `None` when there is none."""
        value = self._raw.get(key)
        return value if isinstance(value, Mapping) and value else None

    def notes(self) -> tuple[Note, ...]:
        """Say what was not in the file."""
        if not self.assumed:
            return ()
        told = ", ".join(f"{key} = {value}" for key, value in sorted(self.assumed.items()))
        return (Note("assumed", {"fields": told, "where": self.where}),)
