"""Releases in a line: what a candidate is compared against, what changed, what to go back to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from evalkit.estimates import Estimate
from evalkit.rulings import VerdictState


class Sameness(StrEnum):
    """Whether two releases share something, as far as both tell."""

    SAME = "same"
    NEW = "new"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """What is another thing in a release than in the one before it.

    Attributes:
        candidate: Name of the later one.
        weights: Whether it serves the same weights.
        engine: Whether the same engine serves them, in the same version.
        fields: Every field of the identity that differs: before, after.
    """

    candidate: str
    weights: Sameness
    engine: Sameness
    fields: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A release as it was served, to go back to: credentials are in none of it.

    Attributes:
        folder: Of its comparison or run.
        verdict: That it got; `None` for a run that nobody has judged.
        created: When it was judged, or asked.
        sampling: Fields that every request carried.
        settings: The rest of how it was asked.
    """

    folder: str
    endpoint: str
    label: str
    verdict: VerdictState | None
    created: str
    identity: Mapping[str, Any]
    sampling: Mapping[str, Any]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Against:
    """The stored release that stands as the baseline of a comparison.

    Attributes:
        run: Its run folder, seen from the folder of this comparison.
        role: What it was in its comparison; `run` for a run folder.
        chosen: Why this role: it was named, it had been recommended, or nothing else was.
        rescored: Tasksets that another version of a scorer had scored: then, now.
        adopted_policy: Whether its policy was taken over because none was given.
        changes: What is new, by candidate.
        rollback: The newest release with SHIP that is known of; `None` for none.
    """

    folder: str
    run: str
    endpoint: str
    role: Literal["baseline", "candidate", "run"]
    chosen: Literal["named", "recommended", "kept", "run"]
    created: str
    verdict: VerdictState | None
    rescored: Mapping[str, tuple[str, str]]
    adopted_policy: bool
    changes: tuple[ReleaseChange, ...] = ()
    rollback: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class PooledMetric:
    """One pooled metric of one point: its difference, and the loss that was acceptable."""

    metric: str
    difference: Estimate
    margin: float


BreakGroup = Literal["prompts", "policy", "scorer", "sampling", "settings"]


@dataclass(frozen=True, slots=True)
class HistoryBreak:
    """Something that was asked or decided otherwise than at the point before."""

    group: BreakGroup
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One candidate of one comparison, in a line of releases.

    Attributes:
        folder: Below the folder that was read.
        series: Points of one series are joined by a line.
        breaks: What is not as at the point before, so that the two do not continue one line.
        change: What is new in the candidate since the point before; `None` for the first.
        rollback: Folder and endpoint of the newest earlier SHIP; `None` for none.
    """

    folder: str
    created: str
    model: str
    baseline: str
    candidate: str
    label: str
    identity: Mapping[str, Any]
    state: VerdictState
    n: int
    metrics: tuple[PooledMetric, ...]
    series: str
    policy_hash: str
    breaks: tuple[HistoryBreak, ...] = ()
    change: ReleaseChange | None = None
    rollback: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Unread:
    """A folder that is left out of a history, and why."""

    folder: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReleaseHistory:
    """All comparisons below a folder, the oldest first.

    Attributes:
        exit_code: Of the newest.
        rollback: What to go back to from the newest: the newest SHIP before it.
        newest_ship: The newest SHIP of all.
    """

    folder: str
    exit_code: int
    points: tuple[HistoryPoint, ...]
    unread: tuple[Unread, ...]
    rollback: Snapshot | None
    newest_ship: Snapshot | None
