"""Findings in a long text: what is wrong, and at which character of the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import Number, find_numbers
from evalkit.scoring.text import QUOTES, Span, clip, fold_width
from evalkit.types import Language

_FULL_HOUR = re.compile(r"(?<=[0-9]):00(?![0-9])")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]|[A-Za-z0-9]+")
HEDGE = re.compile(
    r"(?:\b(?:over|more than|well over|nearly|almost|about|around|some|roughly|close to|just under"
    r"|approximately|at least|fewer than|less than|up to)"
    r"|超过|近|将近|约|大约|大概|不到|至少|逾)"
    r"\s*(?:the past |a |有|为|达|是)?$",
    re.IGNORECASE,
)
"""What says, right before a number, that it is rounded."""

_PARTS = ("early", "middle", "late")
_MAX_SHOWN = 25
_BLANKS = str.maketrans({"\t": " ", "\u00a0": " ", "\u3000": " ", "\u202f": " "})


@dataclass(frozen=True, slots=True)
class Finding:
    """One false statement.

    Attributes:
        what: For readers: what is wrong, in the words of the text.
        at: Its first character in the answer.
    """

    what: str
    at: int


@dataclass(frozen=True, slots=True)
class Body:
    """An answer in the forms in which it is searched.

    Attributes:
        text: As it was written (clipped), quotes made straight.
        plain: The same, character by character, in half width and lower case.
        folded: With numbers made plain; as long as `text` but for fractions.
        numbers: All numbers of `folded`, in digits and in words.
    """

    text: str
    plain: str
    folded: str
    numbers: Sequence[Number]
    language: Language

    @classmethod
    def read(cls, answer: str, language: Language) -> Body:
        """Prepare an answer."""
        text = clip(answer).translate(QUOTES).translate(_BLANKS)
        folded = _FULL_HOUR.sub("   ", fold_numbers(text))
        return cls(text, _lower(fold_width(text)), folded, read_numbers(text, language), language)

    def place(self, at: int, written: str) -> int:
        """Return where in the answer something stands that was found in `folded`."""
        drift = abs(len(self.folded) - len(self.text))
        found = self.text.find(written.strip(), max(0, at - drift))
        return found if 0 <= found <= at + drift + len(written) else min(at, len(self.text))

    def phrase(self, phrase: str) -> Iterator[Span]:
        """Yield where a phrase stands, whatever its case, at borders of Latin words."""
        wanted = _lower(fold_width(phrase.translate(QUOTES)))
        at = self.plain.find(wanted) if wanted else -1
        while at >= 0:
            end = at + len(wanted)
            if not (_joined(self.plain, at) or _joined(self.plain, end)):
                yield Span(at, end)
            at = self.plain.find(wanted, end)

    def sentence(self, at: int) -> Span:
        """Return the sentence (or line) that holds a character."""
        start = max(self.text.rfind(mark, 0, at) for mark in ("\n", ". ", "! ", "? ", *"。！？"))
        ends = [self.text.find(mark, at) for mark in ("\n", ". ", "! ", "? ", *"。！？")]
        return Span(start + 1, min((end for end in ends if end >= 0), default=len(self.text)))


def read_numbers(text: str, language: Language) -> list[Number]:
    """Return the numbers of a text in their order, full hours (`7:00`) as hours."""
    folded = _FULL_HOUR.sub("   ", fold_numbers(text))
    digits = find_numbers(folded)
    ends = {number.end for number in digits}
    # The 万 of 6万 is part of a number already.
    words = [word for word in find_number_words(folded, language) if word.end not in ends]
    return sorted([*digits, *words], key=lambda number: number.start)


def measure(text: str, language: Language) -> int:
    """Count the words of an English text, the characters of a Chinese one.

    >>> measure("It's a well-known place.", "en"), measure("共有40间房。", "zh")
    (4, 5)
    """
    return sum(1 for _ in (_HAN if language == "zh" else _WORD).finditer(text))


def part_of(at: int, length: int) -> str:
    """Return the third of a text that a character stands in: early, middle or late."""
    return _PARTS[min(2, 3 * at // max(1, length))]


def describe(findings: Sequence[Finding], length: int) -> str:
    """Return one line with each finding, its third of the text and its character."""
    shown = [
        f"{finding.what} ({part_of(finding.at, length)}, at {finding.at})"
        for finding in findings[:_MAX_SHOWN]
    ]
    more = len(findings) - _MAX_SHOWN
    return "; ".join(shown + ([f"and {more} more"] if more > 0 else []))


def _lower(text: str) -> str:
    # A few capitals are longer in lower case, and every character is to keep its place.
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _joined(text: str, at: int) -> bool:
    return 0 < at < len(text) and _latin(text[at - 1]) and _latin(text[at])


def _latin(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
