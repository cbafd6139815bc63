"""Text as scorers compare it: bounded, normalised, cut into sentences, searched for phrases.

Every function takes any `str` (lone surrogates, NUL and directional marks included), is
linear in its length, and never raises.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_CHARS = 100_000

QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'})
_SPACES = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"[。！？\n]|[.!?](?=\s|$)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:mr|mrs|ms|dr|sts?|prof|no|vs|rep|rev|sen|gov|gen|col|lt|capt|sgt|maj|hon|jr|sr"
    r"|mt|ft|fr|messrs|vol|(?:[a-z]\.){0,4}[a-z])$",
    re.IGNORECASE,
)
_VISIBLE = re.compile(r"[^\s\u00ad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]")
_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}


@dataclass(frozen=True, slots=True)
class Span:
    """Where something stands in a text: characters `start` to `end`, `end` excluded."""

    start: int
    end: int


def is_blank(text: str) -> bool:
    """Say whether a text shows nothing: white space and zero-width characters alone."""
    return _VISIBLE.search(text) is None


def clip(text: str) -> str:
    """Return at most `MAX_CHARS` characters: the whole, or its head and its tail.

    No honest answer is longer, and both a first and a last statement are kept.
    """
    if len(text) <= MAX_CHARS:
        return text
    half = MAX_CHARS // 2
    return f"{text[:half]}\n{text[-half:]}"


def fold_width(text: str) -> str:
    """Return the text with full-width ASCII (１２３，％) made half-width."""
    return text.translate(_WIDTH)


def normalise(text: str) -> str:
    """Return the text in the form in which phrases are compared.

    Compatibility forms are folded (NFKC), case and accents dropped, invisible format
    characters removed, curly quotes made straight. Line breaks stay, other white space
    becomes one space.
    """
    lines = _folded(clip(text)).split("\n")
    return "\n".join(_SPACES.sub(" ", line).strip() for line in lines)


def _folded(text: str) -> str:
    if text.isascii():
        # None of what follows does more here, and it looks at each character.
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).translate(QUOTES).casefold()
    kept = "".join(
        character
        for character in unicodedata.normalize("NFD", folded)
        if unicodedata.category(character) not in ("Mn", "Cf")
    )
    return unicodedata.normalize("NFC", kept)


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, blank ones left out.

    A full stop ends a sentence only before white space, and not after a title or an
    initials ("Mr. Hale", "J. B. Smith", "J.B.S. Haldane").
    """
    parts: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(
            text[max(0, match.start() - 10) : match.start()]
        ):
            continue
        parts.append(text[start : match.end()].strip())
        start = match.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def find_phrase(text: str, phrase: str) -> Iterator[Span]:
    """Yield where a phrase stands in a text, both already normalised.

    A phrase that begins or ends with a Latin letter or a digit must begin or end at a
    word border there, so "au" is not found in "because"; Chinese has no word borders, so
    there any occurrence counts.
    """
    if not phrase:
        return
    at = text.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        if not (_joined(text, at) or _joined(text, end)):
            yield Span(at, end)
        at = text.find(phrase, at + 1)


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Say whether one of the phrases stands in a normalised text."""
    return any(next(find_phrase(text, normalise(phrase)), None) for phrase in phrases)


def _joined(text: str, at: int) -> bool:
    """Say whether the characters on both sides of a position belong to one Latin word."""
    return 0 < at < len(text) and _is_word(text[at - 1]) and _is_word(text[at])


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
