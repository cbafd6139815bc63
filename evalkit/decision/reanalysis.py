"""More than one policy: the one that was fixed before the run, and those that came later.

What was fixed before the run gates. Another policy can only take a SHIP away: a looser one
changes nothing, a stricter one is followed where it does not ship.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from evalkit.policy import Policy, policy_changes
from evalkit.results import PolicyReading, Threat, Verdict, VerdictState


@dataclass(frozen=True, slots=True)
class Version:
    """One policy.

    Attributes:
        policy: `None` when only its hash is known.
        declared_by: Arms that were collected under it; none when it was given afterwards.
    """

    policy_hash: str
    policy: Policy | None
    declared_by: tuple[str, ...]


def versions_of(
    declared: Sequence[tuple[str, str | None, Mapping[str, Any] | None]],
    present: Policy,
    *later: Policy,
) -> tuple[Version, ...]:
    """Return the different policies: those of the runs in the arms' order, then the present one.

    Args:
        declared: Arm, hash and numbers of its header; the latter may be unknown. An arm
            that says nothing at all stands under the present policy.
        present: That the comparison is made with.
        later: Those that it is judged under afterwards.
    """
    found: dict[str, Version] = {}
    for arm, known_hash, numbers in declared:
        policy = _read(numbers)
        name = policy.fingerprint if policy is not None else known_hash
        if name is None or name == present.fingerprint:
            name, policy = present.fingerprint, present
        before = found.get(name)
        arms = (arm,) if before is None else (*before.declared_by, arm)
        found[name] = Version(name, policy, arms)
    for given in (present, *later):
        found.setdefault(given.fingerprint, Version(given.fingerprint, given, ()))
    # One of which the numbers are known comes first: the first is the one that gates.
    return tuple(sorted(found.values(), key=lambda version: version.policy is None))


def calibrated_later(
    numbers: Mapping[str, Any] | None, present: Policy, judged: Mapping[str, str]
) -> tuple[Mapping[str, Any] | None, tuple[str, ...]]:
    """Add calibrations that a policy could not hold yet, because the judge was not measured.

    A calibration is a measurement and no choice: labels are mostly made on the very answers.
    One of the very judge, rubric and sampling that decided may come after the run, where
    none was declared before; one that was declared is never replaced.

    Args:
        numbers: Of the policy that was declared.
        present: That the comparison is made with.
        judged: Tasksets that a judge decided, with its mark.

    Returns:
        The numbers with what is added, and the tasksets whose calibration it is.
    """
    if numbers is None or numbers.get("plan") == "sequential":
        return numbers, ()
    known = dict(numbers.get("judges") or {})
    new = {
        name: calibration.model_dump(mode="json")
        for name, calibration in present.judges.items()
        if name not in known and name in judged and calibration.judge == judged[name]
    }
    if not new:
        return numbers, ()
    # In the order of the present policy: numbers that are equal must hash alike.
    order = [*present.judges, *(name for name in known if name not in present.judges)]
    merged = {**known, **new}
    judges = {name: merged[name] for name in order if name in merged}
    return {**numbers, "judges": judges}, tuple(sorted(new))


def gating(verdicts: Sequence[Verdict | None]) -> int:
    """Return the place of the verdict that gates, given one for each policy in their order."""
    first = verdicts[0]
    if first is not None and first.state is VerdictState.SHIP:
        for place, verdict in enumerate(verdicts):
            if verdict is not None and verdict.state is not VerdictState.SHIP:
                return place
    return 0


def readings(
    versions: Sequence[Version], verdicts: Sequence[Verdict | None]
) -> tuple[PolicyReading, ...]:
    """Put what every policy says of a candidate side by side; empty when there is one policy."""
    if len(versions) < 2:
        return ()
    gates = gating(verdicts)
    return tuple(
        PolicyReading(
            policy_hash=version.policy_hash,
            declared_by=version.declared_by,
            verdict=verdict,
            changes=_changes(versions[0], version),
            gates=place == gates,
        )
        for place, (version, verdict) in enumerate(zip(versions, verdicts, strict=True))
    )


def policy_threats(found: Sequence[PolicyReading]) -> tuple[Threat, ...]:
    """Say that the policy was changed after the run, or that the arms had different ones."""
    if not found:
        return ()
    threats = []
    first, *others = found
    for other in others:
        values: dict[str, Any] = {
            "changes": [f"{key} {old} → {new}" for key, (old, new) in other.changes.items()],
            "gates": next(reading.policy_hash for reading in found if reading.gates),
        }
        if first.verdict is not None:
            values["before"] = first.verdict.state.value
        if other.verdict is not None:
            values["after"] = other.verdict.state.value
        if other.declared_by:
            values["arms"] = [*first.declared_by, *other.declared_by]
        known = other.verdict is not None
        code = "POLICIES_DIFFER" if other.declared_by else "POLICY_CHANGED"
        threats.append(Threat(code if known else "POLICY_UNKNOWN", "warn", values))
    return tuple(threats)


def _changes(first: Version, other: Version) -> dict[str, tuple[Any, Any]]:
    if first.policy is None or other.policy is None:
        return {}
    return policy_changes(first.policy, other.policy)


def _read(numbers: Mapping[str, Any] | None) -> Policy | None:
    """Read the numbers of a header; `None` when there are none, or this version has others."""
    if numbers is None:
        return None
    try:
        return Policy.model_validate(numbers)
    except ValidationError:
        return None
