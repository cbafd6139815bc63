"""Which tasksets there are, and which of them a run asks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit.errors import TasksetError, UnknownNameError
from evalkit.fingerprint import digest
from evalkit.resources import resource_dir
from evalkit.tasksets.jsonl import HEAD, load_folder
from evalkit.types import Family, Language, Sample, Taskset


@dataclass(frozen=True, slots=True)
class Selection:
    """The tasksets of a run, and those that were left out with the reason."""

    tasksets: tuple[Taskset, ...]
    skipped: tuple[tuple[Taskset, str], ...] = ()


def builtin_names() -> list[str]:
    """Return the names of the tasksets that ship with evalkit, in the families' order."""
    names = [path.parent.name for path in resource_dir("tasksets").glob(f"*/{HEAD}")]
    order = {family.value: index for index, family in enumerate(Family)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def load_taskset(name: str) -> Taskset:
    """Load a taskset by its built-in name or by the path of its folder.

    Raises:
        UnknownNameError: With suggestions, when it is neither.
        TasksetError: When the folder cannot be used.
    """
    if name in builtin_names():
        return load_folder(resource_dir("tasksets") / name)
    folder = Path(name)
    if folder.is_dir():
        return load_folder(folder)
    if folder.exists() or "/" in name:
        raise TasksetError(
            f"'{name}' is not a taskset folder.",
            hint=f"A taskset is a folder with {HEAD} and samples.jsonl.",
        )
    raise UnknownNameError("taskset", name, {*builtin_names(), *Family})


def select(
    names: Sequence[str],
    *,
    limit: int | None,
    seed: int,
    allow_code: bool,
    languages: Sequence[Language] = (),
) -> Selection:
    """Load what a run asks.

    Args:
        names: Built-in names, family names or folders; nothing means all built-in ones.
        limit: At most so many samples a taskset, drawn at random under the seed, never
            the first ones.
        seed: Seed of that draw.
        allow_code: Whether tasksets that execute answers may be asked.
        languages: Only samples in these; nothing means all.

    Raises:
        UnknownNameError: For a name that is not known.
        TasksetError: For a taskset that cannot be used, or when nothing is left to ask.
    """
    tasksets = [load_taskset(name) for name in _expand(names)]
    _refuse_equal_names(tasksets)
    asked: list[Taskset] = []
    skipped: list[tuple[Taskset, str]] = []
    for taskset in tasksets:
        if taskset.code and not allow_code:
            skipped.append((taskset, "needs --allow-code"))
            continue
        spoken = _in_languages(taskset, languages)
        if spoken.samples:
            asked.append(draw(spoken, limit, seed))
        else:
            skipped.append((taskset, f"no sample in {', '.join(languages)}"))
    if not asked:
        reasons = sorted({reason for _, reason in skipped})
        raise TasksetError(
            f"There is nothing to ask: every chosen taskset is left out ({'; '.join(reasons)}).",
            hint="Choose other tasksets, or add the flag that is named.",
        )
    return Selection(tuple(asked), tuple(skipped))


def draw(taskset: Taskset, limit: int | None, seed: int) -> Taskset:
    """Return the taskset with at most `limit` samples, drawn at random, in their old order.

    A sample's place in the draw depends on seed and id alone, so a larger limit keeps
    what a smaller one had drawn.
    """
    if limit is None or limit >= len(taskset.samples):
        return taskset

    def rank(sample: Sample) -> float:
        return random.Random(digest([seed, taskset.name, sample.id])).random()

    kept = {sample.id for sample in sorted(taskset.samples, key=rank)[:limit]}
    return replace(taskset, samples=tuple(s for s in taskset.samples if s.id in kept))


def _in_languages(taskset: Taskset, languages: Sequence[Language]) -> Taskset:
    if not languages:
        return taskset
    kept = tuple(sample for sample in taskset.samples if sample.language in languages)
    return replace(taskset, samples=kept)


def _expand(names: Sequence[str]) -> list[str]:
    builtin = builtin_names()
    if not names:
        return builtin
    expanded: list[str] = []
    for name in names:
        if name in builtin or name not in set(Family):
            expanded.append(name)
        else:
            expanded.extend(n for n in builtin if load_taskset(n).family == name)
    return list(dict.fromkeys(expanded))


def _refuse_equal_names(tasksets: Sequence[Taskset]) -> None:
    seen: set[str] = set()
    for taskset in tasksets:
        if taskset.name in seen:
            raise TasksetError(f"Two tasksets are named '{taskset.name}'.")
        seen.add(taskset.name)
