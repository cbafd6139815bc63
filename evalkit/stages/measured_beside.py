"""What other measurements beside a comparison say of an endpoint, as far as they are there.

Read leniently: a file that is missing, broken or of another version says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evalkit.errors import StoreError
from evalkit.report.performance_gains import same_build
from evalkit.report.performance_store import PERFORMANCE_FILE
from evalkit.report.soak_store import load_soak
from evalkit.results import ArmInfo
from evalkit.stability import Stability


@dataclass(frozen=True, slots=True)
class Accepted:
    """How many drafted tokens were accepted: of all work, and the low end where it was worst."""

    share: float
    low: float
    drafted: int


def accepted_drafts(folder: Path, arm: str) -> Accepted | None:
    """Return the acceptance that a probe of speculation measured of an endpoint."""
    found = _read(folder / PERFORMANCE_FILE)
    groups = _mappings(found.get("speculation"))
    arms = (one for group in groups for one in _mappings(group.get("arms")))
    drafted = accepted = 0.0
    lows = []
    for one in arms:
        workloads = one.get("workloads")
        if one.get("arm") != arm or not isinstance(workloads, dict):
            continue
        for work in _mappings(list(workloads.values())):
            told = work.get("acceptance")
            if not isinstance(told, dict):
                continue
            of, kept = _number(told.get("drafted")), _number(told.get("accepted"))
            rate = told.get("rate")
            low = _number(rate.get("low")) if isinstance(rate, dict) else None
            if of and kept is not None and kept <= of:
                drafted, accepted = drafted + of, accepted + kept
                lows.append(kept / of if low is None else low)
    if not drafted or min(lows) <= 0:
        return None
    return Accepted(accepted / drafted, min(lows), int(drafted))


def soaked(folder: Path, info: ArmInfo) -> Stability | None:
    """Return what a soak found of an endpoint; `None` where it measured nothing of this build."""
    try:
        found = load_soak(folder)
    except StoreError:
        return None
    if found is None or found.state == "unmeasured" or found.endpoint != info.endpoint:
        return None
    return found if same_build(found.identity, info) else None


def _read(file: Path) -> Mapping[str, Any]:
    try:
        found = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    for one in value if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield one


def _number(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return float(value) if known else None
