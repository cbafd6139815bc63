"""Where an answer names a thing, however its name is written.

A name is found with other spaces, hyphens and commas between its words, with or without an
article or a word such as "about" before it, and in singular or plural; what stands in
brackets is a name of its own ("adenosine diphosphate (ADP)"); a date is found in each of its
usual spellings; a name that is a number is found by its value, so 14 is "fourteen" and is
not within 14.5. Chinese names are found with any dot or dash between their parts, or none.

Everything is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice

from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import find_numbers
from evalkit.scoring.text import Span, find_phrase, normalise
from evalkit.tasksets.formats.dates import date_spellings

MAX_MENTIONS = 1_000
_MAX_WORDS = 12
_WINDOW = 40
_NEGATED_BEFORE = re.compile(
    r"(?:\b(?:not|never|neither|nor|isn't|wasn't|aren't|rather than|instead of|other than|unlike)\b"
    r"(?! (?:only|just|merely))(?: [\w'-]+){0,3} ?|(?:不是|并非|而非|不叫|不在|绝非))[\"'“‘《「]?$"
)
_NEGATED_AFTER = re.compile(
    r"[\"'”’》」]? ?(?:(?:is|was|are|were)(?:n't| not) (?:the|an?|correct|right|its)\b|并?不是)"
)
_CLAUSE_END = re.compile(r"[,.;:!?，。；：！？、]|\bbut\b|而是")
_BRACKETS = re.compile(r"\s*\(([^()]{2,60})\)\s*")
_FILLER = re.compile(
    r"^(?:(?:the|an?|about|approximately|around|roughly|nearly|almost|circa|c\.|ca\.|in|at|on|from"
    r"|to|its?)\s)+(?=\S)"
)
_SEPARATOR = re.compile(r"[\s,\-\u2010-\u2015]+")
_BETWEEN = r"[\s,\-\u2010-\u2015]{1,3}(?:the )?"
_DOT = r"[\u00b7\u2022\u2027\u2219\u22c5\u30fb.\-\u2010-\u2015 ]"
_HAN_NAME = re.compile(rf"[\u4e00-\u9fff](?:{_DOT}?[\u4e00-\u9fff]){{2,19}}")
_LATIN = re.compile("[a-z0-9]")
_BARE_NUMBER = re.compile(r"-?[\d.,/ ]*\d[\d.,/ ]*%?")


@dataclass(frozen=True, slots=True)
class Alias:
    """One name, ready to be looked for.

    Attributes:
        phrases: Normalised names that are found as they are written.
        patterns: For each: a word that no mention lacks, and what finds a mention, compiled
            only when a sentence has that word.
        value: What it is as a number, when it is one and nothing else.
        percent: Whether that number is a percentage.
    """

    phrases: tuple[str, ...]
    patterns: tuple[tuple[str, str], ...]
    value: Fraction | None
    percent: bool

    def mentions(self, sentence: str) -> list[Span]:
        """Return where a normalised sentence names it, the first `MAX_MENTIONS`."""
        return list(islice(self._mentions(sentence), MAX_MENTIONS))

    def _mentions(self, sentence: str) -> Iterator[Span]:
        if self.value is not None:
            yield from self._numbers(sentence)
            return
        for phrase in self.phrases:
            yield from find_phrase(sentence, phrase)
        for word, pattern in self.patterns:
            if word in sentence:
                found = _compiled(pattern).finditer(sentence)
                yield from (Span(*match.span()) for match in found)

    def _numbers(self, sentence: str) -> Iterator[Span]:
        if fold_numbers(sentence) != sentence:
            # Positions would be others.
            yield from (span for phrase in self.phrases for span in find_phrase(sentence, phrase))
            return
        words = (*find_number_words(sentence, "en"), *find_number_words(sentence, "zh"))
        for number in (*find_numbers(sentence), *words):
            same = number.value == self.value and number.percent == self.percent
            if same and not number.marker:
                yield Span(number.start, number.end)


@lru_cache(maxsize=20_000)
def alias(name: str) -> Alias:
    """Return a name ready to be looked for."""
    plain = normalise(name).strip()
    if _BARE_NUMBER.fullmatch(plain):
        numbers = find_numbers(fold_numbers(plain))
        if len(numbers) == 1:
            return Alias((plain,), (), numbers[0].value, numbers[0].percent)
    names = [plain, *(normalise(date) for date in date_spellings(name.strip()))]
    if bracketed := _BRACKETS.findall(plain):
        names += [_BRACKETS.sub(" ", plain).strip(), *bracketed]
    names = list(dict.fromkeys(filter(None, names)))
    words = [form for name in names for form in _forms_of_a_word(name)]
    phrases = tuple(dict.fromkeys((*names, *words)))
    return Alias(phrases, tuple(filter(None, map(_pattern, names))), None, percent=False)


@lru_cache(maxsize=20_000)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _words_of(name: str) -> list[str]:
    """Return the words of a name in Latin letters that is found in other writing, too."""
    bare = _FILLER.sub("", name)
    words = [word.strip(".") for word in _SEPARATOR.split(bare) if word.strip(".")]
    if not words or len(words) > _MAX_WORDS or not all(_LATIN.search(word) for word in words):
        return []
    if len(bare) < 3 or (len(words) == 1 and len(words[0]) < 4):
        return []
    return words


def _forms_of_a_word(name: str) -> tuple[str, ...]:
    """Return a name of one word in singular and plural: no pattern is needed for that."""
    words = _words_of(name)
    if len(words) != 1:
        return ()
    (word,) = words
    if not word.isalpha():
        return (word,)
    stem = word.removesuffix("s")
    return stem, f"{stem}s"


def _pattern(name: str) -> tuple[str, str] | None:
    """Return what finds a name in other writing: of several words, or Chinese of 3 and more."""
    if _HAN_NAME.fullmatch(name):
        characters = re.sub(_DOT, "", name)
        return characters[0], f"{_DOT}?".join(characters)
    words = _words_of(name)
    if len(words) < 2:
        return None
    last = words[-1]
    tail = re.escape(last)
    if len(last) > 3 and last.isalpha():
        tail = re.escape(last.removesuffix("s")) + "s?"
    parts = [rf"{re.escape(word)}\.?" for word in words[:-1]]
    pattern = rf"(?<![a-z0-9_]){_BETWEEN.join([*parts, tail])}(?![a-z0-9_])"
    return max(words[:-1], key=len), pattern


def negated(sentence: str, span: Span) -> bool:
    """Say whether a mention in a normalised sentence is denied: "not Paris", 不是巴黎."""
    before = _CLAUSE_END.split(sentence[max(0, span.start - _WINDOW) : span.start])[-1]
    after = sentence[span.end : span.end + _WINDOW]
    return bool(_NEGATED_BEFORE.search(before) or _NEGATED_AFTER.match(after))
