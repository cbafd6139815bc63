"""Closed-book questions on countries, cities and the face of the Earth."""

from __future__ import annotations

import random
from collections.abc import Mapping

from evalkit.tasksets.generators.facts.forms import asked, draw_row, form
from evalkit.tasksets.generators.facts.knowledge import (
    Question,
    names,
    others,
    table,
    usual,
)
from evalkit.types import Language

CONTINENTS: Mapping[str, str] = {
    "Europe": "欧洲",
    "Asia": "亚洲",
    "Africa": "非洲",
    "North America": "北美洲",
    "South America": "南美洲",
    "Oceania": "大洋洲",
}


@form()
def capital(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "countries")
    column = f"capital_{language}"
    return asked(
        rng,
        language,
        {
            "en": (
                "What is the capital of {country}?",
                "Name the capital city of {country}.",
                "Which city is the capital of {country}?",
                "{country} has which city as its capital?",
            ),
            "zh": (
                "{country}的首都是哪座城市？",
                "哪座城市是{country}的首都？",
                "请问{country}的首都叫什么？",
                "{country}的首都是哪里？",
            ),
        },
        category="capitals",
        level="easy",
        cell=row[column],
        rivals=[*names(row[f"trap_{language}"]), *others(rng, table("countries"), column)],
        country=usual(row[language]),
    )


@form()
def country_of_a_capital(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "countries")
    return asked(
        rng,
        language,
        {
            "en": (
                "Which country has {city} as its capital?",
                "{city} is the capital of which country?",
                "Of which country is {city} the capital?",
            ),
            "zh": ("{city}是哪个国家的首都？", "哪个国家的首都是{city}？"),
        },
        category="capitals",
        level="easy",
        cell=row[language],
        rivals=others(rng, table("countries"), language),
        city=usual(row[f"capital_{language}"]),
    )


@form()
def currency(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "countries")
    column = f"currency_{language}"
    return asked(
        rng,
        language,
        {
            "en": (
                "What is the currency of {country}?",
                "With which currency do people pay in {country}?",
                "Which official currency does {country} use?",
            ),
            "zh": ("{country}的货币是什么？", "{country}使用哪种法定货币？"),
        },
        category="currencies",
        level="medium",
        cell=row[column],
        rivals=[*_namesakes(row, column), *others(rng, table("countries"), column)],
        country=usual(row[language]),
    )


def _namesakes(row: Mapping[str, str], column: str) -> list[str]:
    """Return the full names of other currencies that share a bare name with this one."""
    bare = set(names(row[column])[1:])
    shared = (usual(one[column]) for one in table("countries") if bare & set(names(one[column])))
    return [name for name in dict.fromkeys(shared) if name not in names(row[column])]


@form(0.8)
def continent(rng: random.Random, language: Language) -> Question:
    # Russia, Turkey and their neighbors lie on two.
    rows = [
        row
        for row in table("countries")
        if usual(row["en"]) not in {"Russia", "Turkey", "Georgia", "Armenia", "Cyprus", "Egypt"}
    ]
    row = rng.choice(rows)
    shown = dict(zip(CONTINENTS, CONTINENTS, strict=True)) if language == "en" else CONTINENTS
    return asked(
        rng,
        language,
        {
            "en": ("On which continent is {country}?", "{country} lies on which continent?"),
            "zh": ("{country}位于哪个大洲？", "{country}在哪个洲？"),
        },
        category="geography",
        level="easy",
        cell=shown[row["continent"]],
        rivals=list(shown.values()),
        country=usual(row[language]),
    )


@form(0.4)
def superlative(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "geography")
    return asked(
        rng,
        language,
        {
            "en": ("What is {what} called?", "Name {what}."),
            "zh": ("{what}是什么？", "{what}叫什么名字？"),
        },
        category="geography",
        level="easy",
        cell=row[f"answer_{language}"],
        rivals=names(row[f"rivals_{language}"]),
        what=row[f"question_{language}"],
    )
