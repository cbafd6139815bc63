"""What is new since a release, and which findings of the preflight that explains."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from evalkit.collect.preflight import ProbeRecord, compare_records
from evalkit.config import Config
from evalkit.decision.lineage import release_change
from evalkit.errors import InvalidComparison
from evalkit.releases import Against, ReleaseChange, Sameness, Snapshot
from evalkit.results import ReasonCode
from evalkit.stages.against import Release, Terms
from evalkit.stages.checking import find_confounders, said
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.snapshots import run_snapshot, shipped, verdict_of

# Whether the candidate is the cheaper build is not the question here, and a server may be
# the one of then with another engine or other weights in it.
_ALWAYS: Final = frozenset(("quantized", "distinct", "engine", "engine_version"))
# Two engines may name and bound things differently; and where they compute the very same
# numbers, the update is the better for it.
_NEW_ENGINE: Final = frozenset(("same_answers", "logprobs", "long_prompt"))
_NEW_WEIGHTS: Final = frozenset(("same_answers",))


def release_changes(runs: Sequence[CollectedRun]) -> dict[str, ReleaseChange]:
    """Return what is new in each candidate; the release's run comes first."""
    before = asdict(runs[0].identity)
    return {run.arm: release_change(run.arm, before, asdict(run.identity)) for run in runs[1:]}


def release_confounders(
    runs: Sequence[CollectedRun], changes: Mapping[str, ReleaseChange]
) -> Mapping[str, list[ReasonCode]]:
    """Return what was found against comparing each candidate, but for what its change explains."""
    found = find_confounders(runs)
    return {
        arm: [code for code in codes if not _explains(changes[arm], code.values.get("finding"))]
        for arm, codes in found.items()
    }


def require_like_release(run: CollectedRun, record: ProbeRecord, config: Config) -> None:
    """Refuse a candidate before it is asked, when it differs in what no change explains.

    Args:
        run: Of the release.
        record: What the preflight saw of the candidate.
        config: Whether confounders are allowed.

    Raises:
        InvalidComparison: Unless it is allowed.
    """
    if run.record is None or config.allow_confounded:
        return
    change = release_change(record.name, asdict(run.identity), asdict(record.identity))
    found = compare_records(run.record, record)
    bad = [one for one in found if one.bad and not _explains(change, one.code)]
    if bad:
        raise InvalidComparison(
            f"'{record.name}' cannot be compared with {run.folder.path}: {said(bad)}",
            hint="Mend it, or decide all the same with --allow-confounded.",
        )


def unchanged(change: ReleaseChange) -> bool:
    """Whether the very same thing is served by the very same engine, as far as both tell."""
    return change.weights is Sameness.SAME and change.engine is Sameness.SAME


def may_answer_alike(change: ReleaseChange | None) -> bool:
    """Whether word for word equal answers are no sign of the same endpoint twice."""
    return change is not None and Sameness.NEW in (change.weights, change.engine)


def describe(
    release: Release, terms: Terms, changes: Mapping[str, ReleaseChange], folder: Path
) -> Against:
    """Return what the comparison in a folder says of the release that it stands on."""
    name, content = release.endpoint, release.content
    created = str(release.header.get("created", "")) if content is None else content.created
    return Against(
        folder=str(release.folder),
        run=os.path.relpath(release.run, folder),
        endpoint=name,
        role=release.role,
        chosen=release.chosen,
        created=created,
        verdict=None if content is None else verdict_of(content, name),
        rescored=terms.rescored,
        adopted_policy=terms.adopted_policy,
        changes=tuple(changes.values()),
        rollback=_rollback(release),
    )


def _rollback(release: Release) -> Snapshot | None:
    """Return the newest SHIP that the release knows of: itself, or what it was compared with."""
    if release.content is None:
        return run_snapshot(release.header, str(release.folder), release.endpoint)
    found = shipped(release.content, str(release.folder))
    earlier = release.content.against
    return found if found is not None or earlier is None else earlier.rollback


def _explains(change: ReleaseChange, finding: object) -> bool:
    if unchanged(change):
        return finding == "quantized"
    if finding in _ALWAYS:
        return True
    engine = change.engine is Sameness.NEW and finding in _NEW_ENGINE
    return engine or (change.weights is Sameness.NEW and finding in _NEW_WEIGHTS)
