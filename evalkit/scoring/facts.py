"""Short answers about facts: correct, incorrect (a hallucination) or abstained.

Three kinds of target:

- `{"kind": "answer", "aliases": [...], "rivals": [...]}`: the first sentence that asserts
  an alias or a rival decides. A mention that is negated ("not Paris", 不是巴黎) asserts
  nothing. When one sentence asserts both, a rival in the answer's place ("the capital is
  Sydney, near Canberra") or an alternative ("Canberra or Sydney") makes it incorrect: the
  answer has not committed itself; else the rival was mentioned in passing.
- `{"kind": "number", "value": "8", "tolerance": "0"}`: the first number that the question
  (its last line, where a passage stands before it) does not hold decides; with
  `"place": "last"` the last one does, for what is reckoned out loud.
- `{"kind": "unanswerable", "corrections": [...]}`: an invented thing, a false premise, or a
  passage that does not say. Declining, denying existence or one of the corrections is
  correct; everything else asserts something false.

For the first two, an answer that says "I don't know" and asserts nothing is abstained (see
`abstention`); one that denies what there is to answer is incorrect. An answer that hedges
and asserts all the same is judged by what it asserts. An answer that only repeats the
question asserts nothing: abstained, in all three kinds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.scoring.abstention import Stance, read_stance
from evalkit.scoring.aliases import Alias, alias, negated
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import Number, find_numbers, parse_number
from evalkit.scoring.premises import corrects, denies_premise
from evalkit.scoring.text import Span, clip, normalise
from evalkit.types import Flag, Language, Outcome, Sample

_ANSWER_PLACE = re.compile(
    r"(?:\b(?:is|was|are|were|be|by|called|named)(?: (?:also|actually|really))?(?: (?:the|an?))? ?"
    r"|[:：=]|是|为|叫)[\"'“‘《「]?$"
)
_ALTERNATIVE = re.compile(r"[\"'”’》」]? ?(?:/|,? ?\bor\b|或者?|还是) ?(?:the )?[\"'“‘《「]?$")
_WINDOW = 40
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
# What only explains a number: "(7 x 24)", "since a day has 24 hours", "born 1876".
_ASIDE = re.compile(
    r"\([^()\n]{1,80}\)|（[^（）\n]{1,80}）"
    r"|\b(?:since|because|given that|seeing that|considering that)\b[^,.;\n]{1,120}"
    r"|(?:因为|由于|鉴于)[^，。；,;\n]{1,80}"
    r"|\b(?:divisible|divided|multiplied) by \d{1,9}"
    r"|被\s?\d{1,9}\s?整除|除以\s?\d{1,9}"
    r"|\b(?:born|died)(?: in)? \d{3,4}",
    re.IGNORECASE,
)
# "Many say that it is Sydney, but it is Canberra": what others say, and what the answer says.
_HEARSAY = re.compile(
    r"^.{0,40}?\b(?:everyone|everybody|people|many|some|most|they|commonly|often|popularly)\b.{0,40}?"
    r"\b(?:says?|said|thinks?|thought|believes?|believed|assumes?|assumed)\b.{0,80}?"
    r"(?:\bbut\b|\byet\b|\bhowever\b|\bactually\b|\bin fact\b)"
    r"|^.{0,20}?(?:有人|[很许]多人|不少人|人们|大家).{0,10}?(?:说|认为|以为|觉得).{0,40}?(?:其实|实际上|但)"
)
_DAY_AND_MONTH = re.compile(r"\b\d{1,2}[/.-]\d{1,2}[/.-](?=\d{4}\b)")
_DECADE = re.compile(r"'?s\b|年代|世纪")
_ASKS_YEAR = re.compile(r"\byear\b|\bwhen\b|哪一?年|何年|何时|什么时候", re.IGNORECASE)
_SENTENCE_WITHIN = re.compile(r"[.!?]\s|[。！？]\S")
_PUNCTUATION = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class FactsScorer:
    """Scores closed-book and grounded short answers in three outcomes."""

    name: str = "facts"
    version: int = 5

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one answer."""
        question = sample.messages[-1].content
        if _repeats(text, question):
            return _judgement(Outcome.ABSTAINED, None, "only repeats the question")
        stance = read_stance(clip(text), question, sample.language)
        kind = sample.target["kind"]
        if kind == "unanswerable":
            return _judge_unanswerable(sample, text, stance)
        if stance.abstains:
            return _judgement(Outcome.ABSTAINED, None, "declines to answer")
        if kind == "number":
            return _judge_number(sample, question, stance)
        return _judge_answer(sample.target, stance)


def _judge_unanswerable(sample: Sample, text: str, stance: Stance) -> Judgement:
    answer = " ".join(stance.rest)[:200] or None
    question = sample.messages[-1].content
    if corrects(text, sample.target.get("corrections", ()), question):
        return _judgement(Outcome.CORRECT, answer, "corrects the false premise")
    if denies_premise(text, question):
        return _judgement(Outcome.CORRECT, answer, "denies what the question takes for granted")
    if stance.asserts or not (stance.declines or stance.denies):
        return _judgement(Outcome.INCORRECT, answer, "asserts an answer where there is none")
    said = "denies that it exists" if stance.denies else "declines to answer"
    return _judgement(Outcome.CORRECT, None, f"{said}, and there is no answer")


def _judge_number(sample: Sample, question: str, stance: Stance) -> Judgement:
    wanted = parse_number(sample.target["value"])
    tolerance = parse_number(sample.target.get("tolerance", "0"))
    said = [_without_asides(part) for part in stance.rest]
    asserted = list(_new_numbers(said, question, sample.language)) or list(
        _new_numbers(stance.rest, question, sample.language)
    )
    if not asserted:
        return _nothing_asserted(stance, f"{wanted}")
    if _ASKS_YEAR.search(_last_line(question)) and _FIRST_YEAR <= wanted <= _LAST_YEAR:
        # "On July 20, 1969", and not "in the 1960s".
        years = [number for number in asserted if _FIRST_YEAR <= number.value <= _LAST_YEAR]
        asserted = years or asserted
    given = asserted[-1 if sample.target.get("place") == "last" else 0]
    if abs(given.value - wanted) <= tolerance:
        return _judgement(Outcome.CORRECT, given.text, f"{given.text} is right")
    return _judgement(Outcome.INCORRECT, given.text, f"{given.text} instead of {wanted}")


def _without_asides(part: str) -> str:
    """Return a sentence without what only explains its number, or stands before a year."""
    return _DAY_AND_MONTH.sub(" ", _ASIDE.sub(" ", part))


def _new_numbers(parts: Iterable[str], question: str, language: Language) -> Iterator[Number]:
    """Yield the numbers that are asserted and that the question does not hold."""
    known = {number.value for number in _all_numbers(_last_line(question), language)}
    for part in parts:
        folded = fold_numbers(part).casefold()
        for number in _all_numbers(part, language):
            if number.value in known or number.marker or number.ordinal:
                continue
            if _DECADE.match(folded, number.end):
                continue
            if not negated(folded, Span(number.start, number.end)):
                yield number


def _all_numbers(text: str, language: Language) -> list[Number]:
    folded = fold_numbers(text)
    return sorted(
        find_numbers(folded) + find_number_words(folded, language), key=lambda number: number.start
    )


def _judge_answer(target: Any, stance: Stance) -> Judgement:
    aliases = [alias(name) for name in target["aliases"]]
    rivals = [alias(name) for name in target.get("rivals", ())]
    # "The Severn? No, the Thames.": a question asserts less than what answers it.
    for part in sorted(stance.rest, key=lambda said: said.rstrip("\"'”’ ").endswith(("?", "？"))):
        sentence = _HEARSAY.sub(" ", normalise(part))
        right, wrong = _longest(_asserted(sentence, aliases), _asserted(sentence, rivals))
        if right and not wrong:
            named = sentence[right[0].start : right[0].end]
            return _judgement(Outcome.CORRECT, named, f"names {named}")
        if wrong:
            return _judge_named(sentence, right, wrong, target["aliases"][0])
    # A quotation is an answer of several sentences.
    several = [alias(name) for name in target["aliases"] if _SENTENCE_WITHIN.search(name)]
    if _asserted(normalise(" ".join(stance.rest)), several):
        return _judgement(Outcome.CORRECT, target["aliases"][0], "names it word for word")
    return _nothing_asserted(stance, target["aliases"][0])


def _longest(right: list[Span], wrong: list[Span]) -> tuple[list[Span], list[Span]]:
    """Keep of overlapping mentions the longest, and of equal ones the right one."""

    def within(span: Span, others: Sequence[Span], *, equal: bool) -> bool:
        length = span.end - span.start
        return any(
            other.start < span.end
            and span.start < other.end
            and (other.end - other.start > length or (equal and other.end - other.start == length))
            for other in others
        )

    return (
        [span for span in right if not within(span, wrong, equal=False)],
        [span for span in wrong if not within(span, right, equal=True)],
    )


def _judge_named(
    sentence: str, right: Sequence[Span], wrong: Sequence[Span], wanted: str
) -> Judgement:
    named = sentence[wrong[0].start : wrong[0].end]
    if not right:
        return _judgement(Outcome.INCORRECT, named, f"names {named} instead of {wanted}")
    placed = any(_in_answer_place(sentence, span) for span in wrong) and not any(
        _in_answer_place(sentence, span) for span in right
    )
    if placed or _alternatives(sentence, right, wrong):
        return _judgement(Outcome.INCORRECT, named, f"names {named} as well as {wanted}")
    return _judgement(Outcome.CORRECT, wanted, f"names {wanted}, and {named} only in passing")


def _nothing_asserted(stance: Stance, wanted: str) -> Judgement:
    answer = " ".join(stance.rest)[:200] or None
    if stance.denies and not stance.asserts:
        return _judgement(Outcome.INCORRECT, None, f"denies that there is an answer: {wanted}")
    return _judgement(Outcome.INCORRECT, answer, f"does not name {wanted}")


def _asserted(sentence: str, names: Iterable[Alias]) -> list[Span]:
    """Return the mentions of the names that are not negated, in their order."""
    spans = {span for name in names for span in name.mentions(sentence)}
    kept = (span for span in spans if not negated(sentence, span))
    return sorted(kept, key=lambda span: (span.start, -span.end))


def _in_answer_place(sentence: str, span: Span) -> bool:
    return bool(_ANSWER_PLACE.search(sentence[max(0, span.start - _WINDOW) : span.start]))


def _alternatives(sentence: str, right: Sequence[Span], wrong: Sequence[Span]) -> bool:
    """Say whether a right and a wrong mention stand side by side, joined by "or"."""
    ends = {span.end for span in (*right, *wrong)}
    for span in (*right, *wrong):
        before = sentence[max(0, span.start - 16) : span.start]
        match = _ALTERNATIVE.search(before)
        if match is not None and span.start - len(before) + match.start() in ends:
            return True
    return False


def _last_line(question: str) -> str:
    """Return the question itself: a passage to answer from stands in the lines before it."""
    return question.rstrip().rsplit("\n", 1)[-1]


def _repeats(text: str, question: str) -> bool:
    """Say whether an answer is the question again, or most of it."""
    bare = _PUNCTUATION.sub("", normalise(text))
    asked = _PUNCTUATION.sub("", normalise(_last_line(question)))
    return bare in asked and len(bare) > 0.7 * len(asked)


def _judgement(outcome: Outcome, answer: str | None, explanation: str) -> Judgement:
    return Judgement(
        outcome=outcome,
        value=float(outcome is Outcome.CORRECT),
        answer=answer,
        explanation=explanation,
        flags=(Flag.HALLUCINATED,) if outcome is Outcome.INCORRECT else (),
    )


SCORERS.register("facts")(FactsScorer())
