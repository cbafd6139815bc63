"""From YAML to a checked configuration.

Unknown keys are errors with a suggestion, `${NAME}` and `${NAME:-default}` are taken from
the environment, and `--set a.b=c` overrides a key after the file was read. Endpoints stay
raw mappings here; each endpoint kind checks its own keys (`endpoints.base`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from evalkit.errors import ConfigError
from evalkit.plainkeys import names_secret, refuse_plain_keys
from evalkit.policy import Policy
from evalkit.types import Family, Language
from evalkit.yamlfile import Checked, expand, explain_validation, read_yaml

DEFAULT_CONNECTIONS, MOST_CONNECTIONS = 4, 4096

# Servers read a seed as 32 bits.
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Connections = Annotated[int, Field(ge=1, le=MOST_CONNECTIONS)]
# Names become folders.
Name = Annotated[str, Field(pattern=r"^[\w][\w.+-]{0,99}$")]


class SamplingOptions(Checked):
    """Sampling fields, sent explicitly to every endpoint.

    `max_tokens` replaces every taskset's own budget when it is given. `logprobs` records, for
    each token of an answer, so many likeliest tokens and their logarithms.
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
    logprobs: int | None = Field(None, ge=1, le=20)


class RequestOptions(Checked):
    """Deadlines in seconds, and how often a request is tried.

    `first_byte_timeout` runs from the start of an attempt until the answer begins; by
    default it is as long as `timeout`, because a server that does not stream says nothing
    before it has finished. `idle_timeout` runs between two parts of an answer, `timeout`
    over the whole attempt. After each `canary_every` requests it is looked at whether the
    endpoint is still the same; 0 looks only at the end.
    """

    connect_timeout: float = Field(10.0, gt=0)
    first_byte_timeout: float | None = Field(None, gt=0)
    idle_timeout: float = Field(120.0, gt=0)
    timeout: float = Field(300.0, gt=0)
    max_attempts: int = Field(5, ge=1)
    backoff_base: float = Field(0.5, ge=0)
    backoff_cap: float = Field(30.0, ge=0)
    canary_every: int = Field(200, ge=0)


class JudgeOptions(Checked):
    """A model that judges answers where no rule can.

    Attributes:
        endpoint: A name among `endpoints`, or whatever the command line takes for one;
            `--judge` may name it too.
        rubric: Name of a rubric that ships, or the YAML file of one.
        tasks: Tasksets or families that it judges, beside those that ask for a judge and
            those for which rules are known to be too weak.
        max_tokens: Of its reply, reasoning included.
        temperature: Of its sampling.
        repeat: Share of the answers that it is asked about twice, to see whether it agrees
            with itself.
    """

    endpoint: str | None = Field(None, min_length=1, repr=False)
    rubric: str = Field("answers", min_length=1)
    tasks: tuple[str, ...] = ()
    max_tokens: int = Field(1024, ge=1)
    temperature: float = Field(0.0, ge=0)
    repeat: float = Field(0.1, ge=0, le=1)


class Config(Checked):
    """Everything that a configuration file may say.

    `aa` is the share of the prompts that a comparison asks the baseline a second time, to
    measure its noise floor.

    `pass_at` are the k of pass@k that are told where there are several epochs; nothing means
    1, 2, 3, 5, 10, ... up to `epochs`.

    `max_connections` are the requests in flight, equal for every endpoint; `auto` finds the
    number before the first answer counts.

    `judge` may be the name of its endpoint alone.

    `families` and `metrics` are for logs of other tools: what a task measures, and which of its
    scores counts; by the task's name, or `*` for all.

    `skip_faulty` leaves out samples of public sets whose label is known to be wrong, and
    `include_path` are folders of lm-eval tasks, which come before lm-eval's own.
    """

    endpoints: dict[Name, dict[str, Any]] = Field(default_factory=dict, repr=False)
    baseline: str | None = None
    candidates: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    languages: tuple[Language, ...] = ()
    suite: Literal["smoke", "quick", "standard", "full"] | None = None
    limit: int | None = Field(None, ge=1)
    stage_2: int | None = Field(None, ge=1)
    skip_faulty: bool = False
    include_path: tuple[str, ...] = ()
    epochs: int = Field(1, ge=1)
    pass_at: tuple[Annotated[int, Field(ge=1)], ...] = ()
    aa: float = Field(0.1, ge=0, le=1)
    seed: Seed = 0
    max_connections: Connections | Literal["auto"] = DEFAULT_CONNECTIONS
    sampling: SamplingOptions = Field(default_factory=lambda: SamplingOptions())
    requests: RequestOptions = Field(default_factory=lambda: RequestOptions())
    policy: Policy = Field(default_factory=lambda: Policy())
    judge: JudgeOptions | None = None
    families: dict[str, Family] = Field(default_factory=dict)
    metrics: dict[str, str] = Field(default_factory=dict)
    allow_code: bool = False
    allow_confounded: bool = False
    redact: bool = False
    output: str | None = None

    @property
    def connections(self) -> int:
        """Requests at once; where they are still to be found, the usual number."""
        return DEFAULT_CONNECTIONS if self.max_connections == "auto" else self.max_connections

    @field_validator("judge", mode="before")
    @classmethod
    def _judge_by_name(cls, value: Any) -> Any:
        return {"endpoint": value} if isinstance(value, str) else value

    @field_validator("max_connections", mode="before")
    @classmethod
    def _are_connections(cls, value: Any) -> Any:
        plain = isinstance(value, int) and not isinstance(value, bool)
        if value != "auto" and not (plain and 1 <= value <= MOST_CONNECTIONS):
            raise ValueError(f"it must be a number from 1 to {MOST_CONNECTIONS}, or auto")
        return value


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
    raw = read_yaml(path) if path is not None else {}
    try:
        refuse_plain_keys(raw, f"'{path}'")
        raw = expand(raw, env, str(path))
    except RecursionError:
        raise ConfigError(f"Configuration file '{path}' refers to itself.") from None
    for override in overrides:
        alone: dict[str, Any] = {}
        _apply_override(alone, override)
        refuse_plain_keys(alone, "--set")
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


def _apply_override(raw: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise ConfigError(f"--set '{override}' is not of the form key.path=value.")
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        shown = "" if names_secret(key.rpartition(".")[2]) else f" '{text}'"
        raise ConfigError(f"--set '{key}': the value{shown} is not valid YAML.") from None
    target = raw
    *parents, last = key.split(".")
    for parent in parents:
        inner = target.setdefault(parent, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"--set '{key}': '{parent}' is not a group of keys.")
        target = inner
    target[last] = value
