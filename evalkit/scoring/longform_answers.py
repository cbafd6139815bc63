"""Answers to several questions on one document or dialogue, in one reply."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evalkit.scoring.abstention import read_stance
from evalkit.scoring.longform_text import Body, Finding
from evalkit.scoring.numbers import parse_number
from evalkit.scoring.text import fold_width
from evalkit.types import Language

Question = Mapping[str, Any]
Reading = Literal["right", "wrong", "missing"]

_ITEM = re.compile(
    r"^[ \t>*_#(-]{0,6}(?:(?:question|answer|问题|答案?|第)\s?)?(?:q|a)?"
    r"(?P<number>[0-9]{1,2}|[一二三四五六七八九])"
    r"(?:[.)、：:．）*_]|\s[-–]|题|\s(?=[A-Z])){1,4}(?![0-9])",
    re.MULTILINE | re.IGNORECASE,
)
_CHINESE = "零一二三四五六七八九"
_NEGATED = re.compile(
    r"(?:\b(?:not|never|no longer|rather than|instead of|isn't|wasn't|and not|from"
    r"|originally|initially|previously|formerly|at first)\b[\w ]{0,12}"
    r"|不是|并非|而非|不再是|不在|原本|原来|原定|本来|起初|从)[是在为]?$"
)
# The question said again before its answer.
_ASKED = re.compile(r"[^\n?？]{1,200}[?？][ *_:：\n-]{0,8}(?=\w)")
_WORD = re.compile(r"\w")
_NOT_STATED = re.compile(
    r"^\W*(?:(?:it is |this is |that is )?not (?:stated|mentioned|specified|given|said|known"
    r"|provided|in the notes|available|disclosed)|unknown|n/?a\b"
    r"|未(?:提及|提到|说明|知)|没有?(?:提|说)|不(?:知道|详|清楚))",
    re.IGNORECASE,
)
# What these tasks call their input, beside what any passage is called.
_NOTES = re.compile(
    r"\b(?:notes?|you|dialogue|conversation|messages?|list) (?:do(?:es)?|did)(?:n't| not) (?:say"
    r"|state|mention|tell|specify|give|include|contain|provide|indicate)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Answered:
    """How one question was answered, and where."""

    reading: Reading
    said: str
    finding: Finding | None = None


def read_answers(questions: Sequence[Question], body: Body, prompt: str) -> list[Answered]:
    """Read the answer to each question, from its numbered item where there are such."""
    parts = _parts(body.text, len(questions))
    return [
        _read(question, body, parts.get(index), prompt, body.language)
        for index, question in enumerate(questions, 1)
    ]


def _parts(text: str, n: int) -> dict[int, tuple[int, int]]:
    """Return where the answer to each question stands; all of it when nothing is numbered."""
    whole = (0, len(text))
    if n == 1:
        return {1: whole}
    items: dict[int, tuple[int, int]] = {}
    wanted = 1
    starts: list[tuple[int, int, int]] = []
    for match in _ITEM.finditer(fold_width(text)):
        written = match["number"]
        number = int(written) if written.isascii() else _CHINESE.index(written)
        # A list within an answer begins again or goes beyond: it is not ours.
        if wanted <= number <= n:
            starts.append((number, match.start(), match.end()))
            wanted = number + 1
    for index, (number, _, end) in enumerate(starts):
        stop = starts[index + 1][1] if index + 1 < len(starts) else len(text)
        items[number] = (end, stop)
    if items:
        return items
    lines = [match.span() for match in re.finditer(r"[^\n]*\w[^\n]*", text)]
    if len(lines) == n:
        return dict(enumerate(lines, 1))
    return {}


def _read(
    question: Question, body: Body, part: tuple[int, int] | None, prompt: str, language: Language
) -> Answered:
    if part is None:
        # Nothing tells which words answer this one: only what is right can be seen.
        found = _first(question["values"], body, (0, len(body.text)))
        if found is not None and not question.get("unknown"):
            return Answered("right", "named")
        return Answered("missing", "not answered")
    again = _ASKED.match(body.text, *part)
    if again is not None:
        part = (again.end(), part[1])
    said = body.text[part[0] : part[1]].strip(" *_\n")
    # A question that is only said again is no answer.
    if not _WORD.search(said) or said.endswith(("?", "？")):
        return Answered("missing", "not answered")
    stance = read_stance(said, prompt, language)
    declined = bool(_NOT_STATED.match(said) or _NOTES.search(said)) or (
        (stance.declines or stance.denies) and not stance.asserts
    )
    right, wrong = _right(question, body, part), _wrong(question, body, part)
    shown = said.split("\n")[0][:60]
    if question.get("unknown"):
        if declined and wrong is None:
            return Answered("right", "says that it is not stated")
        at = wrong[0] if wrong else part[0]
        return Answered("wrong", shown, Finding(f"no answer exists, but: {shown}", at))
    if right is not None and (wrong is None or right <= wrong[0]):
        return Answered("right", shown)
    wanted = question["values"][0]
    if wrong is not None:
        return Answered("wrong", shown, Finding(f"{wrong[1]} instead of {wanted}", wrong[0]))
    if declined:
        return Answered("missing", "declined")
    return Answered("wrong", shown, Finding(f"{shown} instead of {wanted}", part[0]))


def _first(phrases: Sequence[str], body: Body, part: tuple[int, int]) -> int | None:
    places = [
        span.start
        for phrase in phrases
        for span in body.phrase(phrase)
        if part[0] <= span.start < part[1]
        and not _NEGATED.search(body.plain[max(part[0], span.start - 30) : span.start])
    ]
    return min(places, default=None)


def _right(question: Question, body: Body, part: tuple[int, int]) -> int | None:
    places = [_first(question["values"], body, part)]
    if "number" in question:
        wanted = parse_number(question["number"])
        places += [at for value, at, _ in _numbers(body, part) if value == wanted]
    return min((at for at in places if at is not None), default=None)


def _wrong(question: Question, body: Body, part: tuple[int, int]) -> tuple[int, str] | None:
    """Return the first rival or other number in an answer."""
    found: list[tuple[int, str]] = []
    for rival in question.get("rivals", ()):
        at = _first((rival,), body, part)
        if at is not None:
            found.append((at, rival))
    if "number" in question:
        wanted = parse_number(question["number"])
        found += [(at, text) for value, at, text in _numbers(body, part) if value != wanted]
    return min(found, default=None)


def _numbers(body: Body, part: tuple[int, int]) -> list[tuple[Any, int, str]]:
    placed = ((n.value, body.place(n.start, n.text), n.text.strip(), n) for n in body.numbers)
    return [
        (value, at, text)
        for value, at, text, number in placed
        if part[0] <= at < part[1] and not number.marker and text not in ("一", "one")
    ]
