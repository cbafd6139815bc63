"""Documents of any length about many places, to recall from and to summarize."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.tasksets.generators.base import Draft, Level
from evalkit.tasksets.generators.longform.subject import Subject, keys, subject
from evalkit.tasksets.generators.longform.words import words
from evalkit.types import Language

# Characters a token, as tokenizers have them for prose so full of names and numbers.
_CHARS: Mapping[Language, float] = {"en": 3.9, "zh": 1.25}
# Of a context, as in RULER (Hsieh et al. 2024), a part is kept for question and answer.
_SHARE = 0.82
# About half a paragraph: the last one goes beyond what is wanted.
_LAST = 300
_RIVALS = 12
_THIRDS = ("early", "middle", "late")


@dataclass(frozen=True, slots=True)
class Document:
    """A text about places, in their order."""

    text: str
    places: tuple[Subject, ...]


def document(rng: random.Random, language: Language, context: int) -> Document:
    """Write a document that fits a context of so many tokens together with its answer.

    Every place has one paragraph, and no name stands for two.
    """
    wanted = int(context * _SHARE * _CHARS[language]) - _LAST
    places: list[Subject] = []
    paragraphs: list[str] = []
    taken: set[str] = set()
    size = 0
    every = keys(language)
    while size < wanted or len(places) < 3:
        place = subject(rng, language, rng.sample(every, rng.randint(7, 10)))
        if place.bare in taken:
            continue
        taken.add(place.bare)
        places.append(place)
        paragraphs.append(paragraph(rng, place, fillers=rng.randint(2, 5)))
        size += len(paragraphs[-1]) + 2
    return Document("\n\n".join(paragraphs), tuple(places))


def paragraph(rng: random.Random, place: Subject, *, fillers: int) -> str:
    """Write all facts of a place in a new order, with sentences between that claim nothing."""
    table = words(place.language)
    told = list(place.facts)
    rng.shuffle(told)
    said = [place.say(key, rng) for key in told]
    for filler in rng.sample(table["fillers"], fillers):
        line = f"{rng.choice(table['openings'])}{filler}"
        stop = "." if place.language == "en" else "。"
        said.insert(rng.randint(1, len(said)), f"{line[0].upper()}{line[1:]}{stop}")
    intro = rng.choice(table["intros"]).format(name=place.name)
    return (" " if place.language == "en" else "").join([intro, *said])


def recall(
    rng: random.Random, language: Language, context: int, shared: Document | None = None
) -> Draft:
    """Ask questions on a document, a new one unless one is given."""
    made = shared or document(rng, language, context)
    level: Level = rng.choices(("easy", "medium", "hard"), (4, 4, 2))[0]
    n = {"easy": 1, "medium": 3, "hard": 5}[level]
    thirds = [rng.randrange(3)] if n == 1 else [(at + rng.randrange(3)) % 3 for at in range(n)]
    asked: list[tuple[str, dict[str, Any]]] = []
    taken: set[tuple[str, str]] = set()
    while len(asked) < n:
        place = _from_third(rng, made.places, thirds[len(asked)])
        unknown = rng.random() < 0.15
        key = rng.choice([key for key in keys(language) if (key not in place.facts) == unknown])
        if (place.bare, key) not in taken:
            taken.add((place.bare, key))
            asked.append((place.ask(key), question(place, key, made.places)))
    texts = words(language)["texts"]
    lines = [text if n == 1 else f"{at}. {text}" for at, (text, _) in enumerate(asked, 1)]
    rule = texts["one" if n == 1 else "many"]
    return Draft.ask(
        f"{texts['head']}\n\n{made.text}\n\n{rule}\n" + "\n".join(lines),
        category="recall",
        target={"kind": "answers", "questions": [target for _, target in asked]},
        level=level,
        cluster=_cluster(shared),
        context=context,
        depth=_THIRDS[thirds[0]] if n == 1 else "all",
        questions=n,
    )


def question(place: Subject, key: str, places: Sequence[Subject]) -> dict[str, Any]:
    """Return the target of a question on a place, among the places of its document."""
    if key not in place.facts:
        return {"name": place.told(key), "values": [], "unknown": True}
    fact = place.fact(key, places)
    target: dict[str, Any] = {"name": place.told(key), "values": fact["values"]}
    if "number" in fact:
        return {**target, "number": fact["number"]}
    others = [one.facts[key] for one in places if key in one.facts]
    rivals = [*fact.get("others", ())[:_RIVALS], *others[:_RIVALS]]
    mine = set(target["values"])
    target["rivals"] = [
        one for one in dict.fromkeys(rivals) if not any(one in way or way in one for way in mine)
    ]
    return target


def _from_third(rng: random.Random, places: Sequence[Subject], third: int) -> Subject:
    start, stop = len(places) * third // 3, len(places) * (third + 1) // 3
    return places[rng.randrange(start, max(stop, start + 1))]


def _cluster(shared: Document | None) -> str | None:
    """Name a document that several prompts share."""
    if shared is None:
        return None
    return f"document-{shared.places[0].bare}-{shared.places[-1].bare}-{len(shared.text)}"


def summarize(
    rng: random.Random, language: Language, context: int, shared: Document | None = None
) -> Draft:
    """Ask for a summary of what a document says of one place, with some facts by name."""
    made = shared or document(rng, language, context)
    third = rng.randrange(3)
    place = _from_third(rng, made.places, third)
    level: Level = rng.choices(("easy", "medium", "hard"), (4, 4, 2))[0]
    n = {"easy": 3, "medium": 5, "hard": 7}[level]
    drawn = set(rng.sample(list(place.facts), n))
    asked = [key for key in keys(language) if key in drawn]
    least, most = {"easy": (30, 80), "medium": (50, 120), "hard": (80, 160)}[level]
    texts = words(language)["texts"]
    others = [one for one in made.places if one is not place]
    request = texts["summary"].format(
        least=least, most=most, name=place.name, told=listed(place, asked)
    )
    facts = [place.fact(key, others[:6]) | {"asked": key in asked} for key in place.facts]
    return Draft.ask(
        f"{texts['head']}\n\n{made.text}\n\n{request}",
        category="summarize",
        target={
            "kind": "sheet",
            "facts": facts,
            "required": n - (n > 3),
            "length": {"least": least, "most": most},
            "names": True,
            "aside": [one.bare for one in others],
        },
        level=level,
        cluster=_cluster(shared),
        context=context,
        depth=_THIRDS[third],
    )


def listed(place: Subject, asked: Sequence[str]) -> str:
    """Return facts by what they are called, as a list in a sentence."""
    told = [place.told(key) for key in asked]
    if place.language == "zh":
        return "、".join(told)
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"
