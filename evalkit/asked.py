"""What a comparison asked, and which tasksets it left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TasksetInfo:
    """What was asked.

    Attributes:
        agreement: Where a rule decides open answers: the share of labelled answers on which
            it says what people say; `None` where answers are exact.
        labels: Whose labels those are.
        revision: Of the public data set that the prompts were taken from.
        faulty: Prompts that were asked and whose label is known to be wrong.
        left_out: Prompts of its source that were not asked: how many, by reason.
    """

    name: str
    family: str
    version: int
    scorer: str
    scorer_version: int
    content_hash: str
    n: int
    languages: Mapping[str, int]
    max_tokens: int
    margin: float
    description: str
    agreement: float | None = None
    labels: str | None = None
    revision: str | None = None
    faulty: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A taskset that was left out, and why."""

    taskset: str
    family: str
    reason: str
