"""What tasksets and suites can prove, for a list of them: the sizes of `decision.plan`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalkit.decision.metrics import MIN_CLUSTERS
from evalkit.decision.plan import outlook
from evalkit.decision.questions import Part, Question
from evalkit.policy import Policy
from evalkit.resources import resource_dir
from evalkit.results import POOLED
from evalkit.tasksets.catalogue import builtin_names
from evalkit.tasksets.head import read_head
from evalkit.tasksets.suites import SUITES, shares
from evalkit.types import Language, Taskset


def provable(taskset: Taskset, flip_rate: float) -> float | None:
    """Return the smallest loss that a taskset's prompts exclude, in points.

    Args:
        taskset: With the samples that are asked.
        flip_rate: Share of pairs that flip; the endpoints are taken as equal.

    Returns:
        With the default policy's power and level; `None` when they exclude none.
    """
    return _smallest([len({sample.unit for sample in taskset.samples})], flip_rate)


def suite_sizes(taskset: Taskset, languages: Sequence[Language]) -> dict[str, int]:
    """Return how many samples each suite asks of a taskset; nothing if it is in none."""
    heads = {name: read_head(resource_dir("tasksets") / name) for name in builtin_names()}
    head = heads.get(taskset.name)
    if head is None or head.generator is None or not head.suites:
        return {}
    return {suite: sum(shares(samples, languages).values()) for suite, samples in SUITES.items()}


def suite_outlooks(flip_rate: float, languages: Sequence[Language]) -> list[dict[str, Any]]:
    """Return for each suite its samples a family, and what they prove in one and pooled.

    Args:
        flip_rate: Share of pairs that flip.
        languages: Those that are asked; nothing means all.
    """
    heads = [read_head(resource_dir("tasksets") / name) for name in builtin_names()]
    families = list(dict.fromkeys(h.family.value for h in heads if h.generator and h.suites))
    sizes = {suite: shares(samples, languages) for suite, samples in SUITES.items()}
    return [
        {
            "suite": suite,
            "samples": sum(size.values()),
            "languages": size,
            "families": families,
            "family_points": _smallest([sum(size.values())], flip_rate),
            "pooled_points": _smallest([sum(size.values())] * len(families), flip_rate),
        }
        for suite, size in sizes.items()
    ]


def _smallest(sizes: list[int], flip_rate: float) -> float | None:
    if not sizes or min(sizes) < MIN_CLUSTERS:
        return None
    parts = tuple(Part(size, flip_rate) for size in sizes)
    policy = Policy()
    question = Question("accuracy", POOLED, policy.margins.accuracy / 100, True, parts)
    smallest = outlook(question, policy).smallest_margin
    return None if smallest >= 1 else 100 * smallest
