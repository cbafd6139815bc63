"""From YAML to a checked configuration.

Unknown keys are errors with a suggestion, `${NAME}` and `${NAME:-default}` are taken from
the environment, and `--set a.b=c` overrides a key after the file was read. Endpoints stay
raw mappings here; each endpoint kind checks its own keys (`endpoints.base`).
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from evalkit.errors import ConfigError
from evalkit.fingerprint import digest
from evalkit.types import Family, Language

_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?\}")

# Values of such keys may hold credentials, so errors never print them.
_SECRET = re.compile(r"key|token|header|auth|secret|password|url|body", re.IGNORECASE)

# Servers read a seed as 32 bits.
Seed = Annotated[int, Field(ge=0, lt=2**31)]
# Names become folders.
Name = Annotated[str, Field(pattern=r"^[\w][\w.+-]{0,99}$")]


class _Checked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Margins(_Checked):
    """Acceptable losses in points, fixed before the run.

    `families` holds a margin of its own for a family, which also marks that family as
    critical: then the verdict needs its non-inferiority whatever its size.
    """

    accuracy: float = Field(2.0, gt=0, lt=100)
    hallucination: float = Field(2.0, gt=0, lt=100)
    degenerate: float = Field(0.5, gt=0, lt=100)
    families: dict[Family, Annotated[float, Field(gt=0, lt=100)]] = Field(default_factory=dict)


class Policy(_Checked):
    """The decision rule's numbers (STATISTICS.md, section 2). Percentages are 0 to 100.

    Attributes:
        plan: Number of looks; only the single look exists so far.
        alpha: One-sided level of every test.
        power: Wanted power of the sample sizes that are printed.
        guard_min_pairs: From this size on, a family's own margin is part of the gate.
        max_missing: Missing answers, in percent of an arm, above which nothing is decided.
        max_truncation: The same for answers cut at `max_tokens`.
        truncation_differs: From this rate on, a difference in truncation invalidates too.
    """

    plan: Literal["single"] = "single"
    alpha: float = Field(0.05, gt=0, le=0.2)
    power: float = Field(0.8, gt=0.5, lt=1)
    margins: Margins = Field(default_factory=lambda: Margins())
    guard_min_pairs: int = Field(300, ge=1)
    max_missing: float = Field(5.0, ge=0, le=100)
    max_truncation: float = Field(5.0, ge=0, le=100)
    truncation_differs: float = Field(1.0, ge=0, le=100)

    @property
    def fingerprint(self) -> str:
        """Hash of every number: what a report says was fixed before the run."""
        return digest(self.model_dump(mode="json"))


class SamplingOptions(_Checked):
    """Sampling fields, sent explicitly to every endpoint.

    `max_tokens` replaces every taskset's own budget when it is given.
    """

    temperature: float = Field(0.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    top_k: int = Field(-1, ge=-1)
    min_p: float = Field(0.0, ge=0, le=1)
    repetition_penalty: float = Field(1.0, gt=0)
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: Seed = 0
    stop: tuple[str, ...] = ()
    max_tokens: int | None = Field(None, ge=1)


class RequestOptions(_Checked):
    """Deadlines in seconds, and how often a request is tried."""

    connect_timeout: float = Field(10.0, gt=0)
    timeout: float = Field(180.0, gt=0)
    max_attempts: int = Field(5, ge=1)
    backoff_base: float = Field(0.5, ge=0)
    backoff_cap: float = Field(30.0, ge=0)


class Config(_Checked):
    """Everything that a configuration file may say."""

    endpoints: dict[Name, dict[str, Any]] = Field(default_factory=dict)
    baseline: str | None = None
    candidates: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    languages: tuple[Language, ...] = ()
    limit: int | None = Field(None, ge=1)
    epochs: int = Field(1, ge=1)
    seed: Seed = 0
    max_connections: int = Field(4, ge=1, le=4096)
    sampling: SamplingOptions = Field(default_factory=lambda: SamplingOptions())
    requests: RequestOptions = Field(default_factory=lambda: RequestOptions())
    policy: Policy = Field(default_factory=lambda: Policy())
    allow_code: bool = False
    allow_confounded: bool = False
    output: str | None = None


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


def load_config(
    path: Path | None,
    overrides: Sequence[str] = (),
    *,
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Read a configuration file and apply `key.path=value` overrides.

    Args:
        path: A YAML file, or `None` for the defaults.
        overrides: Each `a.b=value`; the value is read as YAML.
        environment: Where `${NAME}` is looked up; the process environment by default.

    Raises:
        ConfigError: One sentence with file, line or key, and what to do.
    """
    env = os.environ if environment is None else environment
    raw = _read_yaml(path) if path is not None else {}
    try:
        raw = _expand(raw, env, str(path))
    except RecursionError:
        raise ConfigError(f"Configuration file '{path}' refers to itself.") from None
    for override in overrides:
        _apply_override(raw, override)
    where = str(path) if path is not None else "the configuration"
    return check_config(raw, where=f"{where} with --set" if overrides else where)


def check_config(raw: Mapping[str, Any], *, where: str) -> Config:
    """Check a mapping against `Config`.

    Raises:
        ConfigError: Names the first wrong key, with a suggestion for a misspelt one.
    """
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        message, hint = explain_validation(error, where, Config)
        raise ConfigError(message, hint=hint) from None


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(
            f"Configuration file '{path}' does not exist.",
            hint="Make one with: evalkit init",
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(
            f"Configuration file '{path}' is not UTF-8 text.", hint="Save it as UTF-8."
        ) from None
    except OSError as error:
        raise ConfigError(
            f"Configuration file '{path}' cannot be read: {error.strerror}."
        ) from None
    try:
        loaded = yaml.load(text, Loader=_UniqueKeyLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = f" line {mark.line + 1}" if mark is not None else ""
        raise ConfigError(
            f"Configuration file '{path}'{line} is not valid YAML: {error.problem}."
        ) from None
    except yaml.YAMLError as error:
        raise ConfigError(
            f"Configuration file '{path}' is not valid YAML: {str(error).splitlines()[0]}."
        ) from None
    except RecursionError:
        raise ConfigError(f"Configuration file '{path}' is nested too deeply.") from None
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        raise ConfigError(
            f"Configuration file '{path}' holds a {type(loaded).__name__}, not keys with values."
        )
    return loaded


def _expand(value: Any, env: Mapping[str, str], where: str) -> Any:
    if isinstance(value, dict):
        return {key: _expand(item, env, where) for key, item in value.items()}
    if isinstance(value, list):
        return [_expand(item, env, where) for item in value]
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


def _apply_override(raw: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"--set '{override}' is not of the form key.path=value.")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ConfigError(f"--set '{key}': the value '{text}' is not valid YAML.") from None
    target = raw
    *parents, last = key.split(".")
    for parent in parents:
        inner = target.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set '{key}': '{parent}' is not a group of keys.")
        target = inner
    target[last] = value


def read_policy(path: Path) -> Policy:
    """Read a policy file: the keys of `policy`, alone.

    Raises:
        ConfigError: One sentence with file and key.
    """
    raw = _expand(_read_yaml(path), os.environ, str(path))
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        message, hint = explain_validation(error, str(path), Policy)
        raise ConfigError(message, hint=hint) from None


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
    message = error["msg"]
    return message[:1].lower() + message[1:]


def _shown(value: Any) -> str:
    text = repr(value)
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
