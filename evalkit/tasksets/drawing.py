"""Drawing whole units in a fixed order, for plans that may look more than once.

A second look must be at new prompts, and prompts that share a passage (or are equal) are
not new to each other. So a unit is drawn whole, and the order of the units depends on the
seed and the unit alone: a larger draw begins with the smaller one.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from evalkit.errors import UsageError
from evalkit.fingerprint import digest
from evalkit.types import Sample, Taskset


@dataclass(frozen=True, slots=True)
class Drawing:
    """How the prompts of a run came to be asked, by (taskset, sample id).

    Attributes:
        stages: Stage of the plan; what is not named is of the first.
        places: Place in the order in which the units of its taskset are drawn.
        left: Samples that were not drawn, in the taskset that has the fewest left; `None`
            when that is not known.
    """

    stages: Mapping[tuple[str, str], int] = field(default_factory=dict)
    places: Mapping[tuple[str, str], int] = field(default_factory=dict)
    left: int | None = None


@dataclass(frozen=True, slots=True)
class StagedDraw:
    """A taskset as drawn.

    Attributes:
        taskset: With the samples of both stages, in their old order.
        second: Ids of those of stage 2.
        left: Samples that neither stage has drawn.
    """

    taskset: Taskset
    second: frozenset[str]
    left: int


def draw_units(taskset: Taskset, limit: int | None, stage_2: int | None, seed: int) -> StagedDraw:
    """Draw whole units: at most `limit` samples, then at most `stage_2` further ones.

    Args:
        taskset: With all its samples.
        limit: Samples of stage 1; `None` for all.
        stage_2: Samples of stage 2; `None` for no such stage.
        seed: Of the order.

    Raises:
        UsageError: When not one whole unit is left for stage 2.
    """
    units = ordered_units(taskset, seed)
    first = _fitting(units, limit)
    second = _fitting(units[len(first) :], stage_2) if stage_2 is not None else []
    if stage_2 is not None and not second:
        raise UsageError(
            f"Taskset '{taskset.name}' has no further prompts for stage 2: "
            f"stage 1 takes {_count(first)} of {len(taskset.samples)}.",
            hint="Stage 2 needs prompts that were never asked. Plan with a smaller --limit.",
        )
    kept = {sample.id for unit in (*first, *second) for sample in unit}
    return StagedDraw(
        replace(taskset, samples=tuple(s for s in taskset.samples if s.id in kept)),
        frozenset(sample.id for unit in second for sample in unit),
        len(taskset.samples) - len(kept),
    )


def ordered_units(taskset: Taskset, seed: int) -> list[tuple[Sample, ...]]:
    """Return the units of a taskset in the order in which they are drawn."""
    units: dict[str, list[Sample]] = {}
    for sample in taskset.samples:
        units.setdefault(_name(sample), []).append(sample)

    def rank(item: tuple[str, list[Sample]]) -> tuple[float, str]:
        name = item[0]
        return random.Random(digest([seed, taskset.name, "unit", name])).random(), name

    return [tuple(unit) for _, unit in sorted(units.items(), key=rank)]


def _name(sample: Sample) -> str:
    unit = sample.unit
    return unit if isinstance(unit, str) else digest([asdict(message) for message in unit])


def _fitting(
    units: Sequence[tuple[Sample, ...]], limit: int | None
) -> Sequence[tuple[Sample, ...]]:
    """Return the first units that hold at most `limit` samples together."""
    if limit is None:
        return units
    total = 0
    for index, unit in enumerate(units):
        total += len(unit)
        if total > limit:
            return units[:index]
    return units


def _count(units: Iterable[tuple[Sample, ...]]) -> int:
    return sum(len(unit) for unit in units)
