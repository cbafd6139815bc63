"""Finds keys that stand in a configuration in plain text, where they must not be.

A configuration is shared, committed and pasted into tickets. `${NAME}` puts the value of an
environment variable in its place when the file is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evalkit.errors import ConfigError

_WORDS: Final = re.compile(
    r"(?:^|[^a-z])(?:apikey|key|token|secret|password|passwd|pwd|credentials?|cookie|auth"
    r"|authorization)(?:[^a-z]|$)|(?:apikey|token|secret|password)$"
)
# `api_key_env` names a variable; the others are words of a model, or of no secrecy.
_NO_SECRET: Final = re.compile(
    r"_env$|^(?:stop|bos|eos|pad|unk|mask|sep|cls|image)_token|^prompt_cache|token_budget"
)
_PLACEHOLDERS: Final = frozenset({"", "empty", "none", "null", "dummy", "no-key", "ollama", "x"})
_KNOWN_KEY: Final = re.compile(
    # OpenAI and those that copy it, Hugging Face, GitHub, Slack, AWS, Google; then tokens.
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|xox[abprs]-[A-Za-z0-9-]{16,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}"
    r"|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,})"
)
_PASSWORD: Final = re.compile(r"^\s*[A-Za-z][A-Za-z0-9+.-]*://[^/\s]*?:(?P<password>[^\s/?#]+)@")
_VARIABLE: Final = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")


def names_secret(name: str) -> bool:
    """Whether the name of a header, a field or a variable says that its value is secret.

    >>> [names_secret(name) for name in ("Authorization", "X-Api-Key", "HF_TOKEN", "max_tokens")]
    [True, True, True, False]
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
    return bool(_WORDS.search(words)) and not _NO_SECRET.search(words)


def holds_secret(text: str) -> bool:
    """Whether a text holds what looks like a key of a known provider, or a password in a URL."""
    return bool(_KNOWN_KEY.search(text) or _PASSWORD.match(text))


def refuse_plain_keys(raw: Mapping[str, Any], where: str) -> None:
    """Refuse keys and passwords in plain text, before `${NAME}` was put in.

    Placeholders of servers without a key (EMPTY, none) may stand.

    Raises:
        ConfigError: Naming the first place, and never what stands there.
    """
    for place in _plain_keys(raw, ()):
        raise ConfigError(
            f"Key '{place}' in {where} holds a secret in plain text.",
            hint="Put it into an environment variable, and write ${NAME} or api_key_env: NAME.",
        )


def _plain_keys(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _plain_keys(item, (*path, str(key)))
    elif isinstance(value, list):
        for item in value:
            yield from _plain_keys(item, path)
    elif isinstance(value, str) and _is_plain_key(value, path):
        yield ".".join(path)


def _is_plain_key(value: str, path: tuple[str, ...]) -> bool:
    plain = _VARIABLE.sub("", value)
    if _KNOWN_KEY.search(plain):
        return True
    password = _PASSWORD.match(value)
    if password is not None and _VARIABLE.sub("", password["password"]):
        return True
    if not path or path[0] != "endpoints" or not names_secret(path[-1]):
        return False
    # `Bearer ${NAME}` holds a word in plain text, and no key.
    scheme = re.match(r"(?i)(?:bearer|basic|token)\s+", plain + " ")
    rest = plain[scheme.end() :] if scheme is not None else plain
    return rest.strip().lower() not in _PLACEHOLDERS
