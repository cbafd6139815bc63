"""The generator `math`: each template in turn, in a new order each round."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

# Importing a module of templates adds its templates.
from evalkit.tasksets.generators.base import GENERATORS, Draft, Level
from evalkit.tasksets.generators.math import (  # noqa: F401
    algebra,
    counting,
    measures,
    money,
    parts,
    rates,
)
from evalkit.tasksets.generators.math.problem import TEMPLATES, Dice, Pair, Problem, written
from evalkit.types import Language

_DISTRACTED = 0.3


@GENERATORS.register("math")
def generate(language: Language, seed: int, options: Mapping[str, Any]) -> Iterator[Draft]:
    """Make word problems without end; there are no options."""
    rng = random.Random(f"math/{language}/{seed}")
    names = sorted(TEMPLATES)
    while True:
        rng.shuffle(names)
        for name in names:
            template = TEMPLATES[name]
            dice = Dice(rng, rng.choice(template.levels))
            problem = template.make(dice)
            distractor = _distractor(dice) if dice.chance(_DISTRACTED) else None
            yield Draft.ask(
                _text(problem, distractor, language),
                category=template.category,
                target=_target(problem, language),
                level=_level(dice.level, problem.steps),
                template=name,
                steps=problem.steps,
                distractor=distractor is not None,
            )


def _level(size: Level, steps: int) -> Level:
    """Weigh the size of the numbers and the number of steps together."""
    hardness = ("easy", "medium", "hard").index(size) + (steps >= 3) + (steps >= 5)
    return "easy" if hardness == 0 else "medium" if hardness <= 2 else "hard"


def _text(problem: Problem, distractor: Pair | None, language: Language) -> str:
    at = 0 if language == "en" else 1
    aside = [distractor[at]] if distractor else []
    return (" " if language == "en" else "").join([problem.story[at], *aside, problem.question[at]])


def _target(problem: Problem, language: Language) -> dict[str, Any]:
    value = str(problem.answer) if problem.as_fraction else written(problem.answer)
    target: dict[str, Any] = {"value": value}
    if problem.unit is not None:
        target["unit"] = problem.unit[0 if language == "en" else 1]
    if problem.percent:
        target["percent"] = True
    return target


def _distractor(d: Dice) -> Pair:
    """Return a sentence with a number that has nothing to do with the answer."""
    year, number, degrees = d.whole(1950, 2015), d.whole(2, 98), d.whole(3, 30)
    return d.pick(
        (
            (f"All this takes place at {number} Mill Road.", f"这件事发生在磨坊路{number}号。"),
            (
                f"On that day it is {degrees} degrees outside.",
                f"那天室外气温是{degrees}度。",
            ),
            (
                f'A sign at the door says "since {year}".',
                f"门口的牌子上写着“始于{year}年”。",
            ),
            (
                f"The story stands on page {number} of a newspaper.",
                f"这则故事刊登在报纸的第{number}版。",
            ),
            (
                f"A radio in the room plays station {number}.",
                f"屋里的收音机调到了第{number}频道。",
            ),
        )
    )
