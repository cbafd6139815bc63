"""What a scorer is, and what is decided before a scorer is asked.

A scorer is a pure function of a sample and a non-empty answer. Everything that does not
depend on the family is decided here, once: missing answers, empty answers, health, and
what a model-caused failure does to an outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from evalkit.registry import Registry
from evalkit.types import Flag, Outcome, Sample


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a scorer says of one answer.

    Attributes:
        outcome: `None` only when nothing could be extracted; then `reason` says why.
        value: In [0, 1]; `None` exactly when `outcome` is.
        answer: What was extracted, for readers.
        explanation: One line: why this outcome.
        flags: What the scorer saw beside the outcome (`hallucinated`, `bad_format`, ...).
        reason: `extraction` when there was nothing to score.
        missing: Whether who decides has failed, not the answer: then it is missing data.
    """

    outcome: Outcome | None
    value: float | None
    answer: str | None
    explanation: str
    flags: tuple[Flag, ...] = ()
    reason: str | None = None
    missing: bool = False

    @classmethod
    def failed(cls, reason: str, explanation: str) -> Judgement:
        """Say that nobody could decide, whatever the answer holds."""
        return cls(None, None, None, explanation, (), reason, missing=True)

    @classmethod
    def unscored(cls, reason: str, explanation: str) -> Judgement:
        """Say that the answer holds nothing to score."""
        return cls(None, None, None, explanation, (), reason)


class Scorer(Protocol):
    """Scores one answer. `version` changes whenever any answer could be scored otherwise."""

    @property
    def name(self) -> str:
        """Its name in tasksets."""

    @property
    def version(self) -> int:
        """Its version, part of the key of stored scores."""

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score an answer that is not empty, reasoning already taken out."""


def require(scorer: Scorer) -> None:
    """Make sure that what a scorer needs is there, before anything is asked.

    Raises:
        MissingExtraError: When it is not installed.
    """
    ready = getattr(scorer, "require", None)
    if ready is not None:
        ready()


SCORERS: Registry[Scorer] = Registry(
    "scorer",
    {
        "facts": "evalkit.scoring.facts",
        "instructions": "evalkit.scoring.instructions",
        "code": "evalkit.scoring.code",
        "ifbench": "evalkit.scoring.ifbench",
        "longform": "evalkit.scoring.longform",
        "math": "evalkit.scoring.math",
        "choice": "evalkit.scoring.choice",
        "harness": "evalkit.scoring.harness",
        "references": "evalkit.scoring.references",
        "judge": "evalkit.scoring.judge",
        "recorded": "evalkit.scoring.recorded",
    },
    group="evalkit.scorers",
)
