"""A chat template in the files that transformers writes beside a model."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalkit.errors import ConfigError

_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token")


@dataclass(frozen=True, slots=True)
class TemplateFiles:
    """What the files of a model say; `known` is whether they name special tokens at all."""

    source: str
    tokens: Mapping[str, str] = field(default_factory=dict)
    tokenizer_hash: str | None = None
    known: bool = False


def read_files(path: Path) -> TemplateFiles:
    """Read a chat template and the special tokens that lie beside it.

    Args:
        path: A template, a `tokenizer_config.json`, or the folder of a model.

    Raises:
        ConfigError: When there is no template.
    """
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
        mark = hashlib.sha256(tokenizer.read_bytes()).hexdigest() if tokenizer.is_file() else None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, AttributeError) as error:
        raise ConfigError(f"{config} is not what transformers writes: {error}.") from error
    if not isinstance(source, str):
        raise ConfigError(f"{path} holds no chat template.", hint="Give it as a .jinja file.")
    return TemplateFiles(source, _special_tokens(said), mark, known=config.is_file())


def refuse_unknown_tokens(files: TemplateFiles, kwargs: Mapping[str, Any]) -> None:
    """Refuse a template whose prompts would silently lack their first token.

    Raises:
        ConfigError: Naming the token.
    """
    for name in _TOKENS:
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
    for name in _TOKENS:
        value = said.get(name)
        text = value.get("content") if isinstance(value, Mapping) else value
        if isinstance(text, str):
            found[name] = text
    return found
