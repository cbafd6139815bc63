r"""Answers that are expressions: found in a reply, and compared with the one that is right.

The answer is read from the first mark of a final answer that something follows, else it is
the last formula of the reply, else its last number. Two expressions that are equal as they
stand, or both rational numbers, are decided at once (`latex.decide`). The rest is
math-verify's (extra `math`), which then also reads a reply without any mark by its own
rules. Without the extra, expressions that are not plainly equal are not equal, and the
explanation says so. An answer that is too long, too deep or too slow to be compared is
`unscored: comparison`: nobody knows whether it is right, and no person would have read it.

The second extractor is the last formula of the reply, else its last number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalkit.scoring.base import Judgement
from evalkit.scoring.extraction import stated_answers
from evalkit.scoring.latex import (
    MAX_EXPRESSION,
    decide,
    delimit,
    find_math,
    is_comparable,
    latex_of,
)
from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.numbers import find_numbers
from evalkit.scoring.text import clip
from evalkit.types import Flag, Outcome

_LISTED = re.compile(r"[$)] ?(?:,|;|and|or|和|或|、) ?(?:[$]|\\\()")
_LETTERS = re.compile(r"[A-Za-z]")
_PROSE = re.compile(
    r"(?<![\\A-Za-z])(?!(?:sin|cos|tan|sec|csc|cot|log|exp|sqrt|min|max)\b)[A-Za-z]{3,}"
    r"|\\text|\b(?:a|an|is|in|of|or|at|by|to|cm|mm|km|kg|am|pm)\b|[\u4e00-\u9fff]"
)
_TAIL = 20_000
_HAS_VALUE = re.compile(r"[A-Za-z\d\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class _Found:
    """An expression, as it is written, and where it was read."""

    text: str
    source: str


@dataclass(frozen=True, slots=True)
class _Ruling:
    """Whether two expressions are equal (`None`: could not be found out), and how that was seen."""

    equal: bool | None
    how: str


def judge_expression(gold: str, text: str, *, strict: bool = True) -> Judgement:
    """Score a reply whose answer is an expression.

    Args:
        gold: The right answer, in LaTeX or as a plain number.
        text: The reply.
        strict: Whether variables must have the names that they have in `gold`.

    Raises:
        ScoringError: When math-verify is installed and cannot be started.
    """
    clipped = latex_of(clip(text))
    last = _last(clipped[-_TAIL:])
    stated = _stated(clipped)
    found = stated or last
    if found is None:
        return Judgement.unscored("extraction", "no formula or number in the answer")
    # Without a mark, math-verify's own search for the answer is the better one.
    ruling = _rule(gold, found.text, None if stated else clipped[-MAX_EXPRESSION:], strict)
    disputed = stated is not None and last is not None and not _alike(stated.text, last.text)
    flags = (Flag.EXTRACTORS_DISAGREE,) if disputed else ()
    answer = found.text[:200]
    if ruling.equal is None:
        explanation = f"read from {found.source}; {ruling.how}"
        return Judgement(None, None, answer, explanation, flags, "comparison")
    return Judgement(
        outcome=Outcome.CORRECT if ruling.equal else Outcome.INCORRECT,
        value=float(ruling.equal),
        answer=answer,
        explanation=f"read from {found.source}; {ruling.how} "
        f"{'equals' if ruling.equal else 'expected'} {gold[:200]}",
        flags=flags,
    )


def _stated(text: str) -> _Found | None:
    for source, segment in stated_answers(text):
        formulas = find_math(segment)
        if source == "\\boxed" and _HAS_VALUE.search(segment):
            return _Found(segment.replace("\\$", "").replace("$", ""), source)
        if formulas:
            first, *others = map(_unboxed, formulas)
            answer = ", ".join((first, *others)) if _LISTED.search(segment) else first
            return _Found(answer, source)
        bare = segment.strip(" .*。")
        if _LETTERS.search(bare) and not _PROSE.search(bare):
            return _Found(bare, source)
        numbers = find_numbers(fold_numbers(segment))
        if numbers:
            return _Found(numbers[0].text, source)
    return None


def _last(text: str) -> _Found | None:
    formulas = find_math(text)
    if formulas:
        return _Found(_unboxed(formulas[-1]), "the last formula")
    numbers = find_numbers(fold_numbers(text))
    return _Found(numbers[-1].text, "the last number") if numbers else None


def _unboxed(formula: str) -> str:
    return next((inner for mark, inner in stated_answers(formula) if mark == "\\boxed"), formula)


def _alike(one: str, other: str) -> bool:
    """Say whether two extracted texts are one answer, a result behind `=` included."""
    if decide(one, other):
        return True
    return decide(one.rpartition("=")[2], other.rpartition("=")[2]) is True


def _rule(gold: str, answer: str, reply: str | None, strict: bool) -> _Ruling:
    plainly = decide(gold, answer)
    if plainly is not None and (plainly or reply is None):
        return _Ruling(plainly, "plainly")
    from evalkit.scoring.latex_pool import available, compare

    if not available():
        return _Ruling(False, "as text, without the extra 'math':")
    searched = delimit(answer) if reply is None else reply
    if not is_comparable(searched) or not is_comparable(gold):
        return _Ruling(None, "too long or too deep to be compared")
    equal = compare(delimit(gold), searched, search=reply is not None, strict=strict)
    if equal is None:
        return _Ruling(None, "takes too long to be compared")
    return _Ruling(equal, "by math-verify")
