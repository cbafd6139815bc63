"""From messages to the prompt of a plain completion, as the model's chat template says.

Two ways lead there: the template alone, rendered by Jinja as transformers renders it, and a
tokenizer of transformers itself (extra `hf`), by folder or hub id. Both are pure: equal
messages give equal prompts on every day and machine.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jinja2 import TemplateError

from evalkit.endpoints.template_files import TemplateFiles, read_files, refuse_unknown_tokens
from evalkit.endpoints.template_sandbox import TodaysDate, sandbox
from evalkit.errors import BadRequest, ConfigError, MissingExtraError
from evalkit.fingerprint import digest
from evalkit.types import Message

PLAIN = "plain"
"""Name of the template that joins the contents of messages: for models without turns."""

_INLINE = ("{{", "{%")
_PROBE = (Message("user", "Hello"),)
# What a template raises on purpose, and what its expressions can raise.
_BROKEN = (
    TemplateError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
_DATE_HINT = (
    "Tomorrow's prompts would differ from today's. Fix the date, e.g. "
    "chat_template_kwargs: {date_string: 26 Jul 2024}, or take another template."
)


class PromptTemplate(Protocol):
    """Renders messages to one text."""

    @property
    def template_hash(self) -> str | None:
        """Equal for templates that render equally; as `Identity.template_hash`."""

    @property
    def tokenizer_hash(self) -> str | None:
        """SHA-256 of the tokenizer, when one was read."""

    @property
    def bos(self) -> str | None:
        """The text of the token that begins every prompt, when it is known."""

    @property
    def special(self) -> bool:
        """Whether the prompt holds its special tokens, so that the server adds none."""

    def render(self, messages: tuple[Message, ...]) -> str:
        """Return the prompt, up to where the answer begins.

        Raises:
            BadRequest: When the template refuses these messages.
        """

    def count(self, prompt: str) -> int | None:
        """Return how many tokens a prompt has; `None` without a tokenizer."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """No template: the contents of all messages, with an empty line between them."""

    template_hash: str | None = None
    tokenizer_hash: str | None = None
    bos: str | None = None
    special: bool = False

    def render(self, messages: tuple[Message, ...]) -> str:
        """Return the contents."""
        return "\n\n".join(message.content for message in messages)

    def count(self, prompt: str) -> int | None:
        """Count nothing: there is no tokenizer."""
        return None


class JinjaTemplate:
    """A chat template, rendered in a sandbox: it often comes from the hub with the model."""

    special = True

    def __init__(
        self,
        source: str,
        variables: Mapping[str, Any] | None = None,
        tokenizer_hash: str | None = None,
    ) -> None:
        """Compile.

        Args:
            source: The template.
            variables: What it may read beside the messages: special tokens, own arguments.
            tokenizer_hash: Of the tokenizer that lies beside it.

        Raises:
            ConfigError: When it is no template, or cannot render a plain question.
        """
        self._variables = dict(variables or {})
        self.tokenizer_hash = tokenizer_hash
        self.template_hash = template_hash(source, self._variables)
        bos = self._variables.get("bos_token")
        self.bos = bos if isinstance(bos, str) and bos else None
        try:
            self._template = sandbox().from_string(source)
            self._render(_PROBE)
        except TodaysDate as error:
            raise ConfigError("The chat template prints the date.", hint=_DATE_HINT) from error
        except _BROKEN as error:
            raise ConfigError(f"The chat template cannot be used: {error}.") from error

    def render(self, messages: tuple[Message, ...]) -> str:
        """Return the prompt.

        Raises:
            BadRequest: When the template refuses these messages (two users in a row, say).
        """
        try:
            return self._render(messages)
        except _BROKEN as error:
            raise _refused(error) from error

    def count(self, prompt: str) -> int | None:
        """Count nothing: there is no tokenizer."""
        return None

    def _render(self, messages: tuple[Message, ...]) -> str:
        return self._template.render(
            messages=_plain(messages),
            tools=None,
            documents=None,
            add_generation_prompt=True,
            **self._variables,
        )


class TokenizerTemplate:
    """A tokenizer of transformers and the template that it brings."""

    special = True

    def __init__(self, tokenizer: Any, kwargs: Mapping[str, Any]) -> None:
        """Read what the prompts depend on.

        Args:
            tokenizer: Of transformers.
            kwargs: Further arguments of its template.

        Raises:
            ConfigError: When it has no template, or one that prints the date.
        """
        self._tokenizer = tokenizer
        self._kwargs = dict(kwargs)
        try:
            source = tokenizer.get_chat_template()
            if "strftime_now" in source and "date_string" not in kwargs:
                raise ConfigError("The chat template prints the date.", hint=_DATE_HINT)
            self._render(_PROBE)
        except _BROKEN as error:
            raise ConfigError(f"The tokenizer's chat template cannot be used: {error}.") from error
        self.template_hash = template_hash(source, {**tokenizer.special_tokens_map, **kwargs})
        self.tokenizer_hash = _tokenizer_hash(tokenizer)
        self.bos = tokenizer.bos_token or None

    def render(self, messages: tuple[Message, ...]) -> str:
        """Return the prompt.

        Raises:
            BadRequest: When the template refuses these messages.
        """
        try:
            return self._render(messages)
        except _BROKEN as error:
            raise _refused(error) from error

    def count(self, prompt: str) -> int | None:
        """Return how many tokens a rendered prompt has: its special tokens stand in it."""
        return len(self._tokenizer(prompt, add_special_tokens=False)["input_ids"])

    def _render(self, messages: tuple[Message, ...]) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                _plain(messages), tokenize=False, add_generation_prompt=True, **self._kwargs
            )
        )


def load_template(
    chat_template: str | None, tokenizer: str | None, kwargs: Mapping[str, Any]
) -> PromptTemplate:
    """Find and compile a template.

    Args:
        chat_template: `plain`, the template itself, a `.jinja` file, a
            `tokenizer_config.json`, or the folder that holds them.
        tokenizer: Folder or hub id of a tokenizer for transformers.
        kwargs: Further variables of the template (`enable_thinking`, say).

    Raises:
        ConfigError: When there is not exactly one of both, or it cannot be used.
        MissingExtraError: When a tokenizer is named and transformers is not installed.
    """
    if (chat_template is None) == (tokenizer is None):
        raise ConfigError(
            "Plain completions need one of chat_template and tokenizer, to make a prompt.",
            hint="Name the model's folder: chat_template: PATH. For a model without a chat "
            "template: chat_template: plain.",
        )
    if tokenizer is not None:
        return TokenizerTemplate(_load_tokenizer(tokenizer), kwargs)
    assert chat_template is not None
    if chat_template == PLAIN:
        return PlainText()
    inline = any(mark in chat_template for mark in _INLINE)
    found = TemplateFiles(chat_template) if inline else read_files(Path(chat_template))
    refuse_unknown_tokens(found, kwargs)
    return JinjaTemplate(found.source, {**found.tokens, **kwargs}, found.tokenizer_hash)


def template_hash(source: str, variables: Mapping[str, Any]) -> str:
    """Hash a template and those variables that it can read.

    Without any of them it is the hash that a server's own template gets, so that both can
    be compared.
    """
    used = {name: value for name, value in variables.items() if name in source}
    return digest({"template": source, "variables": used}) if used else digest(source)


@functools.lru_cache(maxsize=4)  # Several servers behind one name share it.
def _load_tokenizer(name: str) -> Any:
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError(
            "Templating by a tokenizer", "pip install 'quant-evalkit[hf]'"
        ) from error
    try:
        # None would ask on the terminal whether the model's own code may run.
        return AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ConfigError(f"The tokenizer '{name}' cannot be loaded: {reason}") from error


def _tokenizer_hash(tokenizer: Any) -> str:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        return _sha256(backend.to_str().encode())
    return digest(dict(sorted(tokenizer.get_vocab().items())))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _plain(messages: tuple[Message, ...]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _refused(error: Exception) -> BadRequest:
    return BadRequest(f"The chat template refuses these messages: {error}.")
