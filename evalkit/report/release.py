"""The release that a candidate is compared against, in words: what is new, where to go back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from evalkit.releases import Against, ReleaseChange, Snapshot
from evalkit.report.flat import date, flat, identity_value, iso
from evalkit.report.release_model import ChangeLine, ReleaseBlock, SnapshotBlock
from evalkit.report.text import one_line
from evalkit.report.words import Words

# What a reader looks at first; the rest stands in the table.
_LEADING: Final = ("engine", "engine_version", "quantization", "weights_hash")
_SHOWN: Final = 4
_NOTHING: Final[tuple[Any, ...]] = (None, "", {}, [], ())


def release_block(words: Words, against: Against | None) -> ReleaseBlock | None:
    """Return what a report says of the release that is its baseline; `None` without one."""
    if against is None:
        return None
    facts = {
        "endpoint": one_line(against.endpoint),
        "folder": one_line(against.folder),
        "date": date(against.created),
        "why": words(f"release.chosen.{against.chosen}"),
        "role": words(f"release.role.{against.role}"),
    }
    if against.verdict is not None:
        facts["verdict"] = words(f"state.{against.verdict.value}")
    target = None if against.rollback is None else snapshot_block(words, against.rollback)
    return ReleaseBlock(
        folder=facts["folder"],
        endpoint=facts["endpoint"],
        role=against.role,
        sentence=words("release.sentence", **facts),
        changes=tuple(change_line(words, change) for change in against.changes),
        notes=tuple(_notes(words, against)),
        rollback=words("rollback.none") if target is None else target.text,
        target=target,
    )


def release_lines(release: ReleaseBlock | None) -> tuple[str, ...]:
    """Return all of it as lines of text: none without a release."""
    if release is None:
        return ()
    changes = (change.text for change in release.changes)
    return (release.sentence, *changes, *release.notes, release.rollback)


def release_summary(release: ReleaseBlock) -> dict[str, Any]:
    """Return all of it for machines."""
    return {
        "folder": release.folder,
        "endpoint": release.endpoint,
        "role": release.role,
        "text": release.sentence,
        "changes": [change_summary(change) for change in release.changes],
        "notes": list(release.notes),
        "rollback": None if release.target is None else snapshot_summary(release.target),
    }


def change_summary(change: ChangeLine) -> dict[str, Any]:
    """Return what is new in a candidate for machines."""
    return {
        "candidate": change.candidate,
        "weights": change.weights,
        "engine": change.engine,
        "text": change.text,
        "fields": {name: list(values) for name, values in change.data.items()},
    }


def snapshot_summary(target: SnapshotBlock) -> dict[str, Any]:
    """Return a release to go back to for machines."""
    return {
        "folder": target.folder,
        "endpoint": target.endpoint,
        "verdict": target.verdict,
        "created": target.timestamp,
        "text": target.text,
        **target.data,
    }


def change_line(words: Words, change: ReleaseChange) -> ChangeLine:
    """Return what is new in a candidate as one line, and all that differs."""
    candidate = one_line(change.candidate)
    fields = tuple(
        (
            words.name("fact", name),
            identity_value(name, before),
            identity_value(name, after),
        )
        for name, (before, after) in change.fields.items()
    )
    leading = [
        f"{words.name('fact', name)} {identity_value(name, before)} → {identity_value(name, after)}"
        for name, (before, after) in change.fields.items()
        if name in _LEADING
    ][:_SHOWN]
    what = words(f"change.{change.weights.value}.{change.engine.value}")
    facts = {"candidate": candidate, "what": what}
    if leading:
        facts["detail"] = ", ".join(leading)
    text = words("change", **facts)
    return ChangeLine(
        candidate, change.weights.value, change.engine.value, what, text, fields, change.fields
    )


def snapshot_block(words: Words, snapshot: Snapshot) -> SnapshotBlock:
    """Return a release to go back to, with all that is needed to serve and ask it again."""
    facts = {
        "endpoint": one_line(snapshot.endpoint),
        "folder": one_line(snapshot.folder),
        "date": date(snapshot.created),
        "label": one_line(snapshot.label),
    }
    if snapshot.verdict is not None:
        facts["verdict"] = words(f"state.{snapshot.verdict.value}")
    return SnapshotBlock(
        folder=facts["folder"],
        endpoint=facts["endpoint"],
        verdict=None if snapshot.verdict is None else snapshot.verdict.value,
        created=facts["date"],
        timestamp=iso(snapshot.created),
        text=words("rollback", **facts),
        facts=tuple(_facts(words, snapshot)),
        data={
            "identity": snapshot.identity,
            "sampling": snapshot.sampling,
            "settings": snapshot.settings,
        },
    )


def _facts(words: Words, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    for name, value in snapshot.identity.items():
        if value not in _NOTHING and name != "kind":
            yield words.name("fact", one_line(name)), identity_value(name, value)
    for prefix, values in (("sampling", snapshot.sampling), ("settings", snapshot.settings)):
        for name, value in flat({k: v for k, v in values.items() if v not in _NOTHING}):
            yield f"{prefix}.{name}", value


def _notes(words: Words, against: Against) -> Iterator[str]:
    for taskset, (then, now) in against.rescored.items():
        yield words(
            "release.rescored", taskset=one_line(taskset), then=one_line(then), now=one_line(now)
        )
    if against.adopted_policy:
        yield words("release.policy")
