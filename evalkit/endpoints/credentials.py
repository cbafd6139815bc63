"""Keys and headers: what may be sent, and what may be shown of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from evalkit.errors import ConfigError

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
# RFC 9110, 5.6.2 (token) and 5.5 (field value).
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_KEY = re.compile(r"[\x21-\x7e]+")


def check_variable(name: str) -> None:
    """Make sure that a text can be the name of an environment variable.

    Raises:
        ValueError: Without the text, which may be the key itself in the wrong place.
    """
    if name and not _VARIABLE.fullmatch(name):
        raise ValueError(
            "it must be the name of an environment variable that holds the key, "
            "never the key itself"
        )


def show_variable(name: str) -> str:
    """Return words for an environment variable that never repeat what may be a key."""
    if _SHOWABLE.fullmatch(name):
        return f"environment variable {name}"
    return "environment variable that api_key_env names"


def read_key(endpoint: str, variable: str) -> str | None:
    """Return the key that an environment variable holds, without white space around it.

    Args:
        endpoint: Name of the endpoint, for the message.
        variable: Name of the variable.

    Raises:
        ConfigError: When it holds what cannot be sent; it names the variable, never the key.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        return None
    if not _KEY.fullmatch(key):
        raise ConfigError(
            f"Endpoint '{endpoint}': the key in the {show_variable(variable)} holds "
            "a space, a line end or another character that no key can have.",
            hint="Set it again, without anything before or after it.",
        )
    return key


def clean_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return headers without white space around their values.

    Raises:
        ValueError: For one that HTTP cannot send. It never repeats a value.
    """
    clean = {}
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError("the name of a header holds a character that HTTP does not allow")
        clean[name] = value.strip()
        if not _HEADER_VALUE.fullmatch(clean[name]):
            raise ValueError(
                f"the value of the header {name} holds a character that HTTP does not allow"
            )
    return clean
