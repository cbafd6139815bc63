r"""Multiple choice: the one letter that an answer comes to.

The letter is read from the first mark of a final answer that one follows (`extraction`), else
from a reply that begins or ends with one ("B", "(B) Paris", "B. Paris", 选 B), else it is the
only option that the reply names: by its letter standing alone, or by its text. Letters in
formulas, the article "A" and the pronoun "I" are no choices. An answer that names several
options is wrong, and one that names none is unscored. The second extractor is the last letter
that stands alone.

Target: `letter` (A to J); optional `options` (list of the options' texts, in order); optional
`count` (how many options there are, when their texts are not given).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalkit.scoring.abstention import read_stance
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.extraction import last_word, stated_answers
from evalkit.scoring.text import clip, contains_any, fold_width, normalise
from evalkit.types import Flag, Outcome, Sample

LETTERS = "ABCDEFGHIJ"
_FORMULA = re.compile(r"\$[^$\n]{1,400}\$|\\\(.{1,400}?\\\)|\\\[.{1,800}?\\\]", re.DOTALL)
_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_FONT = re.compile(r"\\(?:text|mathrm|mathbf|textbf)\s?\{([^{}]{0,200})\}")
_POINTS = re.compile(r"(?:\b(?:is|option|choice|choose|select)|[:选是为])[\s*(]{0,4}$")
# Not in a word, not a variable of a sum, not a possessive ("A's"), not an initial ("J. Smith").
_ALONE = re.compile(
    r"(?<![A-Za-z0-9_'’\\=+\-*/^.])(?P<letter>[A-J])(?![A-Za-z0-9_'’=+*/^]|-[A-Za-z]|\s[=+*/^<>])"
)
# Small letters are choices in brackets, or as all that a reply begins with.
_SMALL = re.compile(r"(?<![\w)])\([a-hj]\)|\A\s{0,9}[a-hj](?:\)|\.?\s{0,9}\Z)")
_SEVERAL = re.compile(
    r"[A-J]{2,10}(?![A-Za-z])|[A-J](?:\s?(?:,|、|&|and|or|和|或|及|与)\s?[A-J](?![A-Za-z]))+"
)
_DENIED = re.compile(r"(?:\bnot|n't|不是|不选|排除)\s?(?:option\s?)?[*(]{0,3}$", re.IGNORECASE)
_LEAD = re.compile(
    r"[\s*(\[{（【\"'“:：]*(?:(?:option|choice|选项|选择|选)\s?[*(（]{0,3})?", re.IGNORECASE
)
_FIRST = re.compile(r"(?P<letter>[A-J])(?=[).:：、，。\]}）】*\"”]|\s*$|\s*\n|\s[-–—])")
_PICKED = re.compile(
    r"(?:\b(?:option|choice|choose|select|pick)\b|选项|选择|选|应为)\s?[*(（]{0,3}(?P<letter>[A-J])"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)


# "A is wrong. B is right. C is wrong."
_CALLED_RIGHT = re.compile(
    r"(?<![A-Za-z0-9_'’\\=+\-*/^.])(?P<letter>[A-J])[)）]?"
    r"(?: is (?:clearly |indeed |therefore |thus )?(?:the )?(?:right|correct|true|best)\b"
    r"|\s?(?:项|选项)?(?:是|为)?(?:正确|对)(?:的|[。，,；;]|$))"
)
_SUPPOSED = re.compile(
    r"(?:\b(?:if|whether|suppose|assume|assuming|unless)|如果|假如|若)[^.。]{0,20}$", re.I
)


@dataclass(frozen=True, slots=True)
class _Read:
    """The letters that an answer comes to, and where they were read."""

    letters: str
    source: str


@dataclass(frozen=True, slots=True)
class ChoiceScorer:
    """Compares the letter that an answer comes to with the right one."""

    name: str = "choice"
    version: int = 3

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer; it is unscored when it names no option and does not decline."""
        known = _known(sample)
        plain = _plain(clip(text))
        options = sample.target.get("options", ())
        said = last_word(plain, _ALONE)
        read = _read(said, known, options)
        if read is None and said is not plain:
            read = _read(plain, known, options)
        if read is None:
            if read_stance(clip(text), sample.messages[-1].content, sample.language).abstains:
                return Judgement(Outcome.ABSTAINED, 0.0, None, "declines to answer")
            return Judgement.unscored("extraction", "names no option, or several in passing")
        right = read.letters == sample.target["letter"]
        last = [match["letter"] for match in _ALONE.finditer(plain) if match["letter"] in known]
        disputed = bool(last) and last[-1] != read.letters
        return Judgement(
            outcome=Outcome.CORRECT if right else Outcome.INCORRECT,
            value=float(right),
            answer=read.letters,
            explanation=f"read from {read.source}; "
            f"{'equals' if right else 'expected'} {sample.target['letter']}",
            flags=(Flag.EXTRACTORS_DISAGREE,) if disputed else (),
        )


def _known(sample: Sample) -> str:
    count = len(sample.target.get("options", ())) or sample.target.get("count", len(LETTERS))
    return LETTERS[:count]


def _plain(text: str) -> str:
    r"""Return a reply without formulas, but for a letter that is boxed or pointed at."""

    def keep(match: re.Match[str]) -> str:
        inner = re.sub(r"[^A-Za-z0-9+=<>^]", "", _BOX.sub("{", match.group()))
        if len(inner) != 1 or inner not in LETTERS:
            return " "
        if _BOX.search(match.group()):
            return f" \\boxed{{{inner}}} "
        before = match.string[max(0, match.start() - 20) : match.start()]
        return f" {inner} " if _POINTS.search(before) else " "

    plain = _FORMULA.sub(keep, _FONT.sub(r"\1", fold_width(text)))
    return _SMALL.sub(lambda match: match.group().upper(), plain)


def _read(text: str, known: str, options: Sequence[str]) -> _Read | None:
    for source, segment in stated_answers(text):
        letters = _leading(segment, known)
        if letters is not None:
            return _Read(letters, source)
        letters = _named(segment, known, options)
        if letters is not None and len(letters) == 1:
            return _Read(letters, source)
    lines = [line for line in text.splitlines() if line.strip()]
    for source, line in (("the first line", lines[:1]), ("the last line", lines[-1:])):
        letters = _leading(line[0], known, strict=True) if line else None
        if letters is not None and len(_listed(lines, known)) < 2:
            return _Read(letters, source)
    right = {
        match["letter"]
        for match in _CALLED_RIGHT.finditer(text)
        if match["letter"] in known
        and not _SUPPOSED.search(text[max(0, match.start() - 30) : match.start()])
    }
    if right:
        only = right.pop() if len(right) == 1 else None
        return _Read(only, "the only option that is called right") if only else None
    picked = {match["letter"] for match in _PICKED.finditer(text) if match["letter"] in known}
    if len(picked) == 1:
        return _Read(picked.pop(), "the only option that is picked")
    letters = _named(text, known, options)
    return (
        _Read(letters, "the only option that is named") if letters and len(letters) == 1 else None
    )


def _leading(segment: str, known: str, *, strict: bool = False) -> str | None:
    """Return the letter or letters that a segment begins with.

    Args:
        segment: What follows a mark, or a line.
        known: The letters that are options.
        strict: Whether the letter must be marked as one: "A. Paris" and not "A city".
    """
    lead = _LEAD.match(segment)
    rest = segment[lead.end() :] if lead else segment
    several = _SEVERAL.match(rest)
    if several is not None and not (strict and rest[several.end() :].strip(" .。")):
        letters = {character for character in several.group() if character in LETTERS}
        if len(letters) > 1 and letters <= set(known):
            return "".join(sorted(letters))
    match = _FIRST.match(rest) or (None if strict else _ALONE.match(rest))
    if match is None or match["letter"] not in known:
        return None
    after = rest[match.end() : match.end() + 2]
    is_word = match["letter"] in "AI" and re.match(r"\s[a-z]", after) is not None
    return None if is_word else match["letter"]


def _listed(lines: Sequence[str], known: str) -> set[str]:
    """Return the letters that begin a line: several of them are the question's list again."""
    begun = (_leading(line, known, strict=True) for line in lines)
    return {letter for letter in begun if letter}


def _named(text: str, known: str, options: Sequence[str]) -> str | None:
    """Return the letters of the options that a text names; `None` when it names none."""
    letters = {
        match["letter"]
        for match in _ALONE.finditer(text)
        if match["letter"] in known
        and not _is_word(text, match)
        and not _DENIED.search(text[max(0, match.start() - 20) : match.start()])
    }
    if not letters and options:
        said = normalise(text)
        letters = {
            letter
            for letter, option in zip(LETTERS, options, strict=False)
            if contains_any(said, (option,))
        }
    return "".join(sorted(letters)) or None


def _is_word(text: str, match: re.Match[str]) -> bool:
    """Say whether an "A" or "I" is the English article or pronoun."""
    return match["letter"] in "AI" and re.match(r"\s[a-z'’]", text[match.end() :][:2]) is not None


SCORERS.register("choice")(ChoiceScorer())
