"""From what a caller gives, a file or mappings, to a checked configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evalkit.config import Config, check_config, load_config
from evalkit.errors import UsageError
from evalkit.policy import Policy, read_policy

DEFAULT_OUTPUT = Path("reports/out")
_WHERE = "the call"
_LISTS = frozenset(("tasks", "languages", "candidates"))


def checked_config(
    config: Config | Mapping[str, Any] | str | Path | None,
    settings: Mapping[str, Any],
    policy: Policy | Mapping[str, Any] | str | Path | None,
) -> Config:
    """Return a configuration; single settings win over the whole, and so does the policy.

    Raises:
        ConfigError: For a key that is not known, or a value that does not fit.
    """
    if isinstance(config, (str, Path)):
        config = load_config(Path(config))
    elif not isinstance(config, Config):
        config = check_config(dict(config or {}), where=_WHERE)
    given = {
        key: (value,) if key in _LISTS and isinstance(value, str) else value
        for key, value in settings.items()
        if value is not None
    }
    if isinstance(policy, (str, Path)):
        policy = read_policy(Path(policy))
    if policy is not None:
        given["policy"] = policy.model_dump() if isinstance(policy, Policy) else dict(policy)
    if not given:
        return config
    # What was never set must not look as if it was.
    return check_config({**config.model_dump(exclude_unset=True), **given}, where=_WHERE)


def targets_of(targets: Sequence[str], config: Config) -> Sequence[str]:
    """Return the names that are given, or else those of the configuration.

    Raises:
        UsageError: When there are none.
    """
    if targets:
        return targets
    if config.baseline is not None and config.candidates:
        return (config.baseline, *config.candidates)
    raise UsageError(
        "There is nothing to compare.",
        hint="Name a baseline and a candidate, e.g.: evalkit compare q8 q4",
    )


def default_output(config: Config) -> Path:
    """Return where comparisons and runs lie that nobody has given a folder."""
    return Path(config.output) if config.output else DEFAULT_OUTPUT
