"""The answer for one candidate: verdict and reasons, its look, other policies, and the judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evalkit.estimates import Estimate


class VerdictState(StrEnum):
    """The answer for one candidate."""

    SHIP = "SHIP"
    HOLD = "HOLD"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"


@dataclass(frozen=True, slots=True)
class ReasonCode:
    """Why a verdict is what it is, e.g. `DEGRADED_ACC` of `math`.

    `values` are the numbers that the sentence about it needs.
    """

    code: str
    scope: str | None = None
    metric: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """State, the codes that led to it, and the exit code of the gate."""

    state: VerdictState
    codes: tuple[ReasonCode, ...]
    exit_code: int


@dataclass(frozen=True, slots=True)
class Look:
    """Which look at the data a comparison is, by the ledger of its folder.

    Attributes:
        number: 1 for the first set of answers that was decided on.
        stage: Of a two-stage plan; 1 otherwise.
        plan: That was fixed before the run.
        planned: Whether the plan allows it.
    """

    number: int
    stage: int
    plan: str
    planned: bool


@dataclass(frozen=True, slots=True)
class PolicyReading:
    """What one policy makes of a candidate, where more than one was declared or given.

    Attributes:
        policy_hash: Of the policy.
        declared_by: Arms that were collected under it; none when it came after the run.
        verdict: By it; `None` when only its hash is known.
        changes: Every number that differs from the policy that gates: that one's, this one's.
        gates: Whether this is the reading that the exit code follows.
    """

    policy_hash: str
    declared_by: tuple[str, ...]
    verdict: Verdict | None
    changes: Mapping[str, tuple[Any, Any]]
    gates: bool


@dataclass(frozen=True, slots=True)
class JudgeInfo:
    """The model that judged answers where no rule did.

    Attributes:
        identity: What it was found to be.
        mark: Hash of identity, rubric and sampling: what a calibration is of.
        sampling: How it was asked.
        tasksets: Those that it decided.
        answers: Different answers that it was asked about.
        agreement: Share of those asked twice, in another order, on which it agreed with
            itself; `None` where none was.
        failures: By arm: why answers have no verdict, with counts.
        judges_itself: Arms that are the very endpoint that judged.
    """

    endpoint: str
    label: str
    identity: Mapping[str, Any]
    mark: str
    rubric: str
    rubric_version: int
    rubric_hash: str
    sampling: Mapping[str, Any]
    tasksets: tuple[str, ...]
    answers: int
    agreement: Estimate | None
    failures: Mapping[str, Mapping[str, int]]
    judges_itself: tuple[str, ...] = ()
