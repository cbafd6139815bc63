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
from evalkit.importers.base import Log, find_log


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a comparison: an endpoint to ask, a recorded run, or a log of another tool.

    Attributes:
        name: Short and safe as a file name.
        raw: Configuration of the endpoint; `None` for a recorded run. It may hold
            credentials and goes to the endpoint alone.
        recorded: Folder of the recorded run.
        shown: What the command line called it, without credentials.
        log: Of another tool; it becomes a recorded run before anything else.
    """

    name: str
    raw: Mapping[str, Any] | None = field(default=None, repr=False)
    recorded: Path | None = None
    shown: str = ""
    log: Log | None = None

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
                arm = replace(arm, name=_told_apart(arm, other, index))
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
    log = None if target in config.endpoints else find_log(target)
    if log is not None:
        return Arm(_log_name(log), log=log, shown=target)
    name, raw = resolve_target(target, config.endpoints)
    return Arm(name, raw=raw, shown=mask_target(target))


def _told_apart(arm: Arm, other: Arm, index: int) -> str:
    """Name an arm otherwise than another: two logs by the first folders that differ."""
    if arm.log is not None and other.log is not None:
        mine, theirs = (one.log.path.resolve().parts for one in (arm, other) if one.log)
        differing = [a for a, b in zip(reversed(mine), reversed(theirs), strict=False) if a != b]
        if differing:
            return f"{arm.name}-{re.sub(r'[^A-Za-z0-9._-]+', '-', differing[0])[:40]}"
    return f"{arm.name}-{index + 1}"


def _log_name(log: Log) -> str:
    """Name an arm after the part of a log, or the file or folder that is the log."""
    path = log.path.resolve()
    own = log.part or (path.name if path.is_dir() else path.stem)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", own).strip("-.")[:60] or "log"
