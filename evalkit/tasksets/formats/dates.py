"""Ways to write one date in English, so that each is an alias of the others."""

from __future__ import annotations

import re

# Not those of `calendar`, which speak the language of the machine.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in _MONTHS)
_DAY_FIRST = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH}),? (\d{{4}})", re.IGNORECASE
)
_MONTH_FIRST = re.compile(rf"({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})", re.IGNORECASE)
_NUMERIC = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def date_spellings(text: str) -> list[str]:
    """Return the usual spellings of a date; nothing for what is no whole date.

    >>> date_spellings("March 5th, 1912")[:3]
    ['5 March 1912', 'March 5, 1912', '5th March 1912']
    """
    if found := _DAY_FIRST.fullmatch(text.strip()):
        day, month, year = int(found[1]), _month(found[2]), found[3]
    elif found := _MONTH_FIRST.fullmatch(text.strip()):
        day, month, year = int(found[2]), _month(found[1]), found[3]
    elif found := _NUMERIC.fullmatch(text.strip()):
        day, month, year = int(found[3]), int(found[2]), found[1]
    else:
        return []
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return []
    name, rank = _MONTHS[month - 1], f"{day}{_suffix(day)}"
    spellings = [
        f"{day} {name} {year}",
        f"{name} {day}, {year}",
        f"{rank} {name} {year}",
        f"{rank} of {name} {year}",
        f"{rank} of {name}, {year}",
        f"{name} {rank}, {year}",
        f"{name} {day} {year}",
        f"{day} {name}, {year}",
        f"{year}-{month:02}-{day:02}",
    ]
    short = [text.replace(name, name[:3]) for text in spellings[:2]]
    return list(dict.fromkeys([*spellings, *short]))


def _month(text: str) -> int:
    return next(i for i, name in enumerate(_MONTHS, 1) if name[:3].lower() == text[:3].lower())


def _suffix(day: int) -> str:
    if 11 <= day <= 13:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
