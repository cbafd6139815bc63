"""What reviewers' marks do to answers, and whom they help.

Marks change scores, never answers. They are made by people who have seen the result, so
that the comparison before them stays the one that gates: a mark can only take a SHIP away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.decision.pairing import Answer, Key
from evalkit.fingerprint import digest
from evalkit.reviews import Favours, JudgedMark, Mark
from evalkit.types import Completion, Flag, Outcome, ScoreStatus

_VALUES = {Outcome.CORRECT: 1.0, Outcome.INCORRECT: 0.0, Outcome.ABSTAINED: 0.0}


@dataclass(frozen=True, slots=True)
class Adjudicated:
    """Two arms after the marks, and what became of each mark."""

    baseline: dict[Key, Answer]
    candidate: dict[Key, Answer]
    marks: tuple[JudgedMark, ...]


def answer_hash(completion: Completion) -> str:
    """Return what names an answer: equal texts of one prompt are one answer."""
    redacted = completion.redacted
    text = completion.text if redacted is None else redacted.text
    return digest([completion.prompt_hash, text])


def adjudicate(
    names: tuple[str, str],
    baseline: Mapping[Key, Answer],
    candidate: Mapping[Key, Answer],
    marks: Sequence[Mark],
) -> Adjudicated:
    """Apply marks in their order; a later mark on the same answer replaces an earlier one.

    Args:
        names: Of baseline and candidate.
        baseline: Answers by (taskset, sample id, epoch).
        candidate: The same of the candidate.
        marks: Of all arms; those of others are left out.

    Returns:
        New answers. A prompt marked as bad is in neither arm any more.
    """
    arms = dict(zip(names, (dict(baseline), dict(candidate)), strict=True))
    withdrawn = {mark.withdraws for mark in marks if mark.kind == "withdrawal"}
    own = [
        mark
        for mark in marks
        if mark.kind != "withdrawal" and (mark.arm is None or mark.arm in names)
    ]
    bad = {
        (mark.taskset, mark.sample_id)
        for mark in own
        if mark.kind == "prompt" and mark.mark_id not in withdrawn
    }
    judged = []
    for mark in own:
        if mark.mark_id in withdrawn:
            judged.append(JudgedMark(mark, "withdrawn", None, "neither"))
        elif mark.kind == "score":
            judged.append(_score(mark, names, arms))
        else:
            judged.append(_prompt(mark, baseline, candidate))
    left = [{k: a for k, a in arms[name].items() if k[:2] not in bad} for name in names]
    return Adjudicated(left[0], left[1], tuple(judged))


def one_sided(marks: Iterable[JudgedMark]) -> Favours | None:
    """Return the arm that gains by all marks that help one; `None` when there is no such arm.

    >>> one_sided([]) is None
    True
    """
    helped = {one.favours for one in marks if one.state == "applied"} - {"neither"}
    return helped.pop() if len(helped) == 1 else None


def _score(mark: Mark, names: tuple[str, str], arms: Mapping[str, dict[Key, Answer]]) -> JudgedMark:
    key = (mark.taskset, mark.sample_id, mark.epoch)
    answers = arms[mark.arm or ""]
    answer = answers.get(key)
    if (
        answer is None
        or answer.completion.error is not None
        or mark.answer_hash != answer_hash(answer.completion)
    ):
        return JudgedMark(mark, "stale", None, "neither")
    wanted = Outcome(mark.outcome or "")
    before = answer.score.outcome
    word = answer.score.status.value if before is None else before.value
    if before is wanted and answer.value == _VALUES[wanted]:
        return JudgedMark(mark, "unchanged", word, "neither")
    changed = _overruled(answer, wanted, mark)
    answers[key] = changed
    return JudgedMark(mark, "applied", word, _favours(mark, names, answer, changed))


def _overruled(answer: Answer, outcome: Outcome, mark: Mark) -> Answer:
    flags = answer.score.flags
    if outcome is not Outcome.INCORRECT:
        flags = tuple(flag for flag in flags if flag is not Flag.HALLUCINATED)
    score = replace(
        answer.score,
        status=ScoreStatus.SCORED,
        outcome=outcome,
        value=_VALUES[outcome],
        reason=None,
        flags=flags,
        explanation=f"overruled by {mark.reviewer}: {mark.reason}",
    )
    return Answer(answer.completion, score)


def _favours(mark: Mark, names: tuple[str, str], before: Answer, after: Answer) -> Favours:
    gain = (after.value or 0.0) - (before.value or 0.0)
    if not gain:
        # From wrong to "I do not know", or back: fewer hallucinations, or more.
        gain = (before.outcome is Outcome.INCORRECT) - (after.outcome is Outcome.INCORRECT)
    if not gain:
        return "neither"
    own, other = ("baseline", "candidate") if mark.arm == names[0] else ("candidate", "baseline")
    return own if gain > 0 else other  # type: ignore[return-value]


def _prompt(
    mark: Mark, baseline: Mapping[Key, Answer], candidate: Mapping[Key, Answer]
) -> JudgedMark:
    """A prompt that goes takes its regressions and improvements along."""
    keys = [key for key in baseline if key[:2] == (mark.taskset, mark.sample_id)]
    known = [key for key in keys if key in candidate]
    if not known:
        return JudgedMark(mark, "stale", None, "neither")
    change = sum((candidate[key].value or 0.0) - (baseline[key].value or 0.0) for key in known)
    favours: Favours = "neither"
    if change:
        favours = "candidate" if change < 0 else "baseline"
    return JudgedMark(mark, "applied", None, favours)
