"""How runs were asked, as the report tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalkit.config import Config
from evalkit.results import ArmTiming
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.plan import Plan
from evalkit.stages.sandboxing import sandbox_layers
from evalkit.stages.timing import arm_timing
from evalkit.types import Completion


def told_timing(run: CollectedRun, completions: Iterable[Completion]) -> ArmTiming:
    """Return how fast an arm answered; of what another tool asked, nothing is known.

    A log may tell the seconds of each answer, and never how many were in flight.
    """
    if run.log is not None:
        return ArmTiming(run.arm, None, None, None, None, None)
    return arm_timing(run.arm, list(completions))


def told_sampling(plan: Plan, runs: Sequence[CollectedRun]) -> dict[str, Any]:
    """Return what evalkit asked for; what another tool did stands in the settings."""
    if all(run.log is not None for run in runs):
        return {}
    return plan.sampling.model_dump(mode="json")


def told_settings(plan: Plan, config: Config, runs: Sequence[CollectedRun]) -> dict[str, Any]:
    """Return what else shaped the runs."""
    headers = {run.arm: run.folder.read_header() or {} for run in runs}
    said = {arm: header.get("settings", {}) for arm, header in headers.items()}
    found = {arm: s["connections_found"] for arm, s in said.items() if "connections_found" in s}
    used = {arm: s.get("max_connections", config.connections) for arm, s in said.items()}
    alike = len(set(used.values())) == 1
    logs = {run.arm: _known(run.log.get("settings")) for run in runs if run.log is not None}
    asked = {"seed": plan.seed, "max_connections": next(iter(used.values())) if alike else used}
    layers = sandbox_layers(plan)
    return {
        **({"recorded": logs} if logs else {}),
        "limit": plan.limit,
        "stage_2": plan.stage_2,
        "languages": list(plan.languages),
        "suite": plan.suite,
        "epochs": plan.epochs,
        **(asked if len(logs) < len(runs) else {}),
        **({"connections_found": found} if found else {}),
        "allow_code": config.allow_code,
        **({"sandbox": list(layers)} if layers else {}),
        "allow_confounded": config.allow_confounded,
    }


def _known(settings: Any) -> Any:
    """Return what a log says of its tasks, without what it leaves open."""
    if not isinstance(settings, Mapping):
        return settings
    return {key: _known(value) for key, value in settings.items() if value is not None}
