"""The tables of stable knowledge that questions are made from."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from evalkit.resources import resource_dir
from evalkit.tasksets.generators.base import Level
from evalkit.types import Language

Row = Mapping[str, str]
FOLDER = "facts-fresh"


@dataclass(frozen=True, slots=True)
class Question:
    """One question of fact with what its scorer needs to know."""

    text: str
    category: str
    target: Mapping[str, Any]
    level: Level
    cluster: str | None = None


@cache
def table(name: str) -> tuple[Row, ...]:
    """Read a table: rows by column, in the order of the file."""
    path = resource_dir("tasksets") / FOLDER / "tables" / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def names(cell: str) -> list[str]:
    """Return the ways to write a name, the usual one first."""
    return [name for name in cell.split(";") if name]


def usual(cell: str) -> str:
    """Return the usual way to write a name."""
    return names(cell)[0]


def answer(aliases: Sequence[str], rivals: Iterable[str], question: str) -> dict[str, Any]:
    """Make a target of kind `answer`; what the question itself names is no rival.

    A rival may hold an alias ("Norwegian krone" and "krone"): the longer name is what is said.
    """
    asked = question.casefold()
    folded = [alias.casefold() for alias in aliases]
    kept = [
        rival
        for rival in dict.fromkeys(rivals)
        if rival.casefold() not in asked and not any(rival.casefold() in one for one in folded)
    ]
    return {"kind": "answer", "aliases": list(aliases), "rivals": kept}


def others(rng: random.Random, rows: Sequence[Row], column: str, n: int = 6) -> list[str]:
    """Return names from other rows of a table: the likely wrong answers."""
    return [usual(row[column]) for row in rng.sample(rows, min(n, len(rows))) if row[column]]


def choose(rng: random.Random, language: Language, texts: Mapping[Language, Sequence[str]]) -> str:
    """Return one of the ways to ask."""
    return rng.choice(texts[language])
