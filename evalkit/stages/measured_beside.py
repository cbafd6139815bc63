"""What other measurements beside a comparison say of an endpoint, as far as they are there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import StoreError
from evalkit.performance import Performance
from evalkit.report.performance_gains import same_build
from evalkit.report.soak_store import load_soak
from evalkit.results import ArmInfo
from evalkit.stability import Stability


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many drafted tokens were accepted: of all work, and the low end where it was worst."""

    share: float
    low: float
    drafted: int


def accepted_drafts(found: Performance | None, arm: str) -> Accepted | None:
    """Return the acceptance that a probe of speculation measured of an endpoint.

    Args:
        found: What the probe measured; `None` where there was none.
        arm: The endpoint.
    """
    measured = [
        work.acceptance
        for group in (found.speculation if found is not None else ())
        for one in group.arms
        if one.arm == arm
        for work in one.workloads.values()
        if work.acceptance is not None and work.acceptance.drafted
    ]
    drafted = sum(one.drafted for one in measured)
    if not drafted:
        return None
    lows = [
        one.accepted / one.drafted if one.rate is None or one.rate.low is None else one.rate.low
        for one in measured
    ]
    if min(lows) <= 0:
        return None
    return Accepted(sum(one.accepted for one in measured) / drafted, min(lows), drafted)


def soaked(folder: Path, info: ArmInfo) -> Stability | None:
    """Return what a soak found of an endpoint; `None` where it measured nothing of this build."""
    try:
        found = load_soak(folder)
    except StoreError:
        return None
    if found is None or found.state == "unmeasured" or found.endpoint != info.endpoint:
        return None
    return found if same_build(found.identity, info) else None
