"""The verdict before and after adjudication, and who changed what."""

from __future__ import annotations

from evalkit.report import numbers
from evalkit.report.estimates import as_difference
from evalkit.report.flat import date
from evalkit.report.model import ReviewBlock, ReviewSide, Table
from evalkit.report.text import one_line
from evalkit.report.verdicts import ICONS, Names
from evalkit.report.words import Words
from evalkit.results import CandidateResult
from evalkit.reviews import JudgedMark, Review, Side

_SIDES = ("side", "verdict", "difference", "hallucination", "pairs")
_MARKS = ("sample", "mark", "effect", "favours", "reviewer", "why", "when")


def review_block(words: Words, names: Names, result: CandidateResult) -> ReviewBlock | None:
    """Return both sides and all marks; `None` where nothing was marked."""
    review = result.review
    if review is None:
        return None
    sides = (
        _side(words, "before", review.before, gates=not review.followed),
        _side(words, "after", review.after, gates=review.followed),
    )
    return ReviewBlock(
        lead=_lead(words, names, review),
        one_sided=review.one_sided,
        sides=sides,
        table=_sides(words, sides),
        marks=Table(
            caption=words("table.marks"),
            columns=tuple(words(f"col.{key}") for key in _MARKS),
            rows=tuple(_mark(words, names, judged) for judged in review.marks),
            words=tuple(range(1, len(_MARKS))),
        ),
    )


def _lead(words: Words, names: Names, review: Review) -> str:
    applied = sum(one.state == "applied" for one in review.marks)
    facts = {"applied": numbers.count(applied), "n": numbers.count(len(review.marks))}
    told = words("review.lead", **facts)
    if review.one_sided is None:
        return told
    arm = names.candidate if review.one_sided == "candidate" else names.baseline
    gap = "" if words.lang == "zh" else " "
    return f"{told}{gap}{words('review.one_sided', arm=arm)}"


def _side(words: Words, name: str, side: Side, *, gates: bool) -> ReviewSide:
    state = side.verdict.state.value
    return ReviewSide(
        name=words(f"review.{name}"),
        state=state,
        icon=ICONS[state],
        word=words(f"state.{state}"),
        difference=as_difference(words, side.difference),
        hallucination=as_difference(words, side.hallucination) if side.hallucination else None,
        n=side.n,
        gates=gates,
    )


def _sides(words: Words, sides: tuple[ReviewSide, ...]) -> Table:
    return Table(
        caption=words("ui.review"),
        columns=tuple(words(f"col.{key}") for key in _SIDES),
        rows=tuple(
            (
                side.name,
                f"{side.icon} {side.word}{words('policy.gates') if side.gates else ''}",
                side.difference.told,
                side.hallucination.told if side.hallucination is not None else numbers.DASH,
                numbers.count(side.n),
            )
            for side in sides
        ),
        words=(1,),
    )


def _mark(words: Words, names: Names, judged: JudgedMark) -> tuple[str, ...]:
    mark = judged.mark
    arms = {"candidate": names.candidate, "baseline": names.baseline}
    if mark.kind == "prompt":
        said = words("mark.prompt")
    else:
        outcomes = {
            "before": words.name("outcome", judged.before or ""),
            "after": words.name("outcome", mark.outcome or ""),
        }
        key = "mark.score" if judged.before else "mark.score_unknown"
        said = words(key, arm=one_line(mark.arm or ""), **outcomes)
    return (
        one_line(f"{mark.taskset}/{mark.sample_id}"),
        said,
        words(f"mark.{judged.state}"),
        arms.get(judged.favours, numbers.DASH),
        one_line(mark.reviewer),
        one_line(mark.reason),
        date(mark.time),
    )
