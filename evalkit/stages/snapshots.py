"""What a release was and how it was asked, in a form to go back to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.releases import Snapshot
from evalkit.results import ArmInfo, Comparison, VerdictState


def shipped(content: Comparison, folder: str) -> Snapshot | None:
    """Return the release that a comparison let through; `None` when it let none through."""
    advice = content.recommendation
    arms = {arm.endpoint: arm for arm in content.candidates}
    if advice.action != "ship_candidate" or advice.endpoint not in arms:
        return None
    return snapshot(content, arms[advice.endpoint], folder, VerdictState.SHIP)


def snapshot(
    content: Comparison, arm: ArmInfo, folder: str, verdict: VerdictState | None
) -> Snapshot:
    """Return one arm of a comparison as it was served: all of it stands in the report too."""
    return Snapshot(
        folder=folder,
        endpoint=arm.endpoint,
        label=arm.label,
        verdict=verdict,
        created=content.created,
        identity=arm.identity,
        sampling=content.sampling,
        settings=content.settings,
    )


def verdict_of(content: Comparison, endpoint: str) -> VerdictState | None:
    """Return the verdict that an arm got; `None` for the baseline, which gets none."""
    found = {result.endpoint: result.verdict.state for result in content.results}
    return found.get(endpoint)


def run_snapshot(header: Mapping[str, Any], folder: str, endpoint: str) -> Snapshot:
    """Return a run that nobody has judged, from its header."""
    plan = header.get("plan", {})
    return Snapshot(
        folder=folder,
        endpoint=endpoint,
        label=str(header.get("endpoint", {}).get("label", endpoint)),
        verdict=None,
        created=str(header.get("created", "")),
        identity=dict(header.get("identity", {})),
        sampling=dict(plan.get("sampling", {})),
        settings=dict(header.get("settings", {})),
    )
