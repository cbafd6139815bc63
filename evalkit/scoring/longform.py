"""Short texts that must keep to a sheet of facts.

Target:

- `facts`: each with `name` and `values` (any of them shows that the fact was kept), and
  optionally what contradicts it: `number` with `before` or `after` (another number before
  "rooms", after "built in"), `person` (a given name: another family name behind it),
  `rivals` (names that would stand in its place), `contradictions` (phrases).
- `required`: how many of the facts must be kept.
- `allowed`: numbers beside those in the prompt that may be written (none by default).

A text contradicts the sheet when a fact is contradicted, or when it holds a number, a
weekday or a month that stands nowhere in the prompt. Then it is incorrect and a
hallucination; else it is correct when enough facts are kept, and abstained when it says
too little to be judged. English number words up to ten, ranks ("19th") and numbers of list
items are no claims; in Chinese only digits are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import Number, find_numbers, parse_number
from evalkit.scoring.text import QUOTES, clip, contains_any, find_phrase, normalise
from evalkit.types import Flag, Language, Outcome, Sample

_FULL_HOUR = re.compile(r"(?<=[0-9]):00(?![0-9])")
_SMALL = 10
_ROUND_WORDS = frozenset({"hundred", "thousand", "million"})
_NEGATION = re.compile(
    r"(?:\b(?:not|never|no|without|than)|n't|不|没|没有|并非)(?: be| is| an?)? ?$"
)
_WEEKDAYS_EN = re.compile(r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b")
_WEEKDAYS_ZH = re.compile(r"(?:星期|周|礼拜)([一二三四五六日天])")
_MONTHS_EN = re.compile(
    r"\b(January|February|April|June|July|September|October|November|December)\b"
    r"|\b(?:in|of|since|until|by|early|late|every|this|next|last|[0-9]{1,2}) (March|May|August)\b"
)
_MONTHS_ZH = re.compile(
    r"(?<![0-9个一二三四五六七八九十])([0-9]{1,2}|十[一二]?|[一二三四五六七八九])月(?![亮光饼])"
)
_ARTICLES = frozenset({"one", "一"})
_CUE_CHARS = 40
_MAX_FINDINGS = 5


@dataclass(frozen=True, slots=True)
class LongformScorer:
    """Checks a text against its sheet: facts kept, contradicted, invented."""

    name: str = "longform"
    version: int = 3

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one text; its value is 1 when it is correct, else 0."""
        prompt = "\n".join(message.content for message in sample.messages)
        body = clip(text).translate(QUOTES)
        facts = sample.target["facts"]
        numbers = _numbers(body, sample.language)
        plain = normalise(body)
        dropped = [fact["name"] for fact in facts if not _kept(fact, plain, numbers)]
        kept = len(facts) - len(dropped)
        faults = _faults(sample, prompt, body, numbers)
        covered = f"{kept} of {len(facts)} facts kept"
        if dropped:
            covered += f" (dropped: {', '.join(dropped)})"
        if faults:
            shown = "; ".join(faults[:_MAX_FINDINGS])
            return Judgement(
                Outcome.INCORRECT, 0.0, None, f"{shown}; {covered}", (Flag.HALLUCINATED,)
            )
        if kept < sample.target["required"]:
            needed = sample.target["required"]
            return Judgement(Outcome.ABSTAINED, 0.0, None, f"{covered}, {needed} needed")
        return Judgement(Outcome.CORRECT, 1.0, None, f"{covered}, none contradicted")


def _fold(text: str) -> str:
    return _FULL_HOUR.sub("", fold_numbers(text))


def _numbers(text: str, language: Language) -> list[Number]:
    folded = _fold(text)
    return find_numbers(folded) + find_number_words(folded, language)


def _kept(fact: Mapping[str, Any], plain: str, numbers: list[Number]) -> bool:
    if contains_any(plain, fact["values"]):
        return True
    if "number" not in fact:
        return False
    wanted = parse_number(fact["number"])
    return any(number.value == wanted and not number.marker for number in numbers)


def _faults(sample: Sample, prompt: str, body: str, numbers: list[Number]) -> list[str]:
    """Return one phrase for each contradiction and invention, without repeats."""
    plain, plain_prompt = normalise(body), normalise(prompt)
    folded = _fold(body).casefold()
    found: list[str] = []
    for fact in sample.target["facts"]:
        wrong = [
            *_wrong_numbers(fact, folded, numbers),
            *_wrong_people(fact, body, prompt),
            *_wrong_names(fact, plain, plain_prompt),
        ]
        found.extend(f"{fact['name']} contradicted: {what}" for what in wrong)
    allowed = {number.value for number in _numbers(prompt, sample.language)}
    allowed |= {parse_number(value) for value in sample.target.get("allowed", ())}
    found.extend(
        f"invented number: {number.text}"
        for number in numbers
        if number.value not in allowed and _is_claim(number, sample.language)
    )
    known = set(_calendar(prompt, sample.language))
    found.extend(
        f"invented date: {name}" for name in _calendar(body, sample.language) if name not in known
    )
    return list(dict.fromkeys(found))


def _is_claim(number: Number, language: Language) -> bool:
    if number.marker or number.ordinal:
        return False
    if any(character.isdigit() for character in number.text):
        return True
    return language == "en" and number.value > _SMALL and number.text.lower() not in _ROUND_WORDS


def _wrong_numbers(fact: Mapping[str, Any], folded: str, numbers: list[Number]) -> Iterator[str]:
    """Yield other numbers in the place of this one; "one" and 一 may be articles."""
    if "number" not in fact:
        return
    wanted = parse_number(fact["number"])
    for number in numbers:
        if number.value == wanted or number.marker or number.text.casefold() in _ARTICLES:
            continue
        rest = folded[number.end : number.end + _CUE_CHARS].lstrip(" -")
        lead = folded[max(0, number.start - _CUE_CHARS) : number.start].rstrip()
        for cue in fact.get("before", ()):
            if rest.startswith(cue.casefold()) and _ends_word(rest, len(cue)):
                yield f"{number.text} {cue}"
        for cue in fact.get("after", ()):
            if lead.endswith(cue.casefold()):
                yield f"{cue} {number.text}"


def _ends_word(text: str, at: int) -> bool:
    return at >= len(text) or not (text[at].isascii() and text[at].isalpha())


def _wrong_people(fact: Mapping[str, Any], body: str, prompt: str) -> Iterator[str]:
    """Yield a given name with a family name that is not the sheet's, headings left out."""
    if "person" not in fact:
        return
    full_name = re.compile(rf"\b{re.escape(fact['person'])} ([A-Z][a-z]+)\b")
    known = set(re.findall(r"[A-Za-z]+", prompt))
    for line in body.splitlines():
        if line.rstrip()[-1:] not in {".", "!", "?", '"', ","}:
            continue
        for match in full_name.finditer(line):
            if match[1] not in known:
                yield match.group()


def _wrong_names(fact: Mapping[str, Any], plain: str, plain_prompt: str) -> Iterator[str]:
    for phrase in (*fact.get("rivals", ()), *fact.get("contradictions", ())):
        wanted = normalise(phrase)
        if next(find_phrase(plain_prompt, wanted), None) is not None:
            continue
        for span in find_phrase(plain, wanted):
            if not _NEGATION.search(plain[max(0, span.start - 20) : span.start]):
                yield phrase
                break


def _calendar(text: str, language: Language) -> Iterator[str]:
    """Yield the weekdays and months that a text names, each in one spelling."""
    for match in (*_WEEKDAYS_EN.finditer(text), *_MONTHS_EN.finditer(text)):
        yield next(group for group in match.groups() if group)
    if language == "zh":
        for match in _WEEKDAYS_ZH.finditer(text):
            yield f"星期{match[1].replace('天', '日')}"
        for match in _MONTHS_ZH.finditer(text):
            numeral = match[1]
            words = find_number_words(numeral, "zh")
            yield f"{numeral if numeral.isascii() else words[0].value}月"


SCORERS.register("longform")(LongformScorer())
