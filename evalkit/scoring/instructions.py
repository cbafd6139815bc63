"""Scores answers to verifiable instructions, as IFEval does (Zhou et al. 2023).

The target is `{"instructions": [{"id": ..., "kwargs": {...}}, ...]}`. An answer is correct
when it follows every one of them (prompt-level, strict). The loose reading, in which a
first or last line and asterisks are forgiven, goes into the explanation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.errors import ScoringError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.checks import follows
from evalkit.types import Outcome, Sample


@dataclass(frozen=True, slots=True)
class InstructionsScorer:
    """Correct when every instruction is followed."""

    name: str = "instructions"
    version: int = 1

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer.

        Raises:
            ScoringError: When the target is malformed.
        """
        instructions = _instructions(sample)
        broken = [i for i, kw in instructions if not follows(i, text, kw)]
        n = len(instructions)
        answer = f"{n - len(broken)} of {n} followed"
        if not broken:
            return Judgement(Outcome.CORRECT, 1.0, answer, "Every instruction is followed.")
        loose = all(
            any(follows(i, variant, kw) for variant in loose_variants(text))
            for i, kw in instructions
        )
        explanation = f"Not followed: {', '.join(broken)}. Loose: {'yes' if loose else 'no'}."
        return Judgement(Outcome.INCORRECT, 0.0, answer, explanation)


def loose_variants(text: str) -> Iterator[str]:
    """Yield the eight readings of IFEval's loose mode.

    The answer as it is, without its first line, without its last, without both; each also
    without asterisks.
    """
    lines = text.split("\n")
    for part in (lines, lines[1:], lines[:-1], lines[1:-1]):
        variant = "\n".join(part).strip()
        yield variant
        yield variant.replace("*", "")


def _instructions(sample: Sample) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        found = [(str(i["id"]), i.get("kwargs") or {}) for i in sample.target["instructions"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ScoringError(f"Sample '{sample.id}': malformed target: {error!r}.") from error
    if not found:
        raise ScoringError(f"Sample '{sample.id}': no instructions.")
    return found


SCORERS.register("instructions")(InstructionsScorer())
