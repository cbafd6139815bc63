r"""Numbers in running text, as exact fractions.

Digits with thousands separators, decimals, fractions (`3/4`, `1 1/2`, `½`, LaTeX `\frac`),
percentages, signs, full-width digits, 万 and 亿; numbers written in English or Chinese
words. Every pattern is linear, and a run of more than `MAX_DIGITS` digits is read as no
number at all, so a hostile answer costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from evalkit.scoring.text import fold_width
from evalkit.types import Language

MAX_DIGITS = 40

_VULGAR = {
    "½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5",
    "⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8",
    "⅞": "7/8",
}  # fmt: skip
_FOLD = str.maketrans(
    {character: f" {plain} " for character, plain in _VULGAR.items()}
    | {"\u2212": "-", "\u2011": "-", "\u2044": "/", "\u202f": "\u00a0", "\u2009": "\u00a0"}
)
_LATEX_FRACTION = re.compile(
    r"(?P<sign>-[ ]?)?\\[cdt]?frac(?:"
    r"\s{0,3}\{\s{0,3}(?P<inner>-?)(?P<above>\d{1,40})\s{0,3}\}"
    r"\s{0,3}\{\s{0,3}(?P<below>\d{1,40})\s{0,3}\}"
    r"|\s?(?P<short>\d)\s?(?P<shorter>\d))"
)
_CHINESE_DIGIT_FRACTION = re.compile(r"(?P<below>\d{1,9}|百)分之(?P<above>\d{1,9}(?:\.\d{1,9})?)")
_LATEX_SEPARATOR = re.compile(r"(?<=\d)(?:\{,\}|\\,)(?=\d)")

_INTEGER = r"\d{1,3}(?:[,\u00a0]\d{3})+(?!\d)|\d+"
_NUMBER = re.compile(
    r"(?<![A-Za-z_\d.])(?P<sign>(?<![A-Za-z\d)\]%])-(?:[$¥€£][ ]?)?(?=[\d.])|负|\b[Nn]egative[ ])?"
    rf"(?:(?P<whole>{_INTEGER})(?P<decimals>\.\d+)?|(?P<bare>\.\d+))"
    r"(?:[ ]{1,2}(?P<mixed>\d{1,9}/\d{1,9})(?![\d/]))?"
    r"(?:[ ]?/[ ]?(?P<below>\d{1,40})(?![\d/.,]\d|\d))?"
    r"(?:(?:[ ]?(?:[x*×⋅·]|\\times|\\cdot)[ ]?10[ ]?(?:\^|\*\*)[ ]?\{?|[eE](?=[-+]?\d{1,2}\b))"
    r"(?P<power>[-+]?\d{1,2})(?!\d)\}?)?",
    re.ASCII,
)
_AFTER = re.compile(
    r"[ ]?(?P<percent>%|percent\b|per cent\b)|(?P<ordinal>st|nd|rd|th)\b"
    r"|[ ]?(?P<scale>百万|千万|万亿|[万亿]|(?:hundred|thousand|million|billion|trillion)\b)",
    re.ASCII,
)
_LIST_MARKER = re.compile(r"[.)、:][* ]{1,4}\S")
_MAX_MARKER = 50
_STEP = re.compile(r"(?:\bstep|第)\s?$", re.IGNORECASE)

_ENGLISH_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
    "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ENGLISH_SCALES = {
    "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
_ENGLISH_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_ENGLISH_WORD = "|".join(sorted([*_ENGLISH_UNITS, *_ENGLISH_SCALES], key=len, reverse=True))
_ENGLISH = re.compile(
    rf"\b(?:{_ENGLISH_WORD})\b(?:(?:[ -]| and )(?:{_ENGLISH_WORD})\b){{0,12}}"
    rf"(?:[ -](?P<part>{'|'.join(_ENGLISH_PARTS)})s?\b)?",
    re.IGNORECASE,
)
_CHINESE_DIGITS = {word: value for value, word in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1_000}
_CHINESE_MYRIADS = {"万": 10_000, "亿": 100_000_000}
_SCALES = _ENGLISH_SCALES | _CHINESE_MYRIADS | {"百万": 10**6, "千万": 10**7, "万亿": 10**12}
_CHINESE_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]{1,20}"
_CHINESE = re.compile(
    rf"(?P<numeral>{_CHINESE_NUMERAL})(?:点(?P<decimals>[零〇一二三四五六七八九]{{1,12}}))?"
)
_CHINESE_FRACTION = re.compile(
    rf"(?P<below>{_CHINESE_NUMERAL})分之(?P<above>{_CHINESE_NUMERAL}|\d{{1,9}}(?:\.\d{{1,9}})?)"
)
_CHINESE_IDIOM = re.compile(
    r"[一十万千]?(?:[第之同统唯星]|星期|周|礼拜)[一二三四五六]|一(?:共|样|般|定|些|直|起|切|下|致|旦|边|方面|句|种)"
    r"|十分|千万(?!元|人|吨)|万一|万分|三角|四周|四边|五彩"
)


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


def fold_numbers(text: str) -> str:
    """Return the text with full-width digits, vulgar and LaTeX fractions made plain."""
    folded = fold_width(text).translate(_FOLD).replace("\\%", "%").replace("\\$", "$")
    folded = _LATEX_FRACTION.sub(_plain_fraction, _LATEX_SEPARATOR.sub(",", folded))
    return _CHINESE_DIGIT_FRACTION.sub(_plain_chinese_fraction, folded)


def _plain_fraction(match: re.Match[str]) -> str:
    above, below = match["above"] or match["short"], match["below"] or match["shorter"]
    negative = (match["sign"] is not None) != bool(match["inner"])
    return f"{'-' if negative else ' '}{above}/{below} "


def _plain_chinese_fraction(match: re.Match[str]) -> str:
    if match["below"] == "百":
        return f" {match['above']}% "
    # A numerator with decimals makes no plain fraction.
    return f" {match['above']}/{match['below']} " if match["above"].isdigit() else match.group()


def find_numbers(text: str) -> list[Number]:
    """Return the numbers written in digits, in their order; `text` is folded already."""
    return [
        number for match in _NUMBER.finditer(text) if (number := _read(text, match)) is not None
    ]


def find_number_words(text: str, language: Language) -> list[Number]:
    """Return the numbers written in words (`twenty-four`, 二十四, 三分之一), in their order."""
    return list(_chinese_words(text) if language == "zh" else _english_words(text))


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
            value *= _SCALES[after["scale"]]
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


def _english_words(text: str) -> Iterator[Number]:
    for match in _ENGLISH.finditer(text):
        part = match["part"]
        spelled = match.group() if part is None else text[match.start() : match.start("part") - 1]
        words = [word for word in re.split(r"[ -]", spelled.lower()) if word != "and"]
        if words == ["one"] and text[match.end() : match.end() + 4].lower() == " of ":
            continue
        below = 1 if part is None else _ENGLISH_PARTS[part.lower()]
        value = Fraction(_english_value(words), below)
        yield Number(value, match.group(), match.start(), match.end())


def _english_value(words: list[str]) -> int:
    total = group = 0
    for word in words:
        if word in _ENGLISH_UNITS:
            group += _ENGLISH_UNITS[word]
        elif word == "hundred":
            group = (group or 1) * 100
        else:
            total += (group or 1) * _ENGLISH_SCALES[word]
            group = 0
    return total + group


def _chinese_words(text: str) -> Iterator[Number]:
    idioms = {at for match in _CHINESE_IDIOM.finditer(text) for at in range(*match.span())}
    at = 0
    for fraction in _CHINESE_FRACTION.finditer(text):
        yield from _chinese_integers(text, at, fraction.start(), idioms)
        at = fraction.end()
        number = _chinese_fraction(fraction)
        if number is not None:
            yield number
    yield from _chinese_integers(text, at, len(text), idioms)


def _chinese_fraction(match: re.Match[str]) -> Number | None:
    above = match["above"]
    top = Fraction(above) if above[0].isascii() else Fraction(_chinese_value(above))
    if match["below"] == "百":
        return Number(top, match.group(), match.start(), match.end(), percent=True)
    below = _chinese_value(match["below"])
    return Number(top / below, match.group(), match.start(), match.end()) if below else None


def _chinese_integers(text: str, start: int, stop: int, idioms: set[int]) -> Iterator[Number]:
    for match in _CHINESE.finditer(text, start, stop):
        if match.start() in idioms:
            continue
        digits = "".join(str(_CHINESE_DIGITS[character]) for character in match["decimals"] or "")
        value = Fraction(f"{_chinese_value(match['numeral'])}.{digits or 0}")
        negative = match.start() > 0 and text[match.start() - 1] == "负"
        yield Number(-value if negative else value, match.group(), match.start(), match.end())


def _chinese_value(numeral: str) -> int:
    """Read 三百六十五 by place, and a run of bare digits such as 一九四九 digit by digit."""
    if len(numeral) > 1 and all(character in _CHINESE_DIGITS for character in numeral):
        return int("".join(str(_CHINESE_DIGITS[character]) for character in numeral))
    total = section = digit = 0
    for character in numeral:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
        elif character in _CHINESE_SCALES:
            section += (digit or 1) * _CHINESE_SCALES[character]
            digit = 0
        elif character == "万":
            total, section, digit = total + (section + digit or 1) * 10_000, 0, 0
        else:
            total, section, digit = (total + section + digit or 1) * 100_000_000, 0, 0
    return total + section + digit
