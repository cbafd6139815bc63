"""Reading YAML for people: `${NAME}` from the environment, and one sentence for each fault."""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from evalkit.errors import ConfigError

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")

# Values of such keys may hold credentials, so errors never print them.
_SECRET = re.compile(r"key|token|header|auth|secret|password|url|body", re.IGNORECASE)


class Checked(BaseModel):
    """Settings in which an unknown key is an error and nothing changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _UniqueKeyLoader(yaml.SafeLoader):
    """PyYAML keeps the last of two equal keys and says nothing; this one refuses."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            key = str(key_node.value)
            if key in seen and key != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f"key '{key}' stands twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


def read_yaml(
    path: Path, what: str = "Configuration file", absent: str = "Make one with: evalkit init"
) -> dict[str, Any]:
    """Read a file of keys with values; an empty one has none.

    Args:
        path: Of the file.
        what: The word for it in errors.
        absent: What to do where there is none.

    Raises:
        ConfigError: One sentence with file, line and what to do.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"{what} '{path}' does not exist.",
            hint=absent,
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{what} '{path}' is not UTF-8 text.", hint="Save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{what} '{path}' cannot be read: {error.strerror}.") from None
    try:
        loaded = yaml.load(text, Loader=_UniqueKeyLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f" line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{what} '{path}'{line} is not valid YAML: {error.problem}.") from None
    except yaml.YAMLError as error:
        raise ConfigError(
            f"{what} '{path}' is not valid YAML: {str(error).splitlines()[0]}."
        ) from None
    except RecursionError:
        raise ConfigError(f"{what} '{path}' is nested too deeply.") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(f"{what} '{path}' holds a {type(loaded).__name__}, not keys with values.")
    return loaded


def expand(value: Any, env: Mapping[str, str], where: str) -> Any:
    """Put the environment's values in place of `${NAME}` and `${NAME:-default}`.

    Raises:
        ConfigError: For a name that is not set and has no default.
    """
    if isinstance(value, dict):
        return {key: expand(item, env, where) for key, item in value.items()}
    if isinstance(value, list):
        return [expand(item, env, where) for item in value]
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _lookup(match, env, where), value)
    return value


def _lookup(match: re.Match[str], env: Mapping[str, str], where: str) -> str:
    name, default = match["name"], match["default"]
    if name in env:
        return env[name]
    if default is not None:
        return default
    raise ConfigError(
        f"Environment variable '{name}', used in '{where}', is not set.",
        hint=f"Set it, or write ${{{name}:-default}}.",
    )


def explain_validation(
    error: ValidationError, where: str, model: type[BaseModel]
) -> tuple[str, str | None]:
    """Turn pydantic's report into one sentence and, for a misspelt key, a hint.

    A misspelt key is told before the required one that is missing because of it.
    """
    found = error.errors(include_url=False, include_context=False)
    first = min(found, key=lambda one: one["type"] != "extra_forbidden")
    location = [str(part) for part in first["loc"] if part != "[key]"]
    key = ".".join(location)
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, location[:-1])
        near = difflib.get_close_matches(location[-1], known, n=2, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(known)}."
        return f"Unknown key '{key}' in {where}.", hint
    got = "" if _SECRET.search(key) else f", got {_shown(first['input'])}"
    return f"Key '{key}' in {where}: {_plain(first)}{got}.", None


def _plain(error: ErrorDetails) -> str:
    """Say in plain words what pydantic found."""
    match error["type"]:
        case "string_pattern_mismatch":
            return "a name is made of letters, digits, '.', '_', '+' and '-'"
        case "tuple_type" | "list_type":
            return "input should be a list"
        case "dict_type" | "model_type" | "dataclass_type":
            return "input should be a group of keys"
        case "value_error":
            return error["msg"].removeprefix("Value error, ")
    message = error["msg"]
    return message[:1].lower() + message[1:]


def _shown(value: Any) -> str:
    text = repr(value)
    if "://" in text and "@" in text:
        return "an address with a user"
    return text if len(text) <= 60 else text[:57] + "..."


def _known_keys(model: type[BaseModel], location: Sequence[str]) -> list[str]:
    current = model
    for part in location:
        field = current.model_fields.get(part)
        annotation = field.annotation if field is not None else None
        if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
            break
        current = annotation
    return sorted(current.model_fields)
