"""How a closed-book question is put together; the table of its forms."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

from evalkit.tasksets.generators.base import Level
from evalkit.tasksets.generators.facts.knowledge import Question, Row, answer, choose, names, table
from evalkit.types import Language

Form = Callable[[random.Random, Language], Question]
FORMS: list[tuple[Form, float]] = []
"""Each way to ask, and the share of rounds that ask it: less for a short table."""


def form(share: float = 1.0) -> Callable[[Form], Form]:
    """Return a decorator that adds a form, asked in this share of the rounds."""

    def add(form: Form) -> Form:
        FORMS.append((form, share))
        return form

    return add


def draw_row(rng: random.Random, name: str) -> Row:
    """Return any row of a table."""
    return rng.choice(table(name))


def asked(
    rng: random.Random,
    language: Language,
    ways: Mapping[Language, Sequence[str]],
    *,
    category: str,
    level: Level,
    cell: str,
    rivals: Sequence[str],
    **words: str,
) -> Question:
    """Ask for a name: the alternatives of its cell are right, other rows' names are wrong."""
    text = choose(rng, language, ways).format(**words)
    return Question(text, category, answer(names(cell), rivals, text), level)


def number(text: str, category: str, value: int, level: Level, tolerance: int = 0) -> Question:
    """Ask for a whole number."""
    target = {"kind": "number", "value": str(value), "tolerance": str(tolerance)}
    return Question(text, category, target, level)
