"""Numbers written in English or Chinese words, as exact fractions. Every pattern is linear."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from evalkit.scoring.number_folding import HALF_UNIT
from evalkit.scoring.numbers import SCALES, Number
from evalkit.types import Language

_ENGLISH_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
    "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_ENGLISH_SCALES = {name: value for name, value in SCALES.items() if name.isascii()}
_ENGLISH_PARTS = {
    "half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6,
    "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_ENGLISH_WORD = "|".join(sorted([*_ENGLISH_UNITS, *_ENGLISH_SCALES], key=len, reverse=True))
_ENGLISH = re.compile(
    rf"\b(?:{_ENGLISH_WORD})\b(?:(?:[ -]| and )(?:{_ENGLISH_WORD})\b){{0,12}}"
    rf"(?:[ -](?P<part>{'|'.join(_ENGLISH_PARTS)})s?\b)?"
    r"(?P<more>[ ]and[ ]an?[ ](?:half|quarter|third)\b)?",
    re.IGNORECASE,
)
_ENGLISH_ALONE = re.compile(r"\ban? (half|third|quarter|dozen)\b|\bhalf\b", re.IGNORECASE)
_ENGLISH_SIGN = re.compile(
    r"(?:\bnegative|(?:^|\b(?:is|equals|be|was|to|at|of|by)|[=:(,.])[ ]{0,2}minus)[ ]$",
    re.IGNORECASE,
)
_CHINESE_DIGITS = {word: value for value, word in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_CHINESE_NUMERAL = "[零〇一二两三四五六七八九十百千万亿]{1,20}"
_CHINESE = re.compile(
    rf"(?P<numeral>{_CHINESE_NUMERAL})(?:点(?P<decimals>[零〇一二三四五六七八九]{{1,12}}))?"
)
_CHINESE_FRACTION = re.compile(
    rf"(?:(?P<whole>{_CHINESE_NUMERAL}|\d{{1,9}})又)?(?P<below>{_CHINESE_NUMERAL})分之"
    rf"(?P<above>{_CHINESE_NUMERAL}(?:点[零〇一二三四五六七八九]{{1,12}})?|\d{{1,9}}(?:\.\d{{1,9}})?)"
)
_CHINESE_HALF = re.compile(rf"(?P<unit>{HALF_UNIT})?半(?![径数夜路途场])")
_CHINESE_HALF_ALONE = re.compile(
    rf"(?<![零〇一二两三四五六七八九十百千万亿\d])(?<![个时天年斤克米里元块升倍])"
    rf"半(?={HALF_UNIT}|个?月|杯|瓶)"
)
_CHINESE_IDIOM = re.compile(
    r"[一十万千]?(?:[第之同统唯星]|星期|周|礼拜)[一二三四五六]|一(?:共|样|般|定|些|直|起|切|下|致|旦|边|方面|句|种)"
    r"|十分|千万(?!元|人|吨)|万一|万分|三角|四周|四边|五彩"
)


def find_number_words(text: str, language: Language) -> list[Number]:
    """Return the numbers written in words (`twenty-four`, 二十四, 三分之一), in their order."""
    if language == "zh":
        return sorted(_chinese_words(text), key=lambda number: number.start)
    return list(_english_words(text)) or list(_english_alone(text))


def _english_alone(text: str) -> Iterator[Number]:
    """Yield "half", "a third", "a dozen": numbers only where there is no other."""
    for match in _ENGLISH_ALONE.finditer(text):
        name = (match[1] or "half").lower()
        value = Fraction(12) if name == "dozen" else Fraction(1, _ENGLISH_PARTS[name])
        yield Number(value, match.group(), match.start(), match.end())


def _english_words(text: str) -> Iterator[Number]:
    for match in _ENGLISH.finditer(text):
        part = match["part"]
        spelled = match.group() if part is None else text[match.start() : match.start("part") - 1]
        spelled = spelled.removesuffix(match["more"] or "")
        words = [word for word in re.split(r"[ -]", spelled.lower()) if word != "and"]
        if words == ["one"] and text[match.end() : match.end() + 4].lower() == " of ":
            continue
        below = 1 if part is None else _ENGLISH_PARTS[part.lower()]
        value = Fraction(_english_value(words), below)
        if match["more"] is not None:
            value += Fraction(1, _ENGLISH_PARTS[match["more"].lower().rsplit(" ", 1)[1]])
        if _ENGLISH_SIGN.search(text[max(0, match.start() - 16) : match.start()]):
            value = -value
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
    for match in _CHINESE_HALF_ALONE.finditer(text):
        yield Number(Fraction(1, 2), match.group(), match.start(), match.end())


def _chinese_fraction(match: re.Match[str]) -> Number | None:
    above, whole = match["above"], match["whole"]
    top = Fraction(above) if above[0].isascii() else _chinese_decimal(*above.partition("点")[::2])
    if match["below"] == "百":
        return Number(top, match.group(), match.start(), match.end(), percent=True)
    below = _chinese_value(match["below"])
    if not below:
        return None
    value = top / below
    if whole is not None:
        value += int(whole) if whole[0].isascii() else _chinese_value(whole)
    return Number(value, match.group(), match.start(), match.end())


def _chinese_decimal(numeral: str, decimals: str) -> Fraction:
    digits = "".join(str(_CHINESE_DIGITS[character]) for character in decimals)
    return Fraction(f"{_chinese_value(numeral)}.{digits or 0}")


def _chinese_integers(text: str, start: int, stop: int, idioms: set[int]) -> Iterator[Number]:
    for match in _CHINESE.finditer(text, start, stop):
        if match.start() in idioms:
            continue
        value = _chinese_decimal(match["numeral"], match["decimals"] or "")
        end = match.end()
        if half := _CHINESE_HALF.match(text, end, stop):
            value = value + Fraction(1, 2) if half["unit"] else value / 2
            end = half.end()
        negative = match.start() > 0 and text[match.start() - 1] == "负"
        yield Number(-value if negative else value, text[match.start() : end], match.start(), end)


def _chinese_value(numeral: str) -> int:
    """Read 三百六十五 by place, and a run of bare digits such as 一九四九 digit by digit."""
    if len(numeral) > 1 and all(character in _CHINESE_DIGITS for character in numeral):
        return int("".join(str(_CHINESE_DIGITS[character]) for character in numeral))
    total = section = digit = 0
    for character in numeral:
        if character in _CHINESE_DIGITS:
            digit = _CHINESE_DIGITS[character]
        elif character in "十百千":
            section += (digit or 1) * SCALES[character]
            digit = 0
        elif character == "万":
            total, section, digit = total + (section + digit or 1) * 10_000, 0, 0
        else:
            total, section, digit = (total + section + digit or 1) * 100_000_000, 0, 0
    if digit and len(numeral) > 1 and numeral[-2] in "百千万亿":
        # 三千五 is 3500, 一万二 is 12000.
        last = numeral[-2]
        digit *= SCALES[last] // 10
    return total + section + digit
