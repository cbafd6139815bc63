"""Keys and headers: what may be sent, and what may be shown of them."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from evalkit.endpoints.masking import Secrets
from evalkit.endpoints.urls import Address
from evalkit.errors import ConfigError
from evalkit.plainkeys import names_secret
from evalkit.types import Reply

DEFAULT_KEY_ENV = "OPENAI_API_KEY"

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
# RFC 9110, 5.6.2 (token) and 5.5 (field value).
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_KEY = re.compile(r"[\x21-\x7e]+")
# Shorter values of variables are switches and numbers.
_LEAST = 8
_MOST_READ = 1 << 20


@dataclass(frozen=True, slots=True)
class Credentials:
    """What goes out with every request of an endpoint, and what of it must never be shown.

    Attributes:
        headers: All headers, secret ones included.
        variable: Name of the environment variable that the key comes from; may be empty.
        secrets: What must never be shown.
    """

    headers: Mapping[str, str] = field(repr=False)
    variable: str
    secrets: Secrets = field(repr=False)

    @classmethod
    def gather(
        cls,
        endpoint: str,
        address: Address,
        api_key_env: str | None,
        headers: Mapping[str, str],
        extra_body: Mapping[str, Any] | None = None,
    ) -> Self:
        """Read the key from the environment, and the password from the address.

        Args:
            endpoint: Name of the endpoint, for messages.
            address: May hold user and password.
            api_key_env: Name of a variable; `None`: OPENAI_API_KEY, if it is set; empty: no key.
            headers: Further headers; they win.
            extra_body: Further fields of every request, which may hold a key too.

        Raises:
            ConfigError: When the named variable is not set, or holds what cannot be sent.
        """
        variable = DEFAULT_KEY_ENV if api_key_env is None else api_key_env
        own = {"Content-Type": "application/json", "User-Agent": "evalkit"}
        settings = {"url": address.api, "headers": dict(headers), "body": dict(extra_body or {})}
        secrets = [*_named_secrets(settings), *_used_variables(settings)]
        key = read_key(endpoint, variable) if variable else None
        if api_key_env and not key:
            raise ConfigError(
                f"Endpoint '{endpoint}' takes its key from the "
                f"{show_variable(variable)}, which is not set."
            )
        if address.password is not None:
            secrets.append(address.password)
        if address.user is not None and not api_key_env:
            token = _basic(address.user, address.password or "")
            own["Authorization"] = f"Basic {token}"
            secrets.append(token)
        elif key:
            own["Authorization"] = f"Bearer {key}"
            secrets.append(key)
        return cls(own | dict(headers), variable, Secrets(secrets))

    def hiding(self, secrets: Iterable[str]) -> Self:
        """Return the same credentials that hide further secrets too."""
        return replace(self, secrets=self.secrets.more(secrets))

    def scrub(self, text: str) -> str:
        """Return a text without any secret, for people."""
        return self.secrets.scrub(text)

    def scrub_body(self, body: bytes) -> bytes:
        """Return what a server sent without any secret, before anything of it is told in part.

        A longer page than any server has is cut off: nobody reads it.
        """
        if not self.secrets:
            return body
        text = body[:_MOST_READ].decode("utf-8", "surrogateescape")
        return self.secrets.scrub(text).encode("utf-8", "surrogateescape")

    def scrub_reply(self, reply: Reply) -> Reply:
        """Return an answer without any secret: a server may answer with what it was sent."""
        if not self.secrets:
            return reply
        clean = self.secrets.scrub_answer
        said = (reply.text, reply.reasoning, reply.finish_reason, reply.model)
        masked = tuple(None if text is None else clean(text) for text in said)
        if masked == said:
            return reply
        text, reasoning, finish_reason, model = masked
        # Tokens are the answer once more, cut where no secret is recognized.
        logprobs = None if reply.logprobs is None else reply.logprobs.without_tokens()
        return replace(
            reply,
            text=text,
            reasoning=reasoning,
            finish_reason=finish_reason,
            model=model,
            logprobs=logprobs,
        )

    def hint(self) -> str:
        """Say where the key comes from, for one that was refused."""
        if not self.variable:
            return "No key is sent, since api_key_env is empty."
        state = "holds another key" if os.environ.get(self.variable, "").strip() else "is not set"
        return f"The key comes from the {show_variable(self.variable)}, which {state}."


def _named_secrets(value: Any, name: str = "") -> Iterator[str]:
    """Yield the values whose names say that they are secret, without `Bearer` before them."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _named_secrets(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named_secrets(item, name)
    elif isinstance(value, str) and names_secret(name):
        yield value
        scheme, _, rest = value.partition(" ")
        yield rest.strip()
        if scheme.lower() == "basic":
            yield from _password_of(rest.strip())


def _password_of(token: str) -> Iterator[str]:
    try:
        pair = base64.b64decode(token, validate=True).decode()
    except ValueError:
        return
    yield pair.partition(":")[2]


def _used_variables(settings: Any) -> Iterator[str]:
    """Yield the values of variables with secret names that `${NAME}` brought into settings."""
    shown = str(settings)
    for name, value in os.environ.items():
        if names_secret(name) and len(value.strip()) >= _LEAST and value.strip() in shown:
            yield value.strip()


def _basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


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
