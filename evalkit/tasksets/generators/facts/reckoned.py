"""Questions whose answer follows from a rule that one knows: units, calendar, numerals."""

from __future__ import annotations

import random
from calendar import monthrange
from collections.abc import Mapping, Sequence

from evalkit.tasksets.generators.base import Level
from evalkit.tasksets.generators.facts.knowledge import Question, choose
from evalkit.types import Language

# (larger unit, smaller unit, how many) in both languages.
_UNITS: Sequence[tuple[tuple[str, str], tuple[str, str], int]] = (
    (("minutes", "分钟"), ("seconds", "秒"), 60),
    (("hours", "小时"), ("minutes", "分钟"), 60),
    (("days", "天"), ("hours", "小时"), 24),
    (("weeks", "周"), ("days", "天"), 7),
    (("years", "年"), ("months", "个月"), 12),
    (("centuries", "个世纪"), ("years", "年"), 100),
    (("kilometers", "千米"), ("meters", "米"), 1000),
    (("meters", "米"), ("centimeters", "厘米"), 100),
    (("centimeters", "厘米"), ("millimeters", "毫米"), 10),
    (("kilograms", "千克"), ("grams", "克"), 1000),
    (("tonnes", "吨"), ("kilograms", "千克"), 1000),
    (("liters", "升"), ("milliliters", "毫升"), 1000),
    (("feet", "英尺"), ("inches", "英寸"), 12),
    (("yards", "码"), ("feet", "英尺"), 3),
    (("pounds", "磅"), ("ounces", "盎司"), 16),
    (("dozens", "打"), ("pieces", "个"), 12),
    (("hectares", "公顷"), ("square meters", "平方米"), 10_000),
    (("square meters", "平方米"), ("square decimeters", "平方分米"), 100),
)
_MONTHS = (
    ("January", 1), ("February", 2), ("March", 3), ("April", 4), ("May", 5), ("June", 6),
    ("July", 7), ("August", 8), ("September", 9), ("October", 10), ("November", 11),
    ("December", 12),
)  # fmt: skip
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


def _number(text: str, category: str, value: int, level: Level, place: str = "last") -> Question:
    target = {"kind": "number", "value": str(value), "place": place}
    return Question(text, category, target, level)


def conversion(rng: random.Random, language: Language) -> Question:
    """Ask how many of a smaller unit make some of a larger one."""
    large, small, times = rng.choice(_UNITS)
    n = rng.randint(2, 40)
    at = 0 if language == "en" else 1
    ways: Mapping[Language, Sequence[str]] = {
        "en": ("How many {small} are {n} {large}?", "{n} {large} are how many {small}?"),
        "zh": ("{n}{large}等于多少{small}？", "{n}{large}是多少{small}？"),
    }
    text = choose(rng, language, ways).format(n=n, large=large[at], small=small[at])
    return _number(text, "units", n * times, "easy" if n <= 12 else "medium")


def days_of_a_month(rng: random.Random, language: Language) -> Question:
    """Ask for the length of a month; half of the time it is a February."""
    year = rng.randint(1601, 2399)
    name, month = _MONTHS[1] if rng.random() < 0.5 else rng.choice(_MONTHS)
    ways: Mapping[Language, Sequence[str]] = {
        "en": (f"How many days does {name} {year} have?",),
        "zh": (f"{year}年{month}月有多少天？",),
    }
    level: Level = "hard" if month == 2 and year % 100 == 0 else "medium"
    length = monthrange(year, month)[1]
    # The reason that follows ("since it is divisible by 4") holds numbers too.
    return _number(choose(rng, language, ways), "calendar", length, level, place="first")


def roman_numeral(rng: random.Random, language: Language) -> Question:
    """Ask for the value of a Roman numeral."""
    value = rest = rng.choice((rng.randint(4, 60), rng.randint(61, 2999)))
    numeral = ""
    for size, sign in _ROMAN:
        numeral += sign * (rest // size)
        rest %= size
    ways: Mapping[Language, Sequence[str]] = {
        "en": (
            f"Which number is written {numeral} in Roman numerals?",
            f"What is the value of the Roman numeral {numeral}? Answer in digits.",
        ),
        "zh": (f"罗马数字{numeral}表示哪个数？请用阿拉伯数字回答。",),
    }
    return _number(choose(rng, language, ways), "numerals", value, "easy" if value < 61 else "hard")
