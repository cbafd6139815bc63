"""Cues: the words that stand right before or right behind the value of a fact."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

Fact = Mapping[str, Any]

LEAD, REST = 60, 60
"""Characters before and behind a value in which its cue may stand."""

MAX_MENTIONS = 4_000
"""No honest text has more; a hostile one is judged by its ends."""

NEGATION = re.compile(
    r"(?:\b(?:not|never|no|neither|nor|without|than|instead of|unlike)|n't"
    r"|不是|并非|而非|不|没|没有)"
    r"(?: (?:be|is|an?|by|in|on|the|been|was|only))*\s?$"
)
_AFTER_GAP = (
    r"(?:[\s,:：\"'*_]|\b(?:in|the|year|of|by|back|on|was|were|is|are|early|late|current|present|every"
    r"|each|day|about|exactly|nearly|around|some|to|at|remains|named|called|being|its|their|our|his"
    r"|her|no|less|than|a|an|man|woman|local|well-known|town|total|mr|mrs|ms|dr)\b\.?|[于在约了是为由的叫有共达到年名个每逢总计]){0,8}$"
)
# "founded by Rosa Falk in 1890"
_BY = r"(?: by [a-z'-]+ [a-z'-]+,?)?"
_BEFORE_GAP = (
    r"[ *_\"'-]{0,3}[多余来]?"
    r"(?:(?!(?:and|or|of|in|on|at|to|with|by|for|from|is|are|was|were|as|per|than"
    r"|but|plus|years?|which|that|while|has|have)\b)[a-z][a-z'-]*[ -]){0,2}?"
)
_NAME_GAP = r"[\s*_]{0,3}(?:\b(?:who|has|had|have|he|she|also|now|once|still|,)\b[\s]?|,\s?){0,3}"


@lru_cache(maxsize=512)
def cue_patterns(
    before: tuple[str, ...], after: tuple[str, ...], names: bool
) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Return what finds cues behind a value, and ahead of it.

    Args:
        before: Cues that the value stands before.
        after: Cues that it stands after.
        names: Whether the values are names; numbers may have adjectives behind them.
    """
    gap, by = (_NAME_GAP, "") if names else (_BEFORE_GAP, _BY)
    return (
        re.compile(rf"{gap}(?P<cue>{any_of(before)})(?![a-z])") if before else None,
        re.compile(rf"(?<![a-z])(?P<cue>{any_of(after)}){by}{_AFTER_GAP}") if after else None,
    )


def any_of(cues: tuple[str, ...]) -> str:
    """Return a pattern of any of the cues, the longest first."""
    return "|".join(re.escape(cue.casefold()) for cue in sorted(cues, key=len, reverse=True))
