"""What a kind of instruction is, which kinds go together, and the table of them."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from evalkit.resources import resource_dir
from evalkit.tasksets.generators.base import Level
from evalkit.types import Language

T = TypeVar("T")
Pair = tuple[str, str]
"""A text in English and in Chinese."""

FOLDER = "instructions-fresh"


@dataclass(frozen=True, slots=True)
class Topic:
    """What is written about, with words that belong to it."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scene:
    """What is decided before an instruction is made.

    Attributes:
        task: The request that the instructions stand under.
        needs: All that the other instructions oblige the answer to hold, in small letters.
    """

    rng: random.Random
    language: Language
    topic: Topic
    level: Level
    task: str
    needs: str = ""

    def say(self, *ways: Pair, **values: Any) -> str:
        """Return one of the ways to say something, with its values put in."""
        way = self.rng.choice(ways)
        return way[0 if self.language == "en" else 1].format(**values)

    def by_level(self, easy: T, medium: T, hard: T) -> T:
        """Return what fits the level."""
        return {"easy": easy, "medium": medium, "hard": hard}[self.level]

    def whole(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return self.rng.randint(low, high)

    def words(self, n: int) -> list[str]:
        """Return so many words of the topic that no other instruction needs."""
        free = [word for word in self.topic.words if word.lower() not in self.needs]
        return self.rng.sample(free, n)

    def quoted(self, words: Sequence[str]) -> str:
        """Return words as they are listed in a sentence."""
        if self.language == "zh":
            return "、".join(f"“{word}”" for word in words)
        *head, last = [f'"{word}"' for word in words]
        return f"{', '.join(head)} and {last}" if head else last


@dataclass(frozen=True, slots=True)
class Part:
    """One instruction, made.

    Attributes:
        needs: What an answer that follows it must hold.
        task: A request that takes the place of the usual one.
        answer_language: What the answer is written in, where not the prompt's language.
    """

    kwargs: Mapping[str, Any]
    text: str
    needs: str = ""
    task: str | None = None
    answer_language: str | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of instruction.

    Attributes:
        claims: What only one instruction of a prompt may decide (the shape, the start, ...).
        bars: What no other instruction of the prompt may decide beside this one.
        last: Made after the others, because it must not forbid what they need.
    """

    id: str
    make: Callable[[Scene], Part]
    languages: tuple[Language, ...]
    claims: frozenset[str]
    bars: frozenset[str]
    last: bool = field(default=False)

    def goes_with(self, others: Iterable[Kind]) -> bool:
        """Say whether an answer can follow this and all of the others."""
        return not any(
            self.claims & (other.claims | other.bars) or self.bars & other.claims
            for other in others
        )


KINDS: list[Kind] = []

# What may not be decided where every line, or the whole text, has its form already.
STRICT = "shape length start end title quotes placeholders highlights capitals questions language"
LINES = f"{STRICT} word_length"


def kind(
    name: str, claims: str, bars: str = "", *, only: Language | None = None, last: bool = False
) -> Callable[[Callable[[Scene], Part]], Callable[[Scene], Part]]:
    """Return a decorator that adds a kind; claims and bars are words between spaces."""

    def add(make: Callable[[Scene], Part]) -> Callable[[Scene], Part]:
        languages: tuple[Language, ...] = (only,) if only else ("en", "zh")
        barred = frozenset(f"{bars} alone".split()) - frozenset(claims.split())
        KINDS.append(Kind(name, make, languages, frozenset(claims.split()), barred, last))
        return make

    return add


@cache
def topics(language: Language) -> tuple[Topic, ...]:
    """Read the table of topics in a language."""
    path = resource_dir("tasksets") / FOLDER / "topics.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(
            Topic(row[language], tuple(row[f"words_{language}"].split(";"))) for row in rows
        )


def listing(scene: Scene) -> str:
    """Return a task that asks for things, not for a text."""
    return scene.say(
        ("List things that have to do with {t}.", "列出与{t}有关的事物。"),
        ("Name things that come to mind when you think of {t}.", "说出一些由{t}联想到的东西。"),
        t=scene.topic.name,
    )
