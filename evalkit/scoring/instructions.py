"""Scores answers to verifiable instructions, as IFEval does (Zhou et al. 2023).

The target is `{"instructions": [{"id": ..., "kwargs": {...}}, ...]}`; `following` has the rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.following import Verdict, judge_following, loose_variants, verdicts
from evalkit.types import Sample

__all__ = ["InstructionsScorer", "Verdict", "loose_variants", "verdicts"]


@dataclass(frozen=True, slots=True)
class InstructionsScorer:
    """Correct when every instruction is followed."""

    name: str = "instructions"
    version: int = 4

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer.

        Raises:
            ScoringError: When the target is malformed.
        """
        return judge_following(sample, text)


SCORERS.register("instructions")(InstructionsScorer())
