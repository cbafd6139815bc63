"""Closed-book questions on the chemical elements."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from evalkit.tasksets.generators.base import Level
from evalkit.tasksets.generators.facts.forms import asked, draw_row, form, number
from evalkit.tasksets.generators.facts.knowledge import (
    Question,
    choose,
    others,
    table,
    usual,
)
from evalkit.types import Language

# Symbols that are words of their own would be found in any answer.
_AMBIGUOUS = frozenset({"H", "I", "As", "In", "Be", "He", "No", "At", "B", "C", "N", "O", "K"})


@form(0.8)
def symbol_of_an_element(rng: random.Random, language: Language) -> Question:
    row = rng.choice([row for row in table("elements") if row["symbol"] not in _AMBIGUOUS])
    rivals = [s for s in others(rng, table("elements"), "symbol") if s not in _AMBIGUOUS]
    return asked(
        rng,
        language,
        {
            "en": (
                "What is the chemical symbol of {element}?",
                "Which symbol does the element {element} have?",
                "How is {element} abbreviated in the periodic table?",
            ),
            "zh": ("{element}的化学符号是什么？", "元素{element}用什么符号表示？"),
        },
        category="elements",
        level="medium",
        cell=row["symbol"],
        rivals=rivals,
        element=usual(row[language]),
    )


@form(0.6)
def element_of_a_symbol(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "elements")
    return asked(
        rng,
        language,
        {
            "en": (
                "Which chemical element has the symbol {symbol}?",
                "The symbol {symbol} stands for which chemical element?",
            ),
            "zh": ("化学符号{symbol}代表哪种元素？", "哪种化学元素的符号是{symbol}？"),
        },
        category="elements",
        level="medium",
        cell=row[language],
        rivals=others(rng, table("elements"), language),
        symbol=row["symbol"],
    )


@form(0.6)
def atomic_number(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "elements")
    ways: Mapping[Language, Sequence[str]] = {
        "en": (
            "What is the atomic number of {element}?",
            "How many protons does an atom of {element} have?",
        ),
        "zh": ("{element}的原子序数是多少？", "{element}原子有多少个质子？"),
    }
    text = choose(rng, language, ways).format(element=usual(row[language]))
    level: Level = "medium" if int(row["number"]) <= 20 else "hard"
    return number(text, "elements", int(row["number"]), level)


@form(0.6)
def element_of_a_number(rng: random.Random, language: Language) -> Question:
    row = draw_row(rng, "elements")
    return asked(
        rng,
        language,
        {
            "en": (
                "Which element has the atomic number {number}?",
                "Atoms of which element have {number} protons?",
            ),
            "zh": ("原子序数为{number}的元素是什么？", "哪种元素的原子有{number}个质子？"),
        },
        category="elements",
        level="medium" if int(row["number"]) <= 20 else "hard",
        cell=row[language],
        rivals=others(rng, table("elements"), language),
        number=row["number"],
    )
