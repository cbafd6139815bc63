"""Which tasksets there are, and which of them a run asks."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit.errors import TasksetError, UnknownNameError, UsageError
from evalkit.fingerprint import digest
from evalkit.resources import resource_dir
from evalkit.tasksets.drawing import StagedDraw, draw_units
from evalkit.tasksets.faults import without_faulty
from evalkit.tasksets.formats.base import FORMATS
from evalkit.tasksets.harness import load_harness
from evalkit.tasksets.harness_reference import HARNESS
from evalkit.tasksets.head import HEAD, read_head
from evalkit.tasksets.hub import HUB
from evalkit.tasksets.jsonl import HEADED, load_file, load_folder, make_folder
from evalkit.tasksets.published import (
    LOCAL,
    PUBLISHED,
    is_published,
    load_by_name,
    load_detected,
    load_from_hub,
    load_named_format,
)
from evalkit.tasksets.suites import SUITES, SuiteName, shares
from evalkit.types import Family, Language, Sample, Taskset

DEFAULT_SUITE: SuiteName = "standard"
"""What a generated taskset that is asked for by name has, where no suite is named."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much generators make: samples in all languages together, from a seed."""

    samples: int = SUITES[DEFAULT_SUITE]
    seed: int = 0
    languages: tuple[Language, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """The tasksets of a run, and those that were left out with the reason.

    Attributes:
        second: Samples of stage 2, by (taskset, id).
        left: Samples that were not drawn, in the taskset that has the fewest left; `None`
            when they were not drawn in whole units.
    """

    tasksets: tuple[Taskset, ...]
    skipped: tuple[tuple[Taskset, str], ...] = ()
    second: frozenset[tuple[str, str]] = frozenset()
    left: int | None = None


def builtin_names() -> list[str]:
    """Return the names of the tasksets that ship with evalkit, in the families' order."""
    names = [path.parent.name for path in resource_dir("tasksets").glob(f"*/{HEAD}")]
    order = {family.value: index for index, family in enumerate(Family)}
    return sorted(names, key=lambda name: (order.get(name.partition("-")[0], len(order)), name))


def load_tasksets(name: str, size: Size | None = None) -> list[Taskset]:
    """Load what a name stands for: one taskset, or those of a group of lm-eval's tasks.

    Raises:
        UnknownNameError: With suggestions, when nobody knows it.
        MissingExtraError: When it needs a package that is not installed.
        TasksetError: When it cannot be used.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind == HARNESS:
        return load_harness(rest)
    return [_load(name, size)]


def load_taskset(name: str, size: Size | None = None) -> Taskset:
    """Load one taskset by its name; see `load_tasksets`.

    Raises:
        UsageError: Also for a group of tasks.
    """
    loaded = load_tasksets(name, size)
    if len(loaded) > 1:
        raise UsageError(
            f"'{name}' is a group of {len(loaded)} tasks.",
            hint=f"Name one of them: {', '.join(str(one.path) for one in loaded[:5])}, ...",
        )
    return loaded[0]


def _load(name: str, size: Size | None) -> Taskset:
    """Load a taskset by its name.

    Args:
        name: A built-in name, a folder, one file with its head, the name of a public set,
            `FORMAT:FILE` for one in its own file, `path:FILE` for one whose format shows,
            or `hf:ORG/NAME` for a data set of the hub.
        size: How much a generator makes; what is written down is always whole.

    Raises:
        UnknownNameError: With suggestions, when it is none of these.
        MissingExtraError: When it needs a package that is not installed.
        TasksetError: When it cannot be used.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind in FORMATS:
        return load_named_format(kind, rest)
    if colon and kind == HUB:
        return load_from_hub(rest)
    if colon and kind == LOCAL:
        return load_detected(Path(rest))
    if Path(name).suffix.lower() in HEADED and Path(name).is_file():
        return load_file(Path(name))
    if is_published(name) and not Path(name).is_dir():
        return load_by_name(name)
    folder = find_folder(name)
    if read_head(folder).generator is None:
        return load_folder(folder)
    size = size or Size()
    return make_folder(folder, shares(size.samples, size.languages), size.seed)


def find_folder(name: str) -> Path:
    """Return the folder of a taskset.

    Raises:
        UnknownNameError: With suggestions, when it is neither a built-in name nor a folder.
        TasksetError: For a path that is no folder.
    """
    if name in builtin_names():
        return resource_dir("tasksets") / name
    folder = Path(name)
    if folder.is_dir():
        return folder
    if folder.exists() or "/" in name or folder.suffix.lower() in HEADED:
        raise TasksetError(
            f"'{name}' is not a taskset folder or file.",
            hint=f"A taskset is a folder with {HEAD} and samples, or one file that ends in "
            f"{', '.join(HEADED)}.",
        )
    raise UnknownNameError("taskset", name, {*builtin_names(), *Family, *PUBLISHED})


def select(
    names: Sequence[str],
    *,
    limit: int | None,
    seed: int,
    allow_code: bool,
    languages: Sequence[Language] = (),
    suite: SuiteName | None = None,
    staged: bool = False,
    stage_2: int | None = None,
    skip_faulty: bool = False,
) -> Selection:
    """Load what a run asks.

    Args:
        names: Built-in names, family names or folders. Nothing means all built-in ones:
            those that are written down, or with a suite those that are made.
        limit: At most so many samples a taskset, drawn at random under the seed, never
            the first ones.
        seed: Seed of that draw, and of the generators.
        allow_code: Whether tasksets that execute answers may be asked.
        languages: Only samples in these; nothing means all.
        suite: How much the generators make.
        staged: Draw whole units, as plans of more than one look need it.
        stage_2: With `staged`: at most so many further samples a taskset, as stage 2.
        skip_faulty: Leave out samples whose label is known to be wrong.

    Raises:
        UnknownNameError: For a name that is not known.
        TasksetError: For a taskset that cannot be used, or when nothing is left to ask.
        UsageError: When a taskset has nothing left for stage 2.
    """
    samples = SUITES[suite or DEFAULT_SUITE]
    # What is drawn in stages is drawn from the same prompts each time.
    size = Size(samples if staged else min(samples, limit or samples), seed, tuple(languages))
    tasksets = [one for name in _expand(names, suite) for one in load_tasksets(name, size)]
    _refuse_equal_names(tasksets)
    if skip_faulty:
        tasksets = [without_faulty(taskset) for taskset in tasksets]
    asked: list[Taskset] = []
    drawn: list[StagedDraw] = []
    skipped: list[tuple[Taskset, str]] = []
    for taskset in tasksets:
        if taskset.code and not allow_code:
            skipped.append((taskset, "needs --allow-code"))
            continue
        spoken = in_languages(taskset, languages)
        if not spoken.samples:
            skipped.append((taskset, f"no sample in {', '.join(languages)}"))
        elif staged:
            drawn.append(draw_units(spoken, limit, stage_2, seed))
            asked.append(drawn[-1].taskset)
        else:
            asked.append(draw(spoken, limit, seed))
    if not asked:
        reasons = sorted({reason for _, reason in skipped})
        raise TasksetError(
            f"There is nothing to ask: every chosen taskset is left out ({'; '.join(reasons)}).",
            hint="Choose other tasksets, or add the flag that is named.",
        )
    second = frozenset((one.taskset.name, id) for one in drawn for id in one.second)
    left = min((one.left for one in drawn), default=None)
    return Selection(tuple(asked), tuple(skipped), second, left)


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


def in_languages(taskset: Taskset, languages: Sequence[Language]) -> Taskset:
    """Return the taskset with its samples in these languages; nothing means all."""
    if not languages:
        return taskset
    kept = tuple(sample for sample in taskset.samples if sample.language in languages)
    return replace(taskset, samples=kept)


def _expand(names: Sequence[str], suite: SuiteName | None) -> list[str]:
    builtin = builtin_names()
    heads = {name: read_head(resource_dir("tasksets") / name) for name in builtin}
    # A suite asks what is made; without one, what is written down.
    usual = [
        name
        for name, head in heads.items()
        if (head.generator is not None and head.suites if suite else head.generator is None)
    ]
    if not names:
        return usual
    expanded: list[str] = []
    for name in names:
        if name not in set(Family) or (name in builtin and suite is None):
            expanded.append(name)
        else:
            expanded.extend(one for one in usual if heads[one].family == name)
    return list(dict.fromkeys(expanded))


def _refuse_equal_names(tasksets: Sequence[Taskset]) -> None:
    seen: set[str] = set()
    for taskset in tasksets:
        if taskset.name in seen:
            raise TasksetError(f"Two tasksets are named '{taskset.name}'.")
        seen.add(taskset.name)
