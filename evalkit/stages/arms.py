"""Who is compared: from the words of the command line to arms with names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evalkit.collect.journal import is_run_folder, open_run
from evalkit.config import Config
from evalkit.endpoints.base import EndpointOptions, resolve_target, starts_process
from evalkit.endpoints.urls import mask_target
from evalkit.errors import UsageError


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a comparison: an endpoint to ask, or a run that was recorded.

    Attributes:
        name: Short and safe as a file name.
        raw: Configuration of the endpoint; `None` for a recorded run. It may hold
            credentials and goes to the endpoint alone.
        recorded: Folder of the recorded run.
        shown: What the command line called it, without credentials.
    """

    name: str
    raw: Mapping[str, Any] | None = field(default=None, repr=False)
    recorded: Path | None = None
    shown: str = ""

    @property
    def launched(self) -> bool:
        """Whether evalkit starts its server: one at a time, they may share a device."""
        return self.raw is not None and starts_process(self.raw)


def resolve_arms(targets: Sequence[str], config: Config) -> list[Arm]:
    """Turn arguments into arms, in their order.

    Raises:
        UnknownNameError: With suggestions.
        UsageError: When two arms are the same.
    """
    arms = [_resolve(target, config) for target in targets]
    for index, arm in enumerate(arms):
        for other in arms[:index]:
            if targets[index] == targets[arms.index(other)]:
                raise UsageError(
                    f"'{mask_target(targets[index])}' is given twice.",
                    hint="A comparison needs two different endpoints.",
                )
            if arm.name == other.name:
                arm = replace(arm, name=f"{arm.name}-{index + 1}")
        arms[index] = arm
    return arms


def endpoint_options(
    config: Config, log_path: Path | None, notify: Callable[[str], None] | None
) -> EndpointOptions:
    """Return what every endpoint shares."""
    return EndpointOptions(
        max_connections=config.connections,
        connect_timeout=config.requests.connect_timeout,
        first_byte_timeout=config.requests.first_byte_timeout,
        idle_timeout=config.requests.idle_timeout,
        request_timeout=config.requests.timeout,
        log_path=log_path,
        notify=notify,
        redact=config.redact,
    )


def comparison_name(arms: Sequence[Arm]) -> str:
    """Name a comparison after its arms: `q8-vs-q4`."""
    baseline, *candidates = (re.sub(r"[^A-Za-z0-9._-]+", "-", arm.name) for arm in arms)
    return f"{baseline}-vs-{'-'.join(candidates)}"


def _resolve(target: str, config: Config) -> Arm:
    path = Path(target)
    if target not in config.endpoints and is_run_folder(path):
        header = open_run(path).read_header() or {}
        name = header.get("endpoint", {}).get("name") or path.resolve().name
        return Arm(str(name), recorded=path, shown=target)
    name, raw = resolve_target(target, config.endpoints)
    return Arm(name, raw=raw, shown=mask_target(target))
