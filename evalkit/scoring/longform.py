"""Long texts that must keep to a sheet of facts, and answers drawn from long inputs.

Target of a text (`kind: sheet`, or no kind in the written-down taskset):

- `facts`: each with `name` and `values` (any of them shows that the fact was kept), and
  optionally what contradicts it: `number` or, for a name, `others` (names the prompt has for
  other things) with cues `before` or `after` (another number before "rooms", after "built
  in"; another name after "founded by"), `is: person` (then also an unknown full name there),
  `person` (a given name: another family name behind it), `rivals` (names that would stand in
  its place anywhere), `contradictions` (phrases). A fact with `asked: false` need not be
  stated.
- `required`: how many of the facts must be kept.
- `allowed`: numbers beside those in the prompt that may be written (none by default).
- `open`: slots that the writer fills, each with `name`, cues and perhaps `most`: any number up
  to that, but one only.
- `length`: `least` and `most`, in words (characters in Chinese).
- `names`: whether names that the prompt does not hold are inventions.
- `aside`: names of other things; a sentence about one of them says nothing of the facts.

A text contradicts the sheet when a fact is contradicted, or when it holds a number, a date
or (with `names`) a name that neither stands in the prompt nor follows from it; it
contradicts itself when an open slot has two values. Then it is incorrect and a
hallucination. Else it is correct when enough facts are kept and it has half the length, and
abstained when it says too little to be judged.

The value of a text of `kind: sheet` has two halves, so that whatever is correct is worth more
than whatever is not: one half for being correct, and the other by degree. The degree is F1@K
(Wei et al. 2024, "Long-form factuality in large language models"): with S of the K facts that
were asked kept, and N false statements, the harmonic mean of S / (S + N) and S / K; times the
share of the least length that is reached, or of the text that its greatest length (and a
quarter) allows. Without a kind the value is 1 when correct, else 0.

Target of answers (`kind: answers`): `questions`, each with `values`, and `number` or
`rivals`, or `unknown: true` where the input does not say. An answer that asserts something
false makes the reply incorrect and a hallucination, one that is missing or declines makes it
abstained. The value is one half when all are right, and half the share of right ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from evalkit.scoring.base import SCORERS, Judgement
from evalkit.scoring.longform_answers import read_answers
from evalkit.scoring.longform_claims import contradictions, kept, stated_numbers
from evalkit.scoring.longform_inventions import (
    Known,
    invented_days,
    invented_numbers,
)
from evalkit.scoring.longform_names import invented_names, mixed_names
from evalkit.scoring.longform_text import HEDGE, Body, Finding, describe, measure, part_of
from evalkit.scoring.numbers import Number, parse_number
from evalkit.types import Flag, Outcome, Sample

_TOO_LONG = 1.25
_HALF = 0.5
_AGE_OF_A_THING = re.compile(
    r"[ -]years?[ -]old (?:[a-z]+ )?(?:building|house|home|institution|museum|hotel|library|theater"
    r"|theatre|school|orchard|bakery|observatory|tree|tradition|walls?|landmark|place|story|history)"
)


@dataclass(frozen=True, slots=True)
class LongformScorer:
    """Checks a text against its sheet and itself: facts kept, contradicted, invented."""

    name: str = "longform"
    version: int = 5

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Score one reply; the head of this module says how."""
        prompt = "\n".join(message.content for message in sample.messages)
        body = Body.read(text, sample.language)
        if sample.target.get("kind") == "answers":
            return _answers(sample, body, prompt)
        return _text(sample, body, prompt)


def _text(sample: Sample, body: Body, prompt: str) -> Judgement:
    target = sample.target
    asked = [fact for fact in target["facts"] if fact.get("asked", True)]
    dropped = [fact["name"] for fact in asked if not kept(fact, body)]
    stated = len(asked) - len(dropped)
    findings = _findings(sample, body, prompt)
    covered = f"{stated} of {len(asked)} facts kept"
    if dropped:
        covered += f" (dropped: {', '.join(dropped)})"
    share, short, size = _length(target, body)
    degree = _f1(stated, len(asked), len(findings)) * share
    graded = target.get("kind") == "sheet"
    if findings:
        where = Counter(part_of(finding.at, len(body.text)) for finding in findings)
        counted = f" [early {where['early']}, middle {where['middle']}, late {where['late']}]"
        explanation = f"{describe(findings, len(body.text))}{counted}; {covered}{size}"
        value = degree / 2 if graded else 0.0
        return Judgement(Outcome.INCORRECT, value, None, explanation, (Flag.HALLUCINATED,))
    needed = target["required"]
    if stated < needed or short:
        little = f"{covered}, {needed} needed{size}"
        return Judgement(Outcome.ABSTAINED, degree / 2 if graded else 0.0, None, little)
    right = (1 + degree) / 2 if graded else 1.0
    return Judgement(Outcome.CORRECT, right, None, f"{covered}, none contradicted{size}")


def _f1(stated: int, asked: int, false: int) -> float:
    return 2 * stated / (stated + false + asked) if asked else float(not false)


def _length(target: Mapping[str, Any], body: Body) -> tuple[float, bool, str]:
    """Return the share of the length that was asked, whether it is far too short, and words."""
    if "length" not in target:
        return 1.0, False, ""
    least, most = target["length"]["least"], target["length"]["most"] * _TOO_LONG
    long = measure(body.text, body.language)
    share = min(1.0, long / least, most / long if long else 1.0)
    unit = "characters" if body.language == "zh" else "words"
    return share, long < _HALF * least, f"; {long} {unit}, {least} asked"


def _findings(sample: Sample, body: Body, prompt: str) -> list[Finding]:
    """Return each contradiction and invention in the order of the text, without repeats."""
    target = sample.target
    lowered = prompt.lower()
    aside = target.get("aside", ())
    found = [
        finding
        for fact in target["facts"]
        for finding in contradictions(fact, body, lowered, aside)
    ]
    # What is said of a fact is not told again as an invention.
    seen = {finding.at for finding in found}
    slots = list(_open_slots(target, body))
    known = Known.read(
        prompt,
        [
            *map(parse_number, target.get("allowed", ())),
            *(value for _, values in slots for value in values),
        ],
        sample.language,
        list(target.get("length", {}).values()),
    )
    found += [one for slot, values in slots for one in _against_itself(slot, values)]
    invented = [*invented_numbers(body, known), *invented_days(body, known)]
    if target.get("names"):
        people = [
            name
            for fact in target["facts"]
            if fact.get("is") == "person"
            for name in (fact["values"][0], *fact.get("others", ()))
        ]
        invented += [*invented_names(body, prompt), *mixed_names(body, people)]
    found += [finding for finding in invented if finding.at not in seen]
    ordered = sorted(found, key=lambda finding: finding.at)
    return list({finding.what: finding for finding in reversed(ordered)}.values())[::-1]


def _open_slots(
    target: Mapping[str, Any], body: Body
) -> Iterator[tuple[Mapping[str, Any], dict[Any, Finding]]]:
    """Yield each slot with the numbers it was given, each where it first stands."""
    for slot in target.get("open", ()):
        values: dict[Any, Finding] = {}
        most = slot.get("most", inf)
        for number in stated_numbers(slot, body):
            if number.value > most or _is_of_a_thing(number, body):
                continue
            written = number.text.strip()
            values.setdefault(number.value, Finding(written, body.place(number.start, written)))
        yield slot, values


def _is_of_a_thing(number: Number, body: Body) -> bool:
    """Say whether an age is that of a house: by its noun, or since it is rounded."""
    lead = body.folded[max(0, number.start - 20) : number.start]
    return bool(_AGE_OF_A_THING.match(body.folded, number.end) or HEDGE.search(lead))


def _against_itself(slot: Mapping[str, Any], values: Mapping[Any, Finding]) -> Iterator[Finding]:
    first, *others = values.values() or [None]
    for other in others:
        if first is not None and other is not None:
            what = f"{slot['name']} contradicts itself: {first.what}, then {other.what}"
            yield Finding(what, other.at)


def _answers(sample: Sample, body: Body, prompt: str) -> Judgement:
    answered = read_answers(sample.target["questions"], body, prompt[-2000:])
    findings = [one.finding for one in answered if one.finding is not None]
    right = sum(one.reading == "right" for one in answered)
    half = right / len(answered) / 2
    told = f"{right} of {len(answered)} answers right"
    missing = [str(i) for i, one in enumerate(answered, 1) if one.reading == "missing"]
    if missing:
        told += f" (not answered: {', '.join(missing)})"
    answer = " | ".join(one.said for one in answered)
    if findings:
        explanation = f"{describe(findings, len(body.text))}; {told}"
        return Judgement(Outcome.INCORRECT, half, answer, explanation, (Flag.HALLUCINATED,))
    if missing:
        return Judgement(Outcome.ABSTAINED, half, answer, told)
    return Judgement(Outcome.CORRECT, 0.5 + half, answer, told)


SCORERS.register("longform")(LongformScorer())
