"""The line of releases: every comparison below a folder, in the order of its making."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from evalkit.decision.lineage import release_change
from evalkit.errors import StoreError
from evalkit.policy import Policy, policy_changes
from evalkit.releases import (
    BreakGroup,
    HistoryBreak,
    HistoryPoint,
    PooledMetric,
    ReleaseHistory,
    Snapshot,
    Unread,
)
from evalkit.report import numbers
from evalkit.report.flat import value_text
from evalkit.report.store import COMPARISON_FILE
from evalkit.report.text import one_line
from evalkit.results import ArmInfo, CandidateResult, Comparison, TasksetInfo, VerdictState
from evalkit.stages.snapshots import shipped
from evalkit.stages.stored import load_sound

_ONE: Final = ""
_ASKED: Final = ("epochs", "languages", "seed")


def read_history(folder: str | Path) -> ReleaseHistory:
    """Read every comparison below a folder, at any depth.

    What cannot be read is left out, with its reason. A line joins all comparisons where each
    has one candidate, and else those of candidates of one name.

    Raises:
        StoreError: When there is no such folder, or no comparison in it that can be read.
    """
    root = Path(folder)
    if not root.is_dir():
        raise StoreError(
            f"{root} is not a folder." if root.exists() else f"{root} does not exist.",
            hint="Give the folder that holds the comparisons, e.g. reports/out.",
        )
    found: list[tuple[datetime, str, Comparison]] = []
    unread: list[Unread] = []
    for path in _comparisons(root):
        name = _below(path, root)
        try:
            content = load_sound(path)
            if not content.results:
                raise StoreError(f"'{path / COMPARISON_FILE}' holds no result.")
            found.append((_moment(content.created), name, content))
        except StoreError as error:
            unread.append(Unread(name, one_line(error.message)))
        except (OverflowError, ValueError):
            unread.append(
                Unread(name, f"'{path / COMPARISON_FILE}' does not say when it was made.")
            )
    if not found:
        why = f" that can be read: {unread[0].reason}" if unread else "."
        raise StoreError(
            f"There is no comparison in '{root}'{why}",
            hint="Make one with 'evalkit compare BASELINE CANDIDATE --output DIR'.",
        )
    found.sort(key=lambda row: (row[0], row[1]))
    ships = _ships(found, root)
    points = _points(found, ships)
    return ReleaseHistory(
        folder=str(root),
        exit_code=found[-1][2].exit_code,
        points=tuple(points),
        unread=tuple(unread),
        rollback=next(iter(reversed(list(filter(None, ships[:-1])))), None),
        newest_ship=next(iter(reversed(list(filter(None, ships)))), None),
    )


def _comparisons(root: Path) -> Iterator[Path]:
    """Yield the folders with a comparison, without following links."""
    for place, folders, files in os.walk(root):
        folders.sort()
        if COMPARISON_FILE in files:
            # Runs lie below, and they hold nothing but runs.
            folders[:] = [name for name in folders if name != "runs"]
            yield Path(place)


def _below(path: Path, root: Path) -> str:
    return str(path.relative_to(root)) if path != root else path.resolve().name


def _moment(created: str) -> datetime:
    moment = datetime.fromisoformat(created)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _ships(found: Sequence[tuple[datetime, str, Comparison]], root: Path) -> list[Snapshot | None]:
    return [shipped(content, _place(root, name)) for _, name, content in found]


def _place(root: Path, name: str) -> str:
    return str(root / name) if (root / name / COMPARISON_FILE).is_file() else str(root)


def _points(
    found: Sequence[tuple[datetime, str, Comparison]], ships: Sequence[Snapshot | None]
) -> list[HistoryPoint]:
    single = all(len(content.results) == 1 for _, _, content in found)
    last: dict[str, tuple[Comparison, ArmInfo]] = {}
    target: Snapshot | None = None
    points = []
    for (_, name, content), ship in zip(found, ships, strict=True):
        for result, arm in zip(content.results, content.candidates, strict=False):
            series = _ONE if single else result.endpoint
            point = _point(name, content, result, arm, series)
            if series in last:
                before, earlier = last[series]
                point = replace(
                    point,
                    breaks=_breaks(before, content),
                    change=release_change(result.endpoint, earlier.identity, arm.identity),
                )
            if target is not None:
                point = replace(point, rollback=(target.folder, target.endpoint))
            last[series] = (content, arm)
            points.append(point)
        target = ship or target
    return points


def _point(
    name: str, content: Comparison, result: CandidateResult, arm: ArmInfo, series: str
) -> HistoryPoint:
    pooled = [result.pooled.accuracy, result.pooled.hallucination, result.degenerate]
    return HistoryPoint(
        folder=name,
        created=content.created,
        model=str(arm.identity.get("model") or ""),
        baseline=content.baseline.endpoint,
        candidate=result.endpoint,
        label=arm.label,
        identity=arm.identity,
        state=VerdictState(result.verdict.state),
        n=result.pooled.flips.n,
        metrics=tuple(
            PooledMetric(one.metric, one.difference, one.margin) for one in pooled if one
        ),
        series=series,
        policy_hash=content.policy_hash,
    )


def _breaks(before: Comparison, after: Comparison) -> tuple[HistoryBreak, ...]:
    """Name what was asked or decided otherwise: numbers before and after are not of one line."""
    then, now = _tasksets(before), _tasksets(after)
    return (
        *_prompts(then, now),
        *_values("settings", before.settings, after.settings, _ASKED),
        *_values("sampling", before.sampling, after.sampling),
        *_policy(before, after),
        *_scorers(then, now),
    )


def _prompts(
    then: Mapping[str, TasksetInfo], now: Mapping[str, TasksetInfo]
) -> Iterator[HistoryBreak]:
    for name in sorted(then.keys() | now.keys()):
        one, other = then.get(name), now.get(name)
        if one is None or other is None or one.n != other.n:
            yield HistoryBreak("prompts", name, _count(one), _count(other))
        elif one.content_hash != other.content_hash:
            yield HistoryBreak("prompts", name, one.content_hash[:8], other.content_hash[:8])


def _values(
    group: BreakGroup,
    then: Mapping[str, Any],
    now: Mapping[str, Any],
    keys: Sequence[str] | None = None,
) -> Iterator[HistoryBreak]:
    for key in sorted({*then, *now}) if keys is None else keys:
        if then.get(key) != now.get(key):
            yield HistoryBreak(group, key, value_text(then.get(key)), value_text(now.get(key)))


def _policy(before: Comparison, after: Comparison) -> Iterator[HistoryBreak]:
    if before.policy_hash == after.policy_hash:
        return
    try:
        old, new = Policy.model_validate(before.policy), Policy.model_validate(after.policy)
    except ValidationError:
        yield HistoryBreak("policy", "", before.policy_hash[:8], after.policy_hash[:8])
        return
    for key, (one, other) in policy_changes(old, new).items():
        yield HistoryBreak("policy", key, value_text(one), value_text(other))


def _scorers(
    then: Mapping[str, TasksetInfo], now: Mapping[str, TasksetInfo]
) -> Iterator[HistoryBreak]:
    for name in sorted(then.keys() & now.keys()):
        one, other = (f"{row.scorer} v{row.scorer_version}" for row in (then[name], now[name]))
        if one != other:
            yield HistoryBreak("scorer", name, one, other)


def _tasksets(content: Comparison) -> dict[str, TasksetInfo]:
    return {row.name: row for row in content.tasksets}


def _count(row: TasksetInfo | None) -> str:
    return numbers.DASH if row is None else numbers.count(row.n)
