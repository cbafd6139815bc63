"""How many prompts a purpose needs, and what of them is asked in which language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from evalkit.types import Language

SuiteName = Literal["smoke", "quick", "standard", "full"]

SUITES: Mapping[SuiteName, int] = {"smoke": 25, "quick": 100, "standard": 300, "full": 3000}
"""Samples a family. From 300 on a family has a guard of its own in the default policy."""

_LANGUAGES: tuple[Language, ...] = get_args(Language)
# What every generator can serve for sure; of three prompts two are English.
_CAPACITY: Mapping[Language, int] = {"en": 2000, "zh": 1000}
_ENGLISH = _CAPACITY["en"] / sum(_CAPACITY.values())


def shares(size: int, languages: Sequence[Language]) -> dict[Language, int]:
    """Split a family's samples over languages.

    Args:
        size: Samples in all.
        languages: Those that are wanted; nothing means all.

    >>> shares(300, ())
    {'en': 200, 'zh': 100}
    >>> shares(25, ("zh",))
    {'zh': 25}
    """
    wanted = [language for language in _LANGUAGES if not languages or language in languages]
    if len(wanted) == 1:
        return {wanted[0]: min(size, _CAPACITY[wanted[0]])}
    english = round(size * _ENGLISH)
    return {"en": english, "zh": size - english}
