"""Checking an endpoint's configuration, with messages for people."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from evalkit.errors import ConfigError
from evalkit.fingerprint import canonical


class EndpointSettings(BaseModel):
    """Base of every kind's settings: unknown keys are errors, values do not change.

    Values may be secrets, so that an error never prints its input.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


def require_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping that JSON can hold.

    Raises:
        ValueError: For one that it cannot.
    """
    try:
        canonical(value)
    except (TypeError, ValueError):
        raise ValueError("it holds what JSON cannot hold (dates need quotes)") from None
    return value


SettingsT = TypeVar("SettingsT", bound=EndpointSettings)


def check_settings(model: type[SettingsT], name: str, raw: Mapping[str, Any]) -> SettingsT:
    """Check an endpoint's configuration against its kind.

    Raises:
        ConfigError: Naming endpoint and key; with a suggestion for an unknown key.
    """
    try:
        return model.model_validate(dict(raw))
    except ValidationError as error:
        errors = error.errors(include_input=False, include_url=False)
        # A misspelt key makes the right one missing too: the cause comes first.
        errors.sort(key=lambda one: one["type"] != "extra_forbidden")
        first = errors[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = sorted(model.model_fields)
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(known)}."
            raise ConfigError(f"Endpoint '{name}' has an unknown key '{key}'.", hint=hint) from None
        if first["type"] == "missing":
            raise ConfigError(f"Endpoint '{name}' lacks the key '{key}'.") from None
        reason = first["msg"].removeprefix("Value error, ")
        raise ConfigError(f"Endpoint '{name}', key '{key}': {reason}.") from None
