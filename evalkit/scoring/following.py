"""How many verifiable instructions an answer follows, and what that makes of it (IFEval).

An answer is correct when it follows every one of them (prompt-level, strict). How many it
follows one by one (instruction-level) is its extracted answer; the loose reading, in which a
first or last line and asterisks are forgiven, goes into the explanation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.errors import ScoringError
from evalkit.scoring.base import Judgement
from evalkit.scoring.checks import follows
from evalkit.scoring.text import clip
from evalkit.types import Outcome, Sample

Instruction = tuple[str, Mapping[str, Any]]
Check = Callable[[str, str, Mapping[str, Any]], bool]
"""Says whether an answer follows one instruction: its id, the answer, its arguments."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one instruction is followed by the answer as it is, and read loosely."""

    id: str
    strict: bool
    loose: bool


def judge_following(sample: Sample, text: str, check: Check = follows) -> Judgement:
    """Score one answer.

    Raises:
        ScoringError: When the target is malformed.
    """
    found = verdicts(_instructions(sample), text, check)
    broken = [verdict for verdict in found if not verdict.strict]
    answer = f"{len(found) - len(broken)} of {len(found)} followed"
    if not broken:
        return Judgement(Outcome.CORRECT, 1.0, answer, "Every instruction is followed.")
    loose = sum(verdict.loose for verdict in found)
    named = ", ".join(verdict.id for verdict in broken)
    explanation = (
        f"Not followed: {named}. Read loosely: {loose} of {len(found)}. "
        f"Loose: {'yes' if loose == len(found) else 'no'}."
    )
    return Judgement(Outcome.INCORRECT, 0.0, answer, explanation)


def verdicts(
    instructions: Iterable[Instruction], text: str, check: Check = follows
) -> list[Verdict]:
    """Return the verdict on each instruction, in their order.

    An answer that follows strictly follows loosely too: it is the first of its own variants.

    Raises:
        ScoringError: For an unknown instruction, or arguments that its check cannot use.
    """
    text = clip(text)
    found = []
    for name, kwargs in instructions:
        strict = check(name, text, kwargs)
        loose = strict or any(check(name, variant, kwargs) for variant in loose_variants(text))
        found.append(Verdict(name, strict, loose))
    return found


def loose_variants(text: str) -> Iterator[str]:
    """Yield the eight readings of IFEval's loose mode.

    The answer as it is, without its first line, without its last, without both; each also
    without asterisks.
    """
    lines = text.split("\n")
    for part in (lines, lines[1:], lines[:-1], lines[1:-1]):
        variant = "\n".join(part)
        variant = variant if part is lines else variant.strip()
        yield variant
        yield variant.replace("*", "")


def _instructions(sample: Sample) -> list[Instruction]:
    try:
        found = [(str(i["id"]), i.get("kwargs") or {}) for i in sample.target["instructions"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ScoringError(f"Sample '{sample.id}': malformed target: {error!r}.") from error
    if not found:
        raise ScoringError(f"Sample '{sample.id}': no instructions.")
    return found
