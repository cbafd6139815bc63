r"""Problems with one exact answer: a number, or an expression in LaTeX.

A number is read from the first mark of a final answer that one follows (`extraction`), else
it is the last one of the reply. After a mark the number past the last `=` counts, else the
first. It is compared as an exact fraction: 0.5, 1/2, ½ and 50% are one number, and 250 cm
is 2.5 m, as 2 m 50 cm is. The second extractor is the last number of the reply, whatever the marks.

Target: `value` (string: integer, decimal, fraction or percentage); optional `unit` (a known
unit: an answer in another unit of the same kind is converted, one of another kind is wrong);
optional `percent` (true, as with a `value` of `50%`: the question asks for a percentage, so
`50` and `50%` are right and `0.5` is not; false: it does not, so `50%` is 0.5; left out:
where the question asks for a percentage, `50%` is both). Or, in place of all these,
`expression` (string: LaTeX without `$`, see `latex_answers`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from evalkit.scoring.abstention import read_stance
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.extraction import last_word, stated_answers
from evalkit.scoring.latex_answers import judge_expression
from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import Number, find_numbers, parse_number
from evalkit.scoring.quantities import Quantity, quantity_of
from evalkit.scoring.text import clip
from evalkit.scoring.units import conversion, unit_at
from evalkit.types import Flag, Language, Outcome, Sample

_ASKS_PERCENT = re.compile(r"percent|百分|what %|how many %|几%|多少%", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9零〇一二两三四五六七八九十百千万亿]")
_IS_NOW = re.compile(
    r"\b(?:it|this|that|answer|result|total)(?:'s| is| should be)|应该?是|应为|答案?[是为：:]"
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The number that an answer comes to.

    Attributes:
        number: Exact.
        unit: The known unit behind it, if one is written.
        source: Where it was read.
        last: What the second extractor reads.
        smaller: The number in the unit of its last part, where it has several (2 h 30 min).
    """

    number: Number
    unit: str | None
    source: str
    last: Number
    smaller: Fraction | None = None

    @property
    def disputed(self) -> bool:
        """Whether the two extractors read different numbers."""
        return self.number.value != self.last.value


@dataclass(frozen=True, slots=True)
class MathScorer:
    """Compares the final number or expression of an answer with the target, exactly."""

    name: str = "math"
    version: int = 4

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer; it is unscored when there is nothing in it and it does not decline."""
        if "expression" in sample.target:
            judgement = judge_expression(sample.target["expression"], text)
        else:
            judgement = _judge_number(sample, text)
        if judgement.outcome is None and _declines(sample, text):
            return Judgement(Outcome.ABSTAINED, 0.0, None, "declines to answer")
        return judgement


def _judge_number(sample: Sample, text: str) -> Judgement:
    extracted = extract_answer(text, sample.language)
    if extracted is None:
        return Judgement.unscored("extraction", "no number in the answer")
    written = sample.target["value"].strip()
    expected = parse_number(written.removesuffix("%"))
    percent = sample.target.get("percent", True if written.endswith("%") else None)
    unit = sample.target.get("unit")
    question = sample.messages[-1].content
    right = not _restates(extracted, expected, question) and (
        _equal(extracted, expected, unit, percent=bool(percent))
        or (percent is None and _is_percentage(extracted, expected, question))
    )
    wanted = f"{written}{f' {unit}' if unit else ''}"
    return Judgement(
        outcome=Outcome.CORRECT if right else Outcome.INCORRECT,
        value=float(right),
        answer=extracted.number.text
        if extracted.unit is None
        else f"{extracted.number.text} {extracted.unit}",
        explanation=f"read from {extracted.source}; {'equals' if right else 'expected'} {wanted}",
        flags=(Flag.EXTRACTORS_DISAGREE,) if extracted.disputed else (),
    )


def _declines(sample: Sample, text: str) -> bool:
    return read_stance(clip(text), sample.messages[-1].content, sample.language).abstains


def extract_answer(text: str, language: Language) -> Extracted | None:
    """Return the final number of an answer, or `None` when there is no number in it."""
    folded = fold_numbers(clip(text))
    numbers = _numbers(folded, language)
    if not numbers:
        return None
    second = quantity_of(folded, numbers, numbers[-1])
    said = last_word(folded, _DIGIT)
    for source, segment in stated_answers(said):
        found = _first_or_result(segment, language)
        if found is not None:
            return _extracted(found, source, second)
    if said is not folded and (found := _corrected(said, language)) is not None:
        return _extracted(found, "the correction", second)
    return _extracted(second, "the last number", second)


def _extracted(found: Quantity, source: str, second: Quantity) -> Extracted:
    return Extracted(found.number, found.unit, source, second.number, found.smaller)


def _first_or_result(segment: str, language: Language) -> Quantity | None:
    numbers = _numbers(segment, language)
    if not numbers:
        return None
    equals = segment.rfind("=")
    chosen = next((number for number in numbers if number.start > equals), numbers[0])
    return quantity_of(segment, numbers, chosen)


def _corrected(said: str, language: Language) -> Quantity | None:
    """Return what a correction puts in the place of what was stated: what "it is", or the last."""
    numbers = _numbers(said, language)
    if not numbers:
        return None
    verb = _IS_NOW.search(said)
    named = [number for number in numbers if verb is not None and number.start >= verb.end()]
    return quantity_of(said, numbers, named[0] if named else numbers[-1])


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
        return expected in (value, extracted.smaller)
    factor = conversion(extracted.unit, unit)
    return factor is not None and value * factor == expected


def _is_percentage(extracted: Extracted, expected: Fraction, question: str) -> bool:
    """Say whether `50%` answers a question for a percentage whose target is a bare 50."""
    return (
        extracted.number.percent
        and extracted.number.value == expected
        and _ASKS_PERCENT.search(question) is not None
    )


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
