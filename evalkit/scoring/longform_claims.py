"""What a text says of the facts of its sheet, and where it says something else.

A fact is found by its *cues*: words that stand right before its value (`after`: "founded by")
or right behind it (`before`: "rooms"). Another number or name in that place contradicts the
fact, also one that the sheet has for another fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from evalkit.scoring.longform_cues import (
    LEAD,
    MAX_MENTIONS,
    NEGATION,
    REST,
    Fact,
    any_of,
    cue_patterns,
)
from evalkit.scoring.longform_people import wrong_names, wrong_people
from evalkit.scoring.longform_text import HEDGE, Body, Finding
from evalkit.scoring.numbers import Number, parse_number

_SMALL = 10
_LARGE = 100
_SOME = ("多", "余", "来")
# A part of the whole, or a further one, is another number than the whole.
_PARTIAL = re.compile(
    r"(?:\b(?:of|other|another|first|last|only|every|each|remaining|further|extra|additional|more"
    r"|next|least|than|up to|these|those|between|additional|plus|including|include|or|to"
    r"|room|number|no\.?|page|chapter)|另外?|其中|其余|前|后|首|第|再|多|每|这|那|余下|的)\s?$"
)
_TOTAL = re.compile(
    r"(?:\b(?:has|have|had|with|contains?|houses?|boasts?|comprises?|offers?|counts?|all|its"
    r"|total of|there are|there were|holds?|keeps?|employs?|costs?|of just|just)"
    r"|有|共|拥有|设有|总共|达)\s?$"
)
_YEAR_LEAD = re.compile(r"\b(?:in|since|from|of|until|by|to) $")


def kept(fact: Fact, body: Body) -> bool:
    """Say whether a text states a fact: one of its ways to write it, or its number."""
    if any(next(body.phrase(value), None) for value in fact["values"]):
        return True
    if "number" not in fact:
        return False
    wanted = parse_number(fact["number"])
    return any(
        not number.marker and (number.value == wanted or _rounded(number, wanted, body))
        for number in body.numbers
    )


def _rounded(number: Number, wanted: Fraction, body: Body) -> bool:
    """Say whether a number is the wanted one, rounded, and says so ("about 80,000")."""
    if wanted < _LARGE or abs(number.value - wanted) > wanted / 20:
        return False
    return HEDGE.search(body.folded[max(0, number.start - 20) : number.start]) is not None


def _more(number: Number, wanted: Fraction, body: Body) -> bool:
    """Say whether the wanted number is the written one and some (三十多, 一百余)."""
    if body.folded[number.end : number.end + 1] not in _SOME or number.value.denominator != 1:
        return False
    written = str(int(number.value))
    step = 10 ** (len(written) - len(written.rstrip("0")))
    return bool(number.value < wanted < number.value + step)


def contradictions(fact: Fact, body: Body, known: str, aside: Sequence[str]) -> Iterator[Finding]:
    """Yield where a text contradicts one fact.

    Args:
        fact: As the head of `longform` says.
        body: The text.
        known: The prompt, in lower case.
        aside: Names of other things; a sentence that names one of them is not judged.
    """
    if "number" in fact:
        found = _wrong_numbers(fact, body)
    elif "before" in fact or "after" in fact:
        found = wrong_names(fact, body)
    else:
        found = iter(())
    for finding in (*found, *wrong_people(fact, body, known), *_rivals(fact, body, known)):
        if not _is_aside(body, finding.at, aside):
            yield finding


def stated_numbers(fact: Fact, body: Body) -> list[Number]:
    """Return the numbers that stand at a fact's cues, right or wrong."""
    return [
        number
        for number in _mentioned(body.numbers)
        if not number.marker and not number.ordinal and _at_cue(fact, body, number)
    ]


def _mentioned(numbers: Sequence[Number]) -> Sequence[Number]:
    if len(numbers) <= MAX_MENTIONS:
        return numbers
    half = MAX_MENTIONS // 2
    return [*numbers[:half], *numbers[-half:]]


def _is_aside(body: Body, at: int, aside: Sequence[str]) -> bool:
    if not aside:
        return False
    sentence = body.sentence(at)
    said = body.text[sentence.start : sentence.end]
    return any(name in said for name in aside)


def _wrong_numbers(fact: Fact, body: Body) -> Iterator[Finding]:
    wanted = parse_number(fact["number"])
    right: Number | None = None
    wrong: list[tuple[Number, str]] = []
    for number in stated_numbers(fact, body):
        if number.value == wanted or _rounded(number, wanted, body) or _more(number, wanted, body):
            right = right or number
        elif (said := _claimed(number, wanted, body, fact)) is not None:
            wrong.append((number, said))
    for number, said in wrong:
        itself = "" if right is None else f", and {right.text.strip()} elsewhere"
        yield Finding(
            f"{fact['name']} contradicted: {said}{itself}", body.place(number.start, number.text)
        )


def _claimed(number: Number, wanted: Fraction, body: Body, fact: Fact) -> str | None:
    """Return the words of a number that stands for the whole, or `None` for a part of it."""
    cue = _cue(fact, body, number)
    lead = body.folded[max(0, number.start - LEAD) : number.start].casefold()
    if cue is None or NEGATION.search(lead) or number.text.casefold() in {"one", "一"}:
        return None
    if cue[0] and _PARTIAL.search(lead):
        return None
    in_words = not any(character.isdigit() for character in number.text)
    if in_words and number.value <= _SMALL < wanted and not _TOTAL.search(lead):
        return None
    before, words = cue
    return f"{number.text.strip()} {words}" if before else f"{words} {number.text.strip()}"


def _at_cue(fact: Fact, body: Body, number: Number) -> bool:
    return _cue(fact, body, number) is not None


def _cue(fact: Fact, body: Body, number: Number) -> tuple[bool, str] | None:
    """Return the cue that a number stands at, and whether the number stands before it."""
    behind, ahead = cue_patterns(tuple(fact.get("before", ())), tuple(fact.get("after", ())), False)
    if behind is not None and not _is_year(number, body):
        match = behind.match(body.folded[number.end : number.end + REST].casefold())
        if match is not None:
            return True, match["cue"]
    if ahead is not None:
        lead = body.folded[max(0, number.start - LEAD) : number.start].casefold()
        match = ahead.search(lead)
        if match is not None and not NEGATION.search(lead[: match.start()]):
            return False, match["cue"]
    if "verbs" in fact and (match := _deed(fact, body, number)) is not None:
        return True, match["cue"]
    return None


def _deed(fact: Fact, body: Body, number: Number) -> re.Match[str] | None:
    """Match what was done in a year that stands first ("In 1890, Rosa Falk founded ...")."""
    if not 1000 <= number.value <= 2100:
        return None
    return _deeds(tuple(fact["verbs"])).match(
        body.folded[number.end : number.end + REST].casefold()
    )


@lru_cache(maxsize=64)
def _deeds(verbs: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"(?:,? (?:(?!(?:and|but|while|when|which|that|was|were|is)\b)[a-z'-]+ ){{0,5}}?"
        rf"(?:was |were )?"
        rf"|年[，,]?[^，。；、0-9]{{0,12}}?)(?P<cue>{any_of(verbs)})(?![a-z]| in [0-9]|于)"
    )


def _is_year(number: Number, body: Body) -> bool:
    """Say whether a number is a year because of what stands before it ("in 1975 visitors")."""
    return 1000 <= number.value <= 2100 and bool(
        _YEAR_LEAD.search(body.folded[max(0, number.start - 8) : number.start].casefold())
    )


def _rivals(fact: Fact, body: Body, known: str) -> Iterator[Finding]:
    """Yield names and phrases that contradict wherever they stand, once each."""
    for phrase in (*fact.get("rivals", ()), *fact.get("contradictions", ())):
        if _stands(phrase.lower(), known):
            continue
        for span in body.phrase(phrase):
            if not NEGATION.search(body.plain[max(0, span.start - 20) : span.start]):
                yield Finding(f"{fact['name']} contradicted: {phrase}", span.start)
                break


def _stands(phrase: str, known: str) -> bool:
    if not phrase.isascii():
        return phrase in known
    return re.search(rf"(?<![a-z0-9_]){re.escape(phrase)}(?![a-z0-9_])", known) is not None
