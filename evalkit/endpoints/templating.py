"""From messages to the prompt of a plain completion, as the model's chat template says.

Two ways lead there: the template alone, rendered by Jinja as transformers renders it, and a
tokenizer of transformers (extra `hf`), which knows models whose template is no Jinja. Both
are pure: equal messages give equal prompts on every day and machine.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from jinja2 import TemplateError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evalkit.errors import BadRequest, ConfigError, MissingExtraError
from evalkit.fingerprint import digest
from evalkit.types import Message

PLAIN = "plain"
"""Name of the template that joins the contents of messages: for models without turns."""

_INLINE = ("{{", "{%")
_SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token")
_PROBE = (Message("user", "Hello"),)
# What a template raises on purpose, and what its expressions can raise.
_BROKEN = (TemplateError, TypeError, ValueError, LookupError, ArithmeticError, RecursionError)
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
            self._template = _environment().from_string(source)
            self._render(_PROBE)
        except _TodaysDate as error:
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

    def _render(self, messages: tuple[Message, ...]) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                _plain(messages), tokenize=False, add_generation_prompt=True, **self._kwargs
            )
        )


@dataclass(frozen=True, slots=True)
class _Files:
    """What the files of a model say; `known` is whether they name special tokens at all."""

    source: str
    tokens: Mapping[str, str] = field(default_factory=dict)
    tokenizer_hash: str | None = None
    known: bool = False


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
    found = _Files(chat_template) if inline else _read_files(Path(chat_template))
    _refuse_unknown_tokens(found, kwargs)
    return JinjaTemplate(found.source, {**found.tokens, **kwargs}, found.tokenizer_hash)


def template_hash(source: str, variables: Mapping[str, Any]) -> str:
    """Hash a template and those variables that it can read.

    Without any of them it is the hash that a server's own template gets, so that both can
    be compared.
    """
    used = {name: value for name, value in variables.items() if name in source}
    return digest({"template": source, "variables": used}) if used else digest(source)


def _read_files(path: Path) -> _Files:
    folder = path if path.is_dir() else path.parent
    template = folder / "chat_template.jinja" if path.is_dir() else path
    config = folder / "tokenizer_config.json"
    try:
        said = json.loads(config.read_text("utf-8")) if config.is_file() else {}
        # As in transformers, the file of its own wins.
        if template.is_file() and template != config:
            source: Any = template.read_text("utf-8")
        elif path.exists():
            source = _named(said.get("chat_template"))
        else:
            raise ConfigError(f"chat_template '{path}' is neither a template nor a file.")
        tokenizer = folder / "tokenizer.json"
        mark = _sha256(tokenizer.read_bytes()) if tokenizer.is_file() else None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, AttributeError) as error:
        raise ConfigError(f"{config} is not what transformers writes: {error}.") from error
    if not isinstance(source, str):
        raise ConfigError(f"{path} holds no chat template.", hint="Give it as a .jinja file.")
    return _Files(source, _special_tokens(said), mark, known=config.is_file())


def _refuse_unknown_tokens(files: _Files, kwargs: Mapping[str, Any]) -> None:
    """Refuse a template whose prompts would silently lack their first token.

    Raises:
        ConfigError: Naming the token.
    """
    for name in _SPECIAL:
        if not files.known and name not in kwargs and re.search(rf"\b{name}\b", files.source):
            raise ConfigError(
                f"The chat template writes {name}, and nothing says what that is.",
                hint="Name the model's folder instead, with its tokenizer_config.json, or set "
                f"chat_template_kwargs: {{{name}: …}}.",
            )


def _named(value: Any) -> Any:
    """Return the template, or the one named `default` of several."""
    if not isinstance(value, list):
        return value
    return next((one.get("template") for one in value if one.get("name") == "default"), None)


def _special_tokens(said: Mapping[str, Any]) -> dict[str, str]:
    """Return special tokens as texts: they stand as such, or as an object with `content`."""
    found = {}
    for name in _SPECIAL:
        value = said.get(name)
        text = value.get("content") if isinstance(value, Mapping) else value
        if isinstance(text, str):
            found[name] = text
    return found


def _load_tokenizer(name: str) -> Any:
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError(
            "Templating by a tokenizer", "pip install 'quant-evalkit[hf]'"
        ) from error
    try:
        return AutoTokenizer.from_pretrained(name)
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


class _TodaysDate(TemplateError):
    """The template asked for the date."""


class _Generation(Extension):
    """`{% generation %}` marks, for training, what the model wrote: here it is nothing."""

    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Return what stands between both ends."""
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _environment() -> ImmutableSandboxedEnvironment:
    # The same settings as in transformers: templates are written against them.
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    return environment


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    # Jinja's own filter escapes for HTML.
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _raise_exception(message: str) -> None:
    raise TemplateError(message)


def _strftime_now(_format: str) -> str:
    raise _TodaysDate("it prints the date")
