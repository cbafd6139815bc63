"""From a comparison folder to the alert rules of the endpoint that shall serve."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalkit.alerts import RuleSet
from evalkit.errors import StoreError, UnknownNameError, UsageError
from evalkit.operations.engines import VLLM
from evalkit.operations.rules import Subject, make_rules
from evalkit.operations.thresholds import Settings
from evalkit.performance import Performance
from evalkit.releases import Snapshot
from evalkit.report.flat import date
from evalkit.report.performance_gains import other_builds
from evalkit.report.performance_store import PERFORMANCE_FILE, load_performance
from evalkit.report.text import one_line
from evalkit.results import ArmInfo, Comparison
from evalkit.stages.history import read_history
from evalkit.stages.measured_beside import accepted_drafts
from evalkit.stages.snapshots import snapshot, verdict_of
from evalkit.stages.stored import load_sound


@dataclass(frozen=True, slots=True)
class Watching:
    """A comparison, and what of it shall be watched.

    Attributes:
        info: The endpoint: the recommended one, or the one that was named.
        found: What a probe measured of these builds; `None` when nothing was.
        rollback: What to go back to; `None` where nothing else is known.
        earlier: Whether that is an earlier release with SHIP, and not the baseline.
    """

    folder: Path
    comparison: Comparison
    info: ArmInfo
    found: Performance | None
    rollback: Snapshot | None
    earlier: bool


def watching(
    folder: Path, arm: str | None, history: Path | None, *, going_live: bool = False
) -> Watching:
    """Read what is needed to watch an endpoint of a comparison.

    Args:
        folder: Of the comparison.
        arm: The endpoint; `None` for the recommended one, else the baseline.
        history: Folder of earlier comparisons, in which the newest release is looked for.
        going_live: Whether it is a candidate in any case.

    Raises:
        StoreError: When the folder is none, or was changed.
        UnknownNameError: When it has no such endpoint.
        UsageError: When the figures are of other builds.
    """
    comparison = load_sound(folder)
    infos = {info.endpoint: info for info in (comparison.baseline, *comparison.candidates)}
    name = arm or _default_arm(comparison, going_live=going_live)
    if name not in infos:
        raise UnknownNameError("endpoint of this comparison", name, infos)
    found = load_performance(folder)
    if other_builds(found, comparison):
        raise UsageError(
            f"'{folder / PERFORMANCE_FILE}' measured other builds than are compared here.",
            hint="Measure these with 'evalkit probe', with -o of this folder.",
        )
    if found is not None and name not in {one.name for one in found.arms}:
        found = None
    earlier = _earlier(folder, comparison, history)
    before = snapshot(
        comparison,
        comparison.baseline,
        str(folder),
        verdict_of(comparison, comparison.baseline.endpoint),
    )
    target = before if earlier is None and name != before.endpoint else earlier
    return Watching(folder, comparison, infos[name], found, target, earlier is not None)


def _default_arm(comparison: Comparison, *, going_live: bool) -> str:
    advice, baseline = comparison.recommendation, comparison.baseline.endpoint
    if not going_live:
        return advice.endpoint or baseline
    named = [name for name in (advice.endpoint, advice.candidate) if name not in (None, baseline)]
    return str(named[0]) if named else comparison.candidates[0].endpoint


def rules_of(subject: Watching, engine: str | None, settings: Settings) -> RuleSet:
    """Return the rules of an endpoint.

    Raises:
        StoreError: When nothing was measured.
        UsageError: When its engine's metrics are not known, or a setting makes no sense.
    """
    if subject.found is None:
        raise StoreError(
            f"Nothing was measured of '{one_line(subject.info.endpoint)}': there is no "
            f"{PERFORMANCE_FILE} of it in '{subject.folder}'.",
            hint=f"Measure it: evalkit probe BASELINE CANDIDATE -o {subject.folder}",
        )
    return make_rules(_subject(subject, engine), settings)


def _subject(subject: Watching, engine: str | None) -> Subject:
    created = subject.found.created if subject.found is not None else subject.comparison.created
    name = subject.folder.resolve().name
    source = f"{name}/{PERFORMANCE_FILE}, evalkit probe of {date(created)}"
    drafts = accepted_drafts(subject.found, subject.info.endpoint)
    accepted = None if drafts is None else (drafts.share, drafts.low, drafts.drafted)
    rollback = rollback_words(subject)
    return Subject(subject.info, engine or VLLM, subject.found, source, rollback, accepted)


def rollback_words(subject: Watching) -> str:
    """Name what to go back to: endpoint, and what it is; empty where nothing is known."""
    target = subject.rollback
    if target is None:
        return ""
    return f"{target.endpoint} ({target.label})"


def _earlier(folder: Path, comparison: Comparison, history: Path | None) -> Snapshot | None:
    """Return the newest release that shipped before this comparison, as far as one is known."""
    known = [comparison.against.rollback] if comparison.against is not None else []
    if history is not None:
        line = read_history(history)
        own = folder.resolve()
        ships = [one for one in (line.rollback, line.newest_ship) if one is not None]
        known += [one for one in ships if Path(one.folder).resolve() != own]
    before = [one for one in known if one is not None and one.created < comparison.created]
    return max(before, key=lambda one: one.created, default=None)
