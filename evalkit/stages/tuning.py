"""`max_connections: auto`: one number for all arms, found before the first answer counts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evalkit.collect.autotune import Tuning, find_connections
from evalkit.collect.journal import is_run_folder, open_run
from evalkit.collect.redaction import quiet
from evalkit.collect.requests import build_requests
from evalkit.config import Config
from evalkit.endpoints.base import parse_endpoint
from evalkit.stages.arms import Arm, endpoint_options
from evalkit.stages.opening import opened
from evalkit.stages.plan import Plan
from evalkit.stages.probing import OnStage


@dataclass(frozen=True, slots=True)
class Concurrency:
    """Requests at once: the same for every arm.

    Attributes:
        connections: The number.
        found: The number that each arm would have been fastest with; empty when it was not
            looked for.
    """

    connections: int
    found: Mapping[str, int] = field(default_factory=dict)

    def applied(self, config: Config) -> Config:
        """Return the configuration with the number in it."""
        return config.model_copy(update={"max_connections": self.connections})

    def settings(self, arm: str) -> dict[str, Any]:
        """Return what the header of an arm's run says of it."""
        said: dict[str, Any] = {"max_connections": self.connections}
        if arm in self.found:
            said["connections_found"] = self.found[arm]
        return said


async def fix_connections(
    arms: Sequence[Arm],
    plan: Plan,
    config: Config,
    folders: Mapping[str, Path],
    on_stage: OnStage,
    *,
    stop: asyncio.Event,
    fresh: bool = False,
) -> Concurrency:
    """Return the number that the configuration says, or find it: the minimum over arms.

    What a run of this comparison was asked with already stays, also that of a recorded arm.

    Args:
        arms: To be compared.
        plan: What they are asked.
        config: With a number, or `auto`.
        folders: Where each arm's run is or will be.
        on_stage: Told in a sentence what is found.
        stop: When set, no further trial begins.
        fresh: Whether recorded answers will be thrown away.

    Raises:
        EndpointError: When an endpoint cannot be used.
    """
    if config.max_connections != "auto":
        return Concurrency(config.max_connections)
    recorded = _recorded(arms, folders, fresh=fresh)
    if recorded is not None:
        on_stage(f"{_words(recorded.connections)} at once for every arm, as before")
        return recorded
    found = {}
    for arm in arms:
        if arm.raw is not None:
            tuning = await _tune(arm, arm.raw, plan, config, on_stage, stop)
            found[arm.name] = tuning.connections
    chosen = min(found.values(), default=config.connections)
    single = ", ".join(f"{name} {number}" for name, number in found.items())
    on_stage(f"{_words(chosen)} at once for every arm (fastest without errors: {single})")
    return Concurrency(chosen, found)


def _recorded(
    arms: Sequence[Arm], folders: Mapping[str, Path], *, fresh: bool
) -> Concurrency | None:
    numbers, found = [], {}
    for arm in arms:
        path = arm.recorded or (None if fresh else folders[arm.name])
        if path is None or not is_run_folder(path):
            continue
        settings = (open_run(path).read_header() or {}).get("settings", {})
        if isinstance(settings.get("max_connections"), int):
            numbers.append(settings["max_connections"])
            if isinstance(settings.get("connections_found"), int):
                found[arm.name] = settings["connections_found"]
    return Concurrency(min(numbers), found) if numbers else None


async def _tune(
    arm: Arm,
    raw: Mapping[str, Any],
    plan: Plan,
    config: Config,
    on_stage: OnStage,
    stop: asyncio.Event,
) -> Tuning:
    on_stage(f"warming up {arm.name}")
    endpoint = parse_endpoint(arm.name, raw, endpoint_options(config, None, on_stage))
    async with opened(endpoint, stop):
        identity = await endpoint.identity()
        requests = build_requests(
            plan.tasksets, identity, plan.sampling_for, plan.epochs, plan.seed
        )
        asked = quiet(endpoint) if config.redact else endpoint
        return await find_connections(asked, requests, stop=stop)


def _words(connections: int) -> str:
    return "1 request" if connections == 1 else f"{connections} requests"
