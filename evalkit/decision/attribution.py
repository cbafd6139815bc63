"""One cause for every regression, by a fixed order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Literal

from evalkit.decision.pairing import Answer, Pair
from evalkit.types import Flag, Outcome, ScoreStatus

Transition = Literal["regression", "improvement", "both_right", "both_wrong", "missing"]

# The first that holds is the cause: plumbing before behaviour, behaviour before content.
_ORDER: tuple[tuple[Flag, str], ...] = (
    (Flag.LOOP, "loop"),
    (Flag.TRUNCATED, "truncated"),
    (Flag.EMPTY, "empty"),
    (Flag.GARBLED, "garbled"),
    (Flag.WRONG_LANGUAGE, "wrong_language"),
    (Flag.REFUSED, "refused"),
)


def transition(pair: Pair) -> Transition:
    """Say how a pair moved from baseline to candidate (right means a value of at least ½)."""
    return moved(pair.baseline.value, pair.candidate.value)


def moved(baseline: float | None, candidate: float | None) -> Transition:
    """Say the same of the values of both answers; `None`: no answer to count."""
    if baseline is None or candidate is None:
        return "missing"
    if baseline >= 0.5:
        return "both_right" if candidate >= 0.5 else "regression"
    return "improvement" if candidate >= 0.5 else "both_wrong"


def ran_out(answer: Answer) -> bool:
    """Whether an answer was cut at `max_tokens` and a larger budget could have helped.

    A loop that is cut would only be a longer loop: it counts as degenerate, not as cut.
    """
    flags = answer.score.flags
    return bool(flags) and Flag.TRUNCATED in flags and Flag.LOOP not in flags


def cause(answer: Answer, judged: Collection[str] = ()) -> str:
    """Say why an answer is not correct.

    Args:
        answer: Of either arm.
        judged: Tasksets that a model judges: there nothing but its word may be against an
            answer.

    Returns:
        `infrastructure`, `loop`, `truncated`, `empty`, `garbled`, `wrong_language`,
        `refused`, `unparsable`, `bad_format`, `judge_only`, `abstained` or `wrong_result`.
    """
    if answer.missing:
        return "infrastructure"
    flags = answer.score.flags
    for flag, name in _ORDER:
        if flag in flags:
            return name
    if answer.score.status is ScoreStatus.UNSCORED:
        return "unparsable"
    if Flag.BAD_FORMAT in flags:
        return "bad_format"
    if answer.completion.taskset in judged:
        return "judge_only"
    if answer.outcome is Outcome.ABSTAINED:
        return "abstained"
    return "wrong_result"


def causes_by_family(
    pairs: Iterable[Pair], judged: Collection[str] = ()
) -> dict[str, dict[str, int]]:
    """Count the causes of all regressions, by family; `judged` as for `cause`."""
    found: dict[str, Counter[str]] = {}
    for pair in pairs:
        if transition(pair) == "regression":
            counter = found.setdefault(pair.sample.family.value, Counter())
            counter[cause(pair.candidate, judged)] += 1
    return {family: dict(sorted(counter.items())) for family, counter in sorted(found.items())}
