"""Known damage to recorded answers: what a broken quantization does, at a rate that is chosen.

Only what the decision rule reads is changed, the score; the text stays what was recorded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from evalkit.decision.pairing import Answer, Key
from evalkit.decision.tables import is_degenerate
from evalkit.types import Family, Flag, Outcome, Sample, Score, ScoreStatus


class DamageKind(StrEnum):
    """What becomes of an answer.

    `NONE` leaves it. `WRONG` makes a right answer wrong, which is a hallucination where the
    taskset measures it; giving an answer to what has none is such a case. `TRUNCATED` cuts
    any answer at `max_tokens`, `LOOP` lets it repeat itself. `ASSERT` turns an abstention
    into the assertion of something false; it costs no accuracy.
    """

    NONE = "none"
    WRONG = "wrong"
    TRUNCATED = "truncated"
    LOOP = "loop"
    ASSERT = "assert"


@dataclass(frozen=True, slots=True)
class Damage:
    """A kind of damage, and how much of it.

    Attributes:
        rate: Share of the answers of that kind's sort (right ones for `WRONG`) that are
            damaged, each by chance and by itself.
        family: Only in this family; `None` for all.
    """

    kind: DamageKind
    rate: float = 0.0
    family: Family | None = None

    @property
    def label(self) -> str:
        """How it is written on the command line: `wrong=5%`."""
        if self.kind is DamageKind.NONE:
            return self.kind.value
        return f"{self.kind.value}={self.rate * 100:.10g}%"

    def affects(self, sample: Sample, answer: Answer) -> bool:
        """Whether an answer is of the sort that this kind damages."""
        if answer.missing or self.family not in (None, sample.family):
            return False
        flags = answer.score.flags
        match self.kind:
            case DamageKind.WRONG:
                return _is_right(answer)
            case DamageKind.TRUNCATED:
                return Flag.TRUNCATED not in flags
            case DamageKind.LOOP:
                return Flag.LOOP not in flags
            case DamageKind.ASSERT:
                failed = is_degenerate(answer) or Flag.TRUNCATED in flags
                return answer.outcome is Outcome.ABSTAINED and not failed
            case DamageKind.NONE:
                return False


def inflict(
    damage: Damage,
    answers: Mapping[Key, Answer],
    samples: Mapping[tuple[str, str], Sample],
    marks: Mapping[Key, float],
    *,
    hallucination_tasksets: Collection[str],
) -> dict[Key, Answer]:
    """Damage one arm.

    Args:
        damage: What to do, and how often.
        answers: The arm.
        samples: What was asked, by (taskset, sample id).
        marks: A number for each answer, uniform in [0, 1): it is damaged when its number is
            below the rate. With the same numbers a higher rate damages the same answers
            and more.
        hallucination_tasksets: Where a wrong answer asserts something false.
    """
    return {
        key: _damaged(answer, damage.kind, key[0] in hallucination_tasksets)
        if marks[key] < damage.rate and damage.affects(samples[key[:2]], answer)
        else answer
        for key, answer in answers.items()
    }


def flipped(answer: Answer, *, hallucination: bool) -> Answer:
    """Turn a right answer wrong, and any other right: the noise of equal endpoints.

    Args:
        answer: One that is missing stays so.
        hallucination: Whether a wrong answer asserts something false.
    """
    if answer.missing:
        return answer
    if _is_right(answer):
        return _wrong(answer, hallucination, "flipped")
    return _with(answer, Outcome.CORRECT, 1.0, (), "flipped")


def _is_right(answer: Answer) -> bool:
    return answer.value is not None and answer.value >= 0.5


def _damaged(answer: Answer, kind: DamageKind, hallucination: bool) -> Answer:
    kept = tuple(flag for flag in answer.score.flags if flag is not Flag.HALLUCINATED)
    match kind:
        case DamageKind.WRONG | DamageKind.ASSERT:
            return _wrong(answer, hallucination, kind.value)
        case DamageKind.TRUNCATED:
            return _with(answer, Outcome.ABSTAINED, 0.0, (*kept, Flag.TRUNCATED), kind.value)
        case DamageKind.LOOP:
            # A loop ends at `max_tokens`, so it carries both flags, as judged answers do.
            flags = tuple(dict.fromkeys((*kept, Flag.TRUNCATED, Flag.LOOP)))
            return _with(answer, Outcome.ABSTAINED, 0.0, flags, kind.value)
        case DamageKind.NONE:
            return answer


def _wrong(answer: Answer, hallucination: bool, why: str) -> Answer:
    flags = (Flag.HALLUCINATED,) if hallucination else ()
    return _with(answer, Outcome.INCORRECT, 0.0, flags, why)


def _with(
    answer: Answer, outcome: Outcome, value: float, flags: tuple[Flag, ...], why: str
) -> Answer:
    score: Score = replace(
        answer.score,
        status=ScoreStatus.SCORED,
        outcome=outcome,
        value=value,
        flags=flags,
        reason=None,
        explanation=f"injected: {why}",
    )
    return Answer(answer.completion, score)
