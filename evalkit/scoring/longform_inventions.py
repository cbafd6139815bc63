"""Numbers and days in a text that its prompt does not know.

What follows from the prompt is no invention: a date in another form, the years between two
years, a decade, an hour after noon, a rounded number that says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evalkit.scoring.longform_text import HEDGE, Body, Finding, read_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import Number
from evalkit.types import Language

_SMALL = 10
_PARTS = 4
_ROUND_WORDS = frozenset({"hundred", "thousand", "million"})
_WEEKDAYS_EN = re.compile(r"\b(Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b")
_WEEKDAYS_ZH = re.compile(r"(?:星期|周|礼拜)([一二三四五六日天])(?![年岁])")
_DAYS = ("Mon", "Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun")
_CHINESE_DAYS = dict(zip("一二三四五六日天", (*_DAYS, "Sun"), strict=True))
_RANGE = re.compile(
    r"(?P<from>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day) ?(?:to|through|till|until|[-–—]) ?"
    r"(?P<to>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
    r"|(?:星期|周|礼拜)(?P<from_zh>[一二三四五六日天])[至到—-]{1,2}(?:星期|周|礼拜)?(?P<to_zh>[一二三四五六日天])"
)
_MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_MONTHS_EN = re.compile(
    r"\b(January|February|April|June|July|September|October|November|December)\b"
    r"|\b(?:in|of|since|until|by|early|late|every|this|next|last|[0-9]{1,2}) (March|May|August)\b"
)
_MONTHS_ZH = re.compile(
    r"(?<![0-9个一二三四五六七八九十])([0-9]{1,2}|十[一二]?|[一二三四五六七八九])月(?![亮光饼])"
)
_ANY_MONTH = "|".join(_MONTH_NAMES)
_DATES_EN = re.compile(
    rf"\b(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: day)?(?: of)? (?P<month>{_ANY_MONTH})\b"
    rf"|\b(?P<month2>{_ANY_MONTH}) (?:the )?(?P<day2>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?![:.]?[0-9])"
)
_DATES_ZH = re.compile(
    r"(?P<month>[0-9]{1,2}|十[一二]?|[一二三四五六七八九])月(?P<day>[0-9]{1,2}|[一二三四五六七八九十]{1,3})[日号]"
)
_NUMERIC_DATE = re.compile(
    r"\b(?P<year>[12][0-9]{3})(?P<mark>[-/.])(?P<a>[0-9]{1,2})(?P=mark)(?P<b>[0-9]{1,2})\b"
    r"|\b(?P<a2>[0-9]{1,2})(?P<mark2>[-/.])(?P<b2>[0-9]{1,2})(?P=mark2)(?P<year2>[12][0-9]{3})\b"
)
_REST_OF = re.compile(r"(?:\b(?:other|remaining|another|rest,?)|其余的?|另外的?|剩下的?)\s*$")
_YEARS = re.compile(r"[ -]?(?:years?|winters|summers|年|载|多年|余年|个春秋)", re.IGNORECASE)
_AGED = re.compile(
    r"[ -]years?[ -](?:old|ago|of|later|young)|多?年(?:的?历史|前|来)", re.IGNORECASE
)
_TODAY = range(2018, 2036)
_DECADES = re.compile(r"[ -]?decades?|个?世纪|年代", re.IGNORECASE)
_AFTERNOON = re.compile(
    r"(?::00| )*(?:p\.?m\.?|in the (?:afternoon|evening)|at night)", re.IGNORECASE
)
_AFTERNOON_ZH = re.compile(r"(?:下午|晚上|傍晚|夜里|夜间)$")
_SET = re.compile(
    r"(?:24|twenty-four)[ -]?(?:hours?|/7|小时)|7 days|seven days|365|12 months|twelve months"
    r"|(?:100|hundred)(?: ?%| per ?cent)|360|(?:24|二十四)小时|百分之百",
    re.IGNORECASE,
)
_COUNT_NOTE = re.compile(r"[ -]?(?:words?|characters|个?字)", re.IGNORECASE)
_CHINESE_CLAIM = re.compile(
    r"[一二两三四五六七八九]?[十百千万][零〇一二两三四五六七八九十百千万]+|[一二三四五六七八九零〇]{4}"
)
_CHINESE_LOOSE = re.compile(r"[多几余来]|分")
_FIRST_YEAR, _LAST_YEAR = 1500, 2100
_NEAR, _NOW = Fraction(1, 20), range(2000, 2041)


@dataclass(frozen=True, slots=True)
class Known:
    """What a prompt holds, and what follows from it."""

    numbers: frozenset[Fraction]
    years: tuple[int, ...]
    calendar: frozenset[str]
    dates: frozenset[tuple[int, int]]

    @classmethod
    def read(
        cls,
        prompt: str,
        more: Sequence[Fraction],
        language: Language,
        requested: Sequence[int] = (),
    ) -> Known:
        """Read a prompt.

        Args:
            prompt: All its messages.
            more: Numbers that may be written beside its own.
            language: Of both.
            requested: Numbers of the request alone, such as a length: once each they tell
                nothing of what the text is about.
        """
        told = [number.value for number in read_numbers(prompt, language)]
        for length in requested:
            if Fraction(length) in told:
                told.remove(Fraction(length))
        numbers = {*told, *more}
        numbers |= {abs(number) for number in numbers}
        years = tuple(
            int(n) for n in sorted(numbers) if n.denominator == 1 and _FIRST_YEAR <= n <= _LAST_YEAR
        )
        return cls(
            frozenset(numbers),
            years,
            frozenset(name for name, _ in _calendar(prompt, language)),
            frozenset((month, day) for month, day, _ in _dates(prompt, language)),
        )


def invented_numbers(body: Body, known: Known) -> Iterator[Finding]:
    """Yield numbers that the prompt does not hold and that do not follow from it."""
    dated = [match.span() for match in _NUMERIC_DATE.finditer(body.folded)]
    for number in body.numbers:
        if number.value in known.numbers or not _is_claim(number, body):
            continue
        # Days and months of 12/5/1975 are judged as a date.
        if number.value <= 31 and any(start <= number.start < end for start, end in dated):
            continue
        if not _follows(number, body, known):
            written = number.text.strip()
            yield Finding(f"invented number: {written}", body.place(number.start, written))


def invented_days(body: Body, known: Known) -> Iterator[Finding]:
    """Yield weekdays, months and dates that the prompt does not name."""
    open_days = list(_open_days(body, known))
    for name, at in _calendar(body.text, body.language):
        if name not in known.calendar and not any(start <= at < end for start, end in open_days):
            yield Finding(f"invented date: {name}", at)
    for month, day, at in _dates(body.text, body.language):
        if known.dates and (month, day) not in known.dates:
            yield Finding(f"invented date: {_MONTH_NAMES[month - 1]} {day}", at)


def _open_days(body: Body, known: Known) -> Iterator[tuple[int, int]]:
    """Yield the ranges of weekdays that leave out the sheet's.

    What is closed on Monday is open from Tuesday to Sunday.
    """
    for match in _RANGE.finditer(body.text):
        first, last = (
            _DAYS.index(_day(match[side] or match[f"{side}_zh"])) for side in ("from", "to")
        )
        within = {_DAYS[(first + at) % 7] for at in range((last - first) % 7 + 1)}
        named = {_day(name) for name in known.calendar if _day(name) in _DAYS}
        if named and not within & named:
            yield match.span()


def _day(name: str) -> str:
    """Return the one spelling of a weekday in either language."""
    return _CHINESE_DAYS.get(name[-1], name.removesuffix("day"))


def _is_claim(number: Number, body: Body) -> bool:
    # A half, a third or a quarter counts nothing.
    if number.marker or number.ordinal or (number.value < 1 and number.value.denominator <= _PARTS):
        return False
    around = body.folded[max(0, number.start - 12) : number.end + 12]
    if _SET.search(around) and _SET.search(body.folded[number.start : number.end + 12]):
        return False
    if any(character.isdigit() for character in number.text):
        return not _COUNT_NOTE.match(body.folded[number.end : number.end + 6])
    if body.language == "zh":
        loose = _CHINESE_LOOSE.match(body.folded[number.end : number.end + 1])
        return (
            number.value > _SMALL
            and _CHINESE_CLAIM.fullmatch(number.text) is not None
            and not number.text.startswith(("百", "千", "万", "十百", "十千"))
            and not loose
        )
    return number.value > _SMALL and number.text.lower() not in _ROUND_WORDS


def _follows(number: Number, body: Body, known: Known) -> bool:
    value = number.value
    month, _, day = number.text.strip().partition("/")
    if month.isdecimal() and day.isdecimal():
        return not {(int(month), int(day)), (int(day), int(month))}.isdisjoint(known.dates)
    lead = body.folded[max(0, number.start - 30) : number.start]
    rest = body.folded[number.end : number.end + 24]
    if value.denominator != 1:
        return False
    hedged = HEDGE.search(lead) is not None
    if _follows_from_years(int(value), rest, known, hedged=hedged):
        return True
    if value <= 12 and (value + 12) in known.numbers:
        return bool(_AFTERNOON.match(rest) or _AFTERNOON_ZH.search(lead))
    if (
        12 < value <= 24
        and (value - 12) in known.numbers
        and rest.startswith((":", "   ", "点", "时"))
    ):
        return True
    if _REST_OF.search(lead) and any(
        value + other.value in known.numbers for other in body.numbers if other.value < value
    ):
        return True
    return hedged and any(
        abs(value - other) <= _NEAR * other for other in known.numbers if other >= 20
    )


def _follows_from_years(value: int, rest: str, known: Known, *, hedged: bool) -> bool:
    if not known.years:
        return False
    if rest.startswith("s") and value % 10 == 0:
        return any(
            value <= year < value + (100 if value % 100 == 0 else 10) for year in known.years
        )
    if _DECADES.match(rest):
        if rest.lstrip("个").startswith("世纪") and value in {
            year // 100 + 1 for year in known.years
        }:
            return True
        if rest.startswith("年代"):
            return value in {year % 100 // 10 * 10 for year in known.years}
        value *= 10
    elif not _YEARS.match(rest):
        return False
    apart = {abs(a - b) for a in known.years for b in known.years if a != b}
    if value in apart:
        return True
    if _AGED.match(rest) and any(year + value in _TODAY for year in known.years):
        return True
    since = {now - year for year in known.years for now in (_NOW[0], _NOW[-1])}
    near = any(abs(value - other) <= max(5, other // 10) for other in apart)
    return hedged and (near or min(since) - 10 <= value <= max(since))


def _calendar(text: str, language: Language) -> Iterator[tuple[str, int]]:
    """Yield the weekdays and months that a text names, each in one spelling."""
    for match in (*_WEEKDAYS_EN.finditer(text), *_MONTHS_EN.finditer(text)):
        group = match.lastindex or 1
        yield match[group], match.start(group)
    if language == "zh":
        for match in _WEEKDAYS_ZH.finditer(text):
            yield f"星期{match[1].replace('天', '日')}", match.start()
        for match in _MONTHS_ZH.finditer(text):
            yield f"{_numeral(match[1])}月", match.start()


def _dates(text: str, language: Language) -> Iterator[tuple[int, int, int]]:
    """Yield month, day and place of the dates in a text."""
    for match in _DATES_EN.finditer(text):
        name, day = match["month"] or match["month2"], match["day"] or match["day2"]
        yield _MONTH_NAMES.index(name) + 1, int(day), match.start()
    for match in _NUMERIC_DATE.finditer(text):
        a, b = int(match["a"] or match["a2"]), int(match["b"] or match["b2"])
        # What comes first, day or month, nobody can tell where both are possible.
        if match["year"] is not None and 1 <= a <= 12:
            yield a, b, match.start()
        elif match["year"] is None and a > 12 >= b >= 1:
            yield b, a, match.start()
    if language == "zh":
        for match in _DATES_ZH.finditer(text):
            month = _numeral(match["month"])
            if 1 <= month <= 12:
                yield month, _numeral(match["day"]), match.start()


def _numeral(numeral: str) -> int:
    if numeral.isdigit() and numeral.isascii():
        return int(numeral)
    words = find_number_words(numeral, "zh")
    return int(words[0].value) if words else 0
