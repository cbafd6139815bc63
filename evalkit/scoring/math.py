r"""Word problems with one exact number as their answer.

The answer is read from the first of these that holds a number: what follows the last
`####`, the last `\boxed{}`, the last "answer is" (答案是), the last bold text, the whole
reply. In the first four the number after the last `=` counts, else the first; in the
whole reply the last one counts. It is compared as an exact fraction: 0.5, 1/2, ½ and
50% are one number, and 250 cm is 2.5 m.

Target: `value` (string: integer, decimal or fraction); optional `unit` (a known unit: an
answer in another unit of the same kind is converted, one of another kind is wrong);
optional `percent` (true: the question asks for a percentage, so `50` and `50%` are right
and `0.5` is not).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from evalkit.scoring.abstention import read_stance
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.numbers import (
    Number,
    find_number_words,
    find_numbers,
    fold_numbers,
    parse_number,
)
from evalkit.scoring.text import clip
from evalkit.scoring.units import conversion, unit_at
from evalkit.types import Language, Outcome, Sample

_SEGMENT_CHARS = 120
_HASHES = re.compile(r"####")
_BOXED = re.compile(r"\\boxed\s{0,3}\{")
_ANSWER = re.compile(
    r"\banswer(?:\s(?:is|was|would be|equals)\b|\s?[:=])|答案\s?(?:是|为|[:：=])|答\s?[:：]",
    re.IGNORECASE,
)
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")


@dataclass(frozen=True, slots=True)
class Extracted:
    """The number that an answer comes to, its unit if one is written, and where it was read."""

    number: Number
    unit: str | None
    source: str


@dataclass(frozen=True, slots=True)
class MathScorer:
    """Compares the final number of an answer with the target, exactly."""

    name: str = "math"
    version: int = 1

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer; it is unscored when it holds no number and does not decline."""
        extracted = extract_answer(text, sample.language)
        if extracted is None and _declines(sample, text):
            return Judgement(Outcome.ABSTAINED, 0.0, None, "declines to answer")
        if extracted is None:
            return Judgement.unscored("extraction", "no number in the answer")
        expected = parse_number(sample.target["value"])
        unit = sample.target.get("unit")
        percent = bool(sample.target.get("percent", False))
        right = _equal(extracted, expected, unit, percent=percent) and not _restates(
            extracted, expected, sample.messages[-1].content
        )
        wanted = f"{sample.target['value']}{f' {unit}' if unit else ''}"
        return Judgement(
            outcome=Outcome.CORRECT if right else Outcome.INCORRECT,
            value=float(right),
            answer=extracted.number.text
            if extracted.unit is None
            else f"{extracted.number.text} {extracted.unit}",
            explanation=f"read from {extracted.source}; "
            f"{'equals' if right else 'expected'} {wanted}",
        )


def _declines(sample: Sample, text: str) -> bool:
    return read_stance(clip(text), sample.messages[-1].content, sample.language).declines


def extract_answer(text: str, language: Language) -> Extracted | None:
    """Return the final number of an answer, or `None` when there is no number in it."""
    folded = fold_numbers(clip(text))
    for source, segments in _MARKED.items():
        for segment in segments(folded):
            number = _first_or_result(segment, language)
            if number is not None:
                return Extracted(number, unit_at(segment, number.end), source)
    numbers = _numbers(folded, language)
    if not numbers:
        return None
    return Extracted(numbers[-1], unit_at(folded, numbers[-1].end), "the last number")


def _after(pattern: re.Pattern[str]) -> Callable[[str], Iterator[str]]:
    """Return a function that cuts out what follows the last match, to the end of its line."""

    def segments(text: str) -> Iterator[str]:
        matches = list(pattern.finditer(text))
        if matches:
            end = matches[-1].end()
            yield text[end : end + _SEGMENT_CHARS].lstrip().partition("\n")[0]

    return segments


def _bold(text: str) -> Iterator[str]:
    yield from reversed([match[1] for match in _BOLD.finditer(text)])


def _boxed(text: str) -> Iterator[str]:
    for segment in _after(_BOXED)(text):
        depth = 1
        for at, character in enumerate(segment):
            depth += (character == "{") - (character == "}")
            if depth == 0:
                yield segment[:at]
                return
        yield segment


_MARKED: dict[str, Callable[[str], Iterator[str]]] = {
    "####": _after(_HASHES),
    "\\boxed": _boxed,
    "the stated answer": _after(_ANSWER),
    "the bold text": _bold,
}


def _first_or_result(segment: str, language: Language) -> Number | None:
    numbers = _numbers(segment, language)
    if not numbers:
        return None
    equals = segment.rfind("=")
    return next((number for number in numbers if number.start > equals), numbers[0])


def _numbers(text: str, language: Language) -> list[Number]:
    """Return the candidates: digits before words, markers and ranks only for want of better."""
    written = find_numbers(text)
    plain = [number for number in written if not (number.marker or number.ordinal)]
    return plain or find_number_words(text, language) or written


def _equal(extracted: Extracted, expected: Fraction, unit: str | None, *, percent: bool) -> bool:
    value = extracted.number.value
    if percent:
        return value == expected
    if extracted.number.percent:
        return value / 100 == expected
    if unit is None or extracted.unit is None:
        return value == expected
    factor = conversion(extracted.unit, unit)
    return factor is not None and value * factor == expected


def _restates(extracted: Extracted, expected: Fraction, question: str) -> bool:
    """Say whether an answer gives the question's own quantity back, unconverted."""
    if extracted.unit is None or extracted.number.value == expected:
        return False
    folded = fold_numbers(question)
    return any(
        number.value == extracted.number.value and unit_at(folded, number.end) is not None
        for number in find_numbers(folded)
    )


SCORERS.register("math")(MathScorer())
