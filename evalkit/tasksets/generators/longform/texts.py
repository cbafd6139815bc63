"""Texts to write under a sheet of facts, and documents to go on with."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from evalkit.tasksets.generators.base import Draft, Level
from evalkit.tasksets.generators.longform.documents import listed, paragraph
from evalkit.tasksets.generators.longform.subject import Subject, keys, subject
from evalkit.tasksets.generators.longform.words import words
from evalkit.types import Language

# Facts of the sheet and the length asked for, in words or Chinese characters.
_SIZES: Mapping[Level, tuple[tuple[int, int, int], ...]] = {
    "easy": ((3, 25, 60), (4, 40, 90), (5, 60, 120)),
    "medium": ((7, 300, 450), (8, 300, 500)),
    "hard": ((11, 500, 800), (13, 800, 1200), (15, 1200, 2000)),
}
_KEEP = {"easy": 0.6, "medium": 0.75, "hard": 0.8}
_SLOTS: Mapping[Language, Mapping[str, Any]] = {
    "en": {
        "before": ["years old", "-year-old", "years of age", "year old", "years young"],
        "after": ["at the age of", "aged", "age of", "age is", "age", "watchman", "turned"],
        "most": 99,
    },
    "zh": {"before": ["岁"], "after": ["守夜人今年", "年龄"], "most": 99},
}
# What becomes of places of two kinds: only the fuller of two paragraphs is asked about.
_OTHER_FACTS = 8


def write(rng: random.Random, language: Language) -> Draft:
    """Ask for a text under a sheet of facts."""
    level: Level = rng.choices(("easy", "medium", "hard"), (9, 8, 3))[0]
    n, least, most = rng.choice(_SIZES[level])
    place = subject(rng, language)
    told = set(rng.sample(keys(language), n))
    chosen = [key for key in keys(language) if key in told]
    texts = words(language)["texts"]
    mark = ": " if language == "en" else "："
    sheet = "\n".join(f"- {place.label(key)}{mark}{place.facts[key]}" for key in chosen)
    request = texts["write"].format(
        title=rng.choice(words(language)["titles"]),
        name=place.name,
        least=least,
        most=most,
        sheet=sheet,
    )
    target: dict[str, Any] = {
        "kind": "sheet",
        "facts": [_among(place, key, chosen) for key in chosen],
        "required": _required(n, level),
        "length": {"least": least, "most": most},
        "names": True,
    }
    if level != "easy" and rng.random() < 0.5:
        request += texts["open"]
        target["open"] = [{"name": texts["slot"], **_SLOTS[language]}]
    return Draft.ask(
        request, category="write", target=target, level=level, facts=n, words_asked=least
    )


def _among(place: Subject, key: str, chosen: list[str]) -> dict[str, Any]:
    """Return a fact whose rivals are those of the sheet."""
    fact = place.fact(key)
    if fact.get("is") == "person":
        told = {place.facts[one] for one in chosen}
        fact["others"] = [name for name in fact["others"] if name in told]
    return fact


def continuation(rng: random.Random, language: Language) -> Draft:
    """Give the beginning of a text about one place, or two, and ask for the next part."""
    level: Level = rng.choices(("easy", "medium", "hard"), (9, 8, 3))[0]
    n, fillers, least, most = {
        "easy": (2, 4, 30, 80),
        "medium": (5, 14, 150, 300),
        "hard": (7, 28, 300, 500),
    }[level]
    place = subject(rng, language)
    text, aside = paragraph(rng, place, fillers=fillers), []
    others = []
    if level == "hard":
        other = _other(rng, language, place)
        others, aside = [other], [other.bare]
        text = f"{paragraph(rng, other, fillers=12)}\n\n{text}"
    drawn = set(rng.sample(keys(language), n))
    asked = [key for key in keys(language) if key in drawn]
    texts = words(language)["texts"]
    request = texts["continue"].format(
        text=text,
        least=least,
        most=most,
        next=rng.choice(words(language)["next"]),
        told=listed(place, asked),
    )
    facts = [place.fact(key, others) | {"asked": key in asked} for key in place.facts]
    target = {
        "kind": "sheet",
        "facts": facts,
        "required": _required(len(asked), level),
        "length": {"least": least, "most": most},
        "names": True,
        "aside": aside,
    }
    return Draft.ask(request, category="continue", target=target, level=level, facts=len(asked))


def _other(rng: random.Random, language: Language, place: Subject) -> Subject:
    while True:
        other = subject(rng, language, rng.sample(keys(language), _OTHER_FACTS))
        if other.kind is not place.kind:
            return other


def _required(n: int, level: Level) -> int:
    return max(1, round(n * _KEEP[level]))
