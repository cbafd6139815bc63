"""What a check of one instruction is, and the table of them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Kwargs = Mapping[str, Any]
Check = Callable[[str, Kwargs], bool]

CHECKS: dict[str, Check] = {}

_TABLES = Path(__file__).with_name("checks_words.tsv")
_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "less than": operator.lt,
    "at least": operator.ge,
    "at most": operator.le,
    "exactly": operator.eq,
}


def check(instruction_id: str) -> Callable[[Check], Check]:
    """Add a function to the checks."""

    def register(function: Check) -> Check:
        CHECKS[instruction_id] = function
        return function

    return register


def holds(count: int, relation: str, bound: int) -> bool:
    """Say whether a count is in a relation to a bound.

    Raises:
        KeyError: For a relation that is none of the four.
    """
    return _RELATIONS[relation](count, int(bound))


def quotes_of(phrase: str) -> str:
    """Return the marks that may stand around an answer: curly ones for Chinese only."""
    return '"' if phrase.isascii() else '"“”'


def nonempty_lines(text: str) -> list[str]:
    """Return the lines that hold anything, without the white space around them."""
    return [line.strip() for line in text.splitlines() if line.strip()]


@cache
def words_of(table: str) -> dict[str, frozenset[str]]:
    """Return a table of `checks_words.tsv`: for each language its words, read once.

    The tables of scripts hold the commonest words of the languages that share one.
    """
    rows = (line.split("\t") for line in _TABLES.read_text("utf-8").splitlines())
    return {row[1]: frozenset(row[2].split()) for row in rows if row[0] == table}
