"""Setting logs side by side: which prompts both hold, and what else differs between them.

Pairs join on task, document and repeat. Documents that are not the same one make no pair;
prompts that were rendered otherwise, and settings that differ, confound the comparison.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from evalkit.errors import InvalidComparison, UnknownNameError, UsageError
from evalkit.importers.base import Item, RecordedTask, Recording
from evalkit.importers.differences import (
    Difference,
    Key,
    changed_ids,
    document_differences,
    other_documents,
    prompt_differences,
    settings_differences,
)
from evalkit.importers.metrics import choose_metric, family_of, matching, require_known
from evalkit.types import Family

_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class AlignedTask:
    """One task with what all logs hold of it.

    Attributes:
        name: Of the task.
        label: The same, safe as the name of a taskset.
        assumed: Whether nothing tells its family.
        ids: Prompts, in the baseline's order.
        items: By prompt and repeat, for each log in their order.
        epochs: Repeats of each prompt.
        task: As the baseline recorded it.
        clusters: Of prompts that repeat another one.
    """

    name: str
    label: str
    family: Family
    assumed: bool
    metric: str
    ids: tuple[str, ...]
    items: tuple[Mapping[Key, Item], ...]
    epochs: int
    task: RecordedTask
    clusters: Mapping[str, str] = field(default_factory=dict)

    def first(self, id: str) -> Item:
        """Return what the first log that has a prompt says of it."""
        return next(one for items in self.items for one in _of(items, id, self.epochs))


@dataclass(frozen=True, slots=True)
class Alignment:
    """All tasks that can be compared, and what differs, by candidate in their order."""

    tasks: tuple[AlignedTask, ...]
    differences: tuple[tuple[Difference, ...], ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user says of the logs.

    Attributes:
        tasks: Only these; nothing means all.
        families: By task, or for `ALL`.
        metrics: By task, or for `ALL`.
        lenient: Whether documents that are not the same are left out and not refused.
    """

    tasks: Sequence[str] = ()
    families: Mapping[str, Family] = field(default_factory=dict)
    metrics: Mapping[str, str] = field(default_factory=dict)
    lenient: bool = False


def align(recordings: Sequence[Recording], wishes: Wishes) -> Alignment:
    """Join logs; the baseline's comes first.

    Raises:
        UsageError: When they are of different tools, or hold no score that is wished for.
        InvalidComparison: When they share no task or no document, or a document is not the same.
    """
    _refuse_mixture(recordings)
    chosen = [_chosen(one, wishes.tasks) for one in recordings]
    baseline = chosen[0]
    require_known(list(baseline.values()), wishes.metrics)
    shared = [name for name in baseline if all(name in tasks for tasks in chosen)]
    if not shared:
        names = "; ".join(f"{r.source}: {_few(t)}" for r, t in zip(recordings, chosen, strict=True))
        raise InvalidComparison(f"The logs share no task ({names}).")
    found: list[list[Difference]] = [
        list(_other_tasks(recordings[0], baseline, one, tasks))
        for one, tasks in zip(recordings[1:], chosen[1:], strict=True)
    ]
    aligned = []
    labels: dict[str, str] = {}
    for name in shared:
        tasks = [one[name] for one in chosen]
        label = _label(name, labels)
        one, differing = _align_task(label, tasks, recordings, wishes)
        for place, more in enumerate(differing):
            found[place] += more
        if one.ids:
            aligned.append(one)
    if not aligned:
        raise InvalidComparison(
            f"The logs share no document: {'; '.join(d.message for d in found[0][:_NAMED])}"
        )
    return Alignment(_same_repeats(aligned), tuple(map(tuple, found)))


def _refuse_mixture(recordings: Sequence[Recording]) -> None:
    first = recordings[0]
    for other in recordings[1:]:
        if other.tool != first.tool:
            raise UsageError(
                f"{first.source} was recorded by {first.tool} and {other.source} by {other.tool}: "
                "their prompts and scores do not pair.",
                hint="Compare logs of one tool.",
            )


def _chosen(recording: Recording, wanted: Sequence[str]) -> dict[str, RecordedTask]:
    tasks = {task.name: task for task in recording.tasks}
    for name in wanted:
        if name not in tasks:
            raise UnknownNameError(f"task of {recording.source}:", name, tasks)
    return {name: task for name, task in tasks.items() if not wanted or name in wanted}


def _few(names: Iterable[object]) -> str:
    listed = list(map(str, names))
    more = f" and {len(listed) - _NAMED} more" if len(listed) > _NAMED else ""
    return ", ".join(listed[:_NAMED]) + more


def _other_tasks(
    first: Recording, one: Mapping[str, Any], second: Recording, other: Mapping[str, Any]
) -> Iterator[Difference]:
    for where, extra in ((first, one.keys() - other.keys()), (second, other.keys() - one.keys())):
        if extra:
            message = f"only {where.source} holds {_few(sorted(extra))}"
            yield Difference("recorded_tasks", message)


def _label(name: str, taken: dict[str, str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.")[:80] or "task"
    plain = plain if plain[0].isalnum() else f"task-{plain}"
    label, n = plain, 1
    while label in taken:
        n += 1
        label = f"{plain}-{n}"
    taken[label] = name
    return label


def _align_task(
    label: str,
    tasks: Sequence[RecordedTask],
    recordings: Sequence[Recording],
    wishes: Wishes,
) -> tuple[AlignedTask, list[list[Difference]]]:
    baseline = tasks[0]
    metric = _shared_metric(tasks, recordings, wishes)
    family, assumed = family_of(baseline, wishes.families)
    items = [{(item.id, item.epoch): item for item in task.items} for task in tasks]
    ids = [dict.fromkeys(item.id for item in task.items) for task in tasks]
    partial = all(one.partial for one in recordings)
    common = [id for id in ids[0] if all(id in other for other in ids)]
    union = list(dict.fromkeys(id for one in ids for id in one))
    differing: list[list[Difference]] = []
    others: set[str] = set()
    for place in range(1, len(tasks)):
        changed = changed_ids(items[0], items[place], "doc_hash")
        if changed:
            others.update(changed)
        more = [] if partial else list(document_differences(baseline.name, ids[0], ids[place]))
        if changed and wishes.lenient:
            said = f"{baseline.name}: {len(changed)} documents are not the same, e.g. {changed[0]}"
            more.append(Difference("recorded_documents", said))
        elif changed:
            raise other_documents(baseline.name, changed, items[0], items[place])
        # The settings say why prompts differ: they come first.
        more += settings_differences(baseline.name, baseline.settings, tasks[place].settings)
        more += prompt_differences(baseline.name, items[0], items[place])
        differing.append(more)
    kept = [id for id in (union if partial else common) if id not in others]
    epochs = _epochs(items, set(kept))
    return (
        AlignedTask(
            name=baseline.name,
            label=label,
            family=family,
            assumed=assumed,
            metric=metric,
            ids=tuple(kept),
            items=tuple(items),
            epochs=epochs,
            task=baseline,
        ),
        differing,
    )


def _shared_metric(
    tasks: Sequence[RecordedTask], recordings: Sequence[Recording], wishes: Wishes
) -> str:
    """Return the score that is taken: the wished one, or the first that all logs have."""
    chosen = choose_metric(tasks[0], wishes.metrics)
    everywhere = [name for name in tasks[0].metrics if all(name in t.metrics for t in tasks)]
    if chosen in everywhere:
        return chosen
    wished = [wish for wish in wishes.metrics.values() if matching([chosen], wish)]
    if wished or not everywhere:
        place = next(n for n, task in enumerate(tasks) if chosen not in task.metrics)
        raise UsageError(
            f"{recordings[place].source} holds no score '{chosen}' for {tasks[0].name}.",
            hint=f"It holds {_few(tasks[place].metrics)}.",
        )
    return everywhere[0]


def _of(items: Mapping[Key, Item], id: str, epochs: int) -> Iterator[Item]:
    return (items[id, epoch] for epoch in range(epochs) if (id, epoch) in items)


def _epochs(items: Sequence[Mapping[Key, Item]], ids: set[str]) -> int:
    return max((epoch for one in items for id, epoch in one if id in ids), default=0) + 1


def _same_repeats(tasks: Sequence[AlignedTask]) -> tuple[AlignedTask, ...]:
    """Let all tasks have equally many repeats; where they have not, a repeat is a prompt.

    Such prompts keep the cluster of the one that they repeat.
    """
    if len({task.epochs for task in tasks}) == 1:
        return tuple(tasks)
    return tuple(_unrolled(task) for task in tasks)


def _unrolled(task: AlignedTask) -> AlignedTask:
    def name(id: str, epoch: int) -> str:
        return id if epoch == 0 else f"{id}#{epoch}"

    items = tuple(
        {(name(id, epoch), 0): item for (id, epoch), item in one.items()} for one in task.items
    )
    ids = [
        name(id, epoch)
        for id in task.ids
        for epoch in range(task.epochs)
        if any((id, epoch) in one for one in task.items)
    ]
    clusters = {
        name(id, epoch): f"repeats of {id}" for id in task.ids for epoch in range(task.epochs)
    }
    return replace(task, ids=tuple(ids), items=items, epochs=1, clusters=clusters)
