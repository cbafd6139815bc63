"""Prompt sets like a recorded one: its independent units, drawn again with replacement.

The bootstrap of the outermost unit (Efron 1979; Davison & Hinkley 1997, 3.8): prompts that
share a passage stay together, repeats stay with their prompt, and every copy is a unit of
its own, as another prompt of that kind would be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from evalkit.decision.pairing import Answer, Key
from evalkit.fingerprint import digest
from evalkit.types import Message, Sample

SampleKey = tuple[str, str]
_Row = tuple[Key, Sample, Answer]


@dataclass(frozen=True, slots=True)
class Drawn:
    """One prompt set with one arm's answers, in a fixed order."""

    samples: dict[SampleKey, Sample]
    answers: dict[Key, Answer]


@dataclass(frozen=True, slots=True)
class Pool:
    """Recorded answers, as the units that are drawn.

    Attributes:
        units: By taskset.
        prompts: Prompts by taskset.
    """

    units: Mapping[str, tuple[tuple[_Row, ...], ...]]
    prompts: Mapping[str, int]
    _copies: dict[tuple[str, int, int], tuple[_Row, ...]] = field(default_factory=dict)

    def sizes(self, prompts: int | None = None) -> dict[str, int]:
        """Return how many units of each taskset make up so many prompts in all.

        Tasksets keep their shares, and each has at least one unit.

        Args:
            prompts: In all tasksets together; `None` for as many as were recorded.
        """
        if prompts is None:
            return {name: len(units) for name, units in self.units.items()}
        factor = prompts / sum(self.prompts.values())
        return {name: max(1, round(factor * len(units))) for name, units in self.units.items()}

    def expected_prompts(self, sizes: Mapping[str, int]) -> int:
        """Return how many prompts so many units hold; the mean, where they differ in size."""
        each = (size * self.prompts[name] / len(self.units[name]) for name, size in sizes.items())
        return round(sum(each))

    def draw(self, sizes: Mapping[str, int], rng: np.random.Generator) -> Drawn:
        """Draw a prompt set.

        Args:
            sizes: Units of each taskset.
            rng: Where chance comes from.
        """
        drawn = Drawn({}, {})
        for name, size in sizes.items():
            times = np.bincount(rng.integers(len(self.units[name]), size=size))
            for index, count in enumerate(times.tolist()):
                for copy in range(count):
                    for key, sample, answer in self._copy(name, index, copy):
                        drawn.samples[key[:2]] = sample
                        drawn.answers[key] = answer
        return drawn

    def _copy(self, name: str, index: int, copy: int) -> tuple[_Row, ...]:
        rows = self.units[name][index]
        if copy == 0:
            return rows
        found = self._copies.get((name, index, copy))
        if found is None:
            found = tuple(_renamed(row, f"~{copy}") for row in rows)
            self._copies[name, index, copy] = found
        return found


def make_pool(answers: Mapping[Key, Answer], samples: Mapping[SampleKey, Sample]) -> Pool:
    """Group recorded answers into independent units: a declared cluster, else equal prompts.

    Args:
        answers: Of one arm.
        samples: What was asked, by (taskset, sample id).
    """
    units: dict[str, dict[str | tuple[Message, ...], list[_Row]]] = {}
    prompts: dict[str, set[str]] = {}
    for key in sorted(answers):
        sample, answer = samples[key[:2]], answers[key]
        of_taskset = units.setdefault(sample.taskset, {})
        of_taskset.setdefault(sample.unit, []).append((key, sample, answer))
        prompts.setdefault(sample.taskset, set()).add(sample.id)
    return Pool(
        {name: tuple(map(tuple, found.values())) for name, found in units.items()},
        {name: len(ids) for name, ids in prompts.items()},
    )


def _renamed(row: _Row, suffix: str) -> _Row:
    (taskset, sample_id, epoch), sample, answer = row
    new_id = sample_id + suffix
    # A copy is a unit of its own, which equal prompts share.
    cluster = (sample.cluster or digest(list(map(asdict, sample.messages)))) + suffix
    completion = replace(
        answer.completion,
        sample_id=new_id,
        prompt_hash=answer.completion.prompt_hash + suffix,
        fingerprint=answer.completion.fingerprint + suffix,
    )
    score = replace(answer.score, sample_id=new_id, fingerprint=completion.fingerprint)
    return (
        (taskset, new_id, epoch),
        replace(sample, id=new_id, cluster=cluster),
        Answer(completion, score),
    )
