"""What a judge said of answers: reading its verdicts, and a scorer that looks them up.

The judge was asked before (`collect.judge_requests`); nothing is asked here. A verdict is the
last line of what it said, with the mark of the very item, or there is none: a judge that
cannot be read has failed, and its failure is missing data, never a grade.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from evalkit.collect.judge_prompt import ANSWER_LIMIT, cut_by, mark_of, sample_item
from evalkit.collect.judge_requests import AGAIN, FIRST, TURNED
from evalkit.collect.judge_rubric import RUBRICS, Rubric
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.types import Completion, Flag, Outcome, Sample

UNPARSABLE = "judge:unparsable"
NOT_ASKED = "judge:not_asked"

_OUTCOMES = {
    "CORRECT": Outcome.CORRECT,
    "INCORRECT": Outcome.INCORRECT,
    "NOT_ATTEMPTED": Outcome.ABSTAINED,
}
_VERDICT = re.compile(r"VERDICT ([0-9a-f]{8})[:\uff1a] ?(CORRECT|INCORRECT|NOT_ATTEMPTED)")
# What a model puts around a line to make it bold, and no more.
_ORNAMENT = " \t\r*`_"
_SAID = 300


@dataclass(frozen=True, slots=True)
class Ruling:
    """What became of one item.

    Attributes:
        outcome: The verdict; `None` when there is none.
        reason: Why there is none: `judge:unparsable`, `judge:<class of error>`.
        said: The judge's words before its verdict, or the error.
    """

    outcome: Outcome | None
    reason: str | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Rulings:
    """All that a judge's journal says.

    Attributes:
        by_key: The ruling on each item.
        turned: For each item that was asked twice, the second ruling.
    """

    by_key: Mapping[str, Ruling]
    turned: Mapping[str, Ruling] = field(default_factory=dict)

    def agreement(self) -> tuple[int, int]:
        """Count the items with two readable verdicts: how many agree, and how many there are."""
        pairs = [
            (self.by_key[key].outcome, again.outcome)
            for key, again in self.turned.items()
            if key in self.by_key and again.outcome is not None
        ]
        read = [(one, other) for one, other in pairs if one is not None]
        return sum(one is other for one, other in read), len(read)


def read_verdict(text: str | None, finish_reason: str | None, mark: str) -> Outcome | None:
    r"""Read a verdict strictly: the last line, this item's mark, one of three grades.

    A reply that was cut has none, and neither has one that gives two different ones.

    >>> read_verdict("It says Paris.\nVERDICT 0a1b2c3d: CORRECT", "stop", "0a1b2c3d")
    <Outcome.CORRECT: 'correct'>
    >>> read_verdict("VERDICT: CORRECT", "stop", "0a1b2c3d") is None
    True
    """
    if text is None or finish_reason == "length":
        return None
    lines = [line for raw in text.splitlines() if (line := raw.strip(_ORNAMENT))]
    read = [found.groups() for line in lines if (found := _VERDICT.fullmatch(line))]
    mine = {grade for seen, grade in read if seen == mark}
    last = _VERDICT.fullmatch(lines[-1]) if lines else None
    if last is None or last[1] != mark or len(mine) != 1:
        return None
    return _OUTCOMES[last[2]]


def read_rulings(completions: Iterable[Completion]) -> Rulings:
    """Read a judge's journal.

    Args:
        completions: One for each request (`RunFolder.completions`).
    """
    replies: dict[int, dict[str, Ruling]] = {FIRST: {}, AGAIN: {}, TURNED: {}}
    for completion in completions:
        if completion.epoch in replies:
            replies[completion.epoch][completion.sample_id] = _ruling(completion)
    first, again = replies[FIRST], replies[AGAIN]
    by_key = {}
    for key, ruling in first.items():
        second = again.get(key)
        retried = second is not None and ruling.reason == UNPARSABLE
        by_key[key] = second if retried and second is not None and second.outcome else ruling
    return Rulings(by_key, replies[TURNED])


def _ruling(completion: Completion) -> Ruling:
    if completion.error is not None:
        kind = completion.error.kind
        return Ruling(None, f"judge:{kind}", completion.error.message)
    mark = mark_of(completion.sample_id)
    outcome = read_verdict(completion.text, completion.finish_reason, mark)
    said = " ".join((completion.text or "").split())
    if outcome is None:
        why = " It was cut." if completion.finish_reason == "length" else ""
        return Ruling(None, UNPARSABLE, f"No verdict can be read in: {said[-_SAID:]!r}.{why}")
    return Ruling(outcome, None, said.split(f"VERDICT {mark}")[0][:_SAID].strip(_ORNAMENT))


@dataclass(frozen=True, slots=True)
class JudgeScorer:
    """Scores an answer as a judge did who was asked before.

    Attributes:
        rubric: What it was judged by.
        rulings: By the key of the item. A taskset may ask for a judge before one is named:
            then there are none, and every answer is missing its score.
    """

    rubric: Rubric = RUBRICS["answers"]
    rulings: Mapping[str, Ruling] = field(default_factory=dict, repr=False)
    name: str = "judge"
    version: int = 1

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Look up what was said of one answer."""
        item = sample_item(self.rubric, sample, text)
        ruling = self.rulings.get(item.key)
        if ruling is None:
            return Judgement.failed(NOT_ASKED, "No judge was asked about this answer.")
        if ruling.outcome is None:
            return Judgement.failed(ruling.reason or UNPARSABLE, ruling.said)
        cut = cut_by(item)
        notice = f" (It read {ANSWER_LIMIT:,} of {len(item.answer):,} characters.)" if cut else ""
        return Judgement(
            ruling.outcome,
            float(ruling.outcome is Outcome.CORRECT),
            None,
            f"The judge: {ruling.said or 'no reason given.'}{notice}",
            (Flag.HALLUCINATED,) if ruling.outcome is Outcome.INCORRECT else (),
        )


def failures(reasons: Iterable[str | None]) -> dict[str, int]:
    """Count the reasons for missing scores that are a judge's."""
    found = Counter(reason for reason in reasons if reason and reason.startswith("judge:"))
    return dict(sorted(found.items()))


SCORERS.register("judge")(JudgeScorer())
