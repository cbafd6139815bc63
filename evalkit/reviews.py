"""What reviewers said of single samples, and what becomes of a comparison by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalkit.estimates import Estimate
from evalkit.rulings import Verdict

MarkKind = Literal["score", "prompt", "withdrawal"]
MarkState = Literal["applied", "unchanged", "stale", "withdrawn"]
Favours = Literal["candidate", "baseline", "neither"]


@dataclass(frozen=True, slots=True)
class Mark:
    """One reviewer's mark on one sample, as it stands in `review.jsonl`.

    Attributes:
        mark_id: Names it: the hash of its line.
        kind: `score`: the score of one arm's answer is wrong. `prompt`: the prompt is bad,
            and counts for no arm. `withdrawal`: takes back an earlier mark.
        arm: The endpoint whose answer was scored wrongly; `None` for a prompt.
        outcome: What the answer is instead: correct, incorrect or abstained.
        answer_hash: Of the answer that the reviewer saw: another one is not meant.
        withdraws: The mark that is taken back.
    """

    mark_id: str
    kind: MarkKind
    taskset: str
    sample_id: str
    epoch: int
    arm: str | None
    outcome: str | None
    reason: str
    reviewer: str
    time: str
    answer_hash: str | None = None
    withdraws: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedMark:
    """A mark and what it does to one candidate's comparison.

    Attributes:
        state: `applied`; `unchanged`: the score says so already; `stale`: the answer is
            another one now, or is not part of this comparison; `withdrawn`.
        before: Outcome that the scorer gave, for a score.
        favours: Which arm gains by it.
    """

    mark: Mark
    state: MarkState
    before: str | None
    favours: Favours


@dataclass(frozen=True, slots=True)
class Side:
    """One candidate's verdict and pooled numbers, before or after adjudication.

    Attributes:
        n: Pairs.
        difference: Paired difference in accuracy.
        hallucination: The same of hallucination; `None` where none is measured.
    """

    verdict: Verdict
    n: int
    difference: Estimate
    hallucination: Estimate | None


@dataclass(frozen=True, slots=True)
class Review:
    """One candidate before and after adjudication.

    Attributes:
        marks: In the order in which they were made.
        one_sided: The arm that gains by every mark that changes anything; `None` when both
            gain, or nothing changed.
        followed: Whether the side after adjudication gates: only where it takes a SHIP away.
    """

    marks: tuple[JudgedMark, ...]
    before: Side
    after: Side
    one_sided: Favours | None
    followed: bool
