"""Numbers in running text, as exact fractions: those in digits.

Digits with thousands separators, decimals, fractions (`3/4`, `1 1/2`), powers, percentages,
signs, 万 and 亿; `number_folding` makes other writings plain before, and `number_words` reads
words. Every pattern is linear, and a run of more than `MAX_DIGITS` digits is read as no
number at all, so a hostile answer costs no more than its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

MAX_DIGITS = 40

SCALES = {
    "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "十": 10, "百": 100, "千": 1_000, "万": 10**4, "亿": 10**8, "百万": 10**6, "千万": 10**7,
    "万亿": 10**12,
}  # fmt: skip
_INTEGER = r"\d{1,3}(?:[,\u00a0]\d{3})+(?!\d)|\d+"
_NUMBER = re.compile(
    r"(?<![A-Za-z_\d.^])(?<!\^\{)(?<!\^-)(?<!\^\{-)"
    r"(?P<sign>(?<![A-Za-z\d)\]%])-(?:[$¥€£][ ]?)?(?=[\d.])|负|\b[Nn]egative[ ])?"
    rf"(?:(?P<whole>{_INTEGER})(?P<decimals>\.\d+)?|(?P<bare>\.\d+))"
    r"(?:[ ]{1,2}(?P<mixed>\d{1,9}/\d{1,9})(?![\d/]))?"
    r"(?:[ ]?/[ ]?(?P<below>\d{1,40})(?![\d/.,]\d|\d))?"
    r"(?:(?:[ ]?(?:[x*×⋅·]|\\times|\\cdot)[ ]?10[ ]?(?:\^|\*\*)[ ]?\{?|[eE](?=[-+]?\d{1,2}\b))"
    r"(?P<power>[-+]?\d{1,2})(?!\d)\}?"
    r"|[ ]?(?:\^|\*\*)[ ]?\{?(?P<exponent>-?\d{1,3})(?!\d|\.\d)\}?)?",
    re.ASCII,
)
_AFTER = re.compile(
    r"[ ]?(?P<percent>%|percent\b|per cent\b)|(?P<ordinal>st|nd|rd|th)\b"
    r"|[ ]?(?P<scale>百万|千万|万亿|[万亿]|[百十](?!分)|千(?![克米瓦卡帕赫焦])"
    r"|(?:hundred|thousand|million|billion|trillion)\b)",
    re.ASCII,
)
_LIST_MARKER = re.compile(r"[.)、:][* ]{1,4}\S")
_MAX_MARKER = 50
_MAX_POWER = 150
_STEP = re.compile(r"(?:\bstep|第)\s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in a text.

    Attributes:
        value: Exact; for a percentage the number before the sign (50 for `50%`).
        text: How it was written.
        start: First character, in the folded text (`fold_numbers`).
        end: Past its last character, percent sign included.
        percent: Written as a percentage.
        ordinal: Written as a rank (`3rd`).
        marker: Only numbers a list item or a step.
    """

    value: Fraction
    text: str
    start: int
    end: int
    percent: bool = False
    ordinal: bool = False
    marker: bool = False


def find_numbers(text: str) -> list[Number]:
    """Return the numbers written in digits, in their order; `text` is folded already."""
    return [
        number for match in _NUMBER.finditer(text) if (number := _read(text, match)) is not None
    ]


def parse_number(text: str) -> Fraction:
    """Read a target's number: an integer, a decimal or a fraction such as `3/4`.

    Raises:
        ValueError: When it is none of these.
    """
    try:
        return Fraction(text.replace(",", ""))
    except ZeroDivisionError as error:
        raise ValueError(f"not a number: {text!r}") from error


def _read(text: str, match: re.Match[str]) -> Number | None:
    value = _value(match)
    if value is None:
        return None
    after = _AFTER.match(text, match.end())
    percent = ordinal = False
    end = match.end()
    if after is not None:
        percent, ordinal = after["percent"] is not None, after["ordinal"] is not None
        end = after.end()
        if after["scale"] is not None:
            value *= SCALES[after["scale"]]
    if match["sign"] is not None:
        value = -value
    return Number(
        value=value,
        text=text[match.start() : end],
        start=match.start(),
        end=end,
        percent=percent,
        ordinal=ordinal,
        marker=0 <= value <= _MAX_MARKER and _is_marker(text, match),
    )


def _value(match: re.Match[str]) -> Fraction | None:
    written = (match["whole"] or "0").replace(",", "").replace("\u00a0", "")
    decimals = match["decimals"] or match["bare"] or ""
    if len(written) > MAX_DIGITS or len(decimals) > MAX_DIGITS:
        return None
    value = Fraction(written + decimals) * Fraction(10) ** int(match["power"] or 0)
    if match["exponent"] is not None:
        exponent = int(match["exponent"])
        if abs(exponent) * len(written + decimals) > _MAX_POWER or (exponent < 0 and not value):
            return None
        value **= exponent
    if match["mixed"] is not None:
        above, below = (int(part) for part in match["mixed"].split("/"))
        return value + Fraction(above, below) if below else None
    if match["below"] is not None:
        return value / int(match["below"]) if int(match["below"]) else None
    return value


def _is_marker(text: str, match: re.Match[str]) -> bool:
    if _STEP.search(text[max(0, match.start() - 6) : match.start()]):
        return True
    line_start = text.rfind("\n", max(0, match.start() - 8), match.start()) + 1
    if line_start == 0 and match.start() > 8:
        return False
    return not text[line_start : match.start()].strip(" *#-(") and bool(
        _LIST_MARKER.match(text, match.end())
    )
