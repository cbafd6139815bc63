"""Invented places, each with fifteen facts: their words, sentences, questions and targets."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.tasksets.generators.longform.words import words
from evalkit.types import Language

# The kinds of facts that are numbers: another one in their place is a contradiction.
_NUMBERS = frozenset({"year", "later", "price", "staff", "visitors", "one", "two"})
_ZH_MONTHS = ("一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")


@dataclass(frozen=True, slots=True)
class Subject:
    """A place with its facts.

    Attributes:
        name: In full, as in the middle of a sentence ("the Blue Heron Museum").
        bare: Its name alone.
        short: As the text goes on ("the museum").
        facts: Values by key, numbers as they are written.
        kind: What the words say of such places.
    """

    language: Language
    name: str
    bare: str
    short: str
    facts: Mapping[str, str]
    kind: Mapping[str, Any]

    def say(self, key: str, rng: random.Random) -> str:
        """Return a sentence that states a fact."""
        short = self.short
        sentence: str = rng.choice(self._of(key, "says"))
        return sentence.format(
            v=self.facts[key],
            The=short[0].upper() + short[1:],
            the=short,
            unit=self._unit(key),
        )

    def ask(self, key: str) -> str:
        """Return the question that a fact answers."""
        text: str = self._of(key, "ask")
        return text.format(name=self.name, unit=self._unit(key))

    def told(self, key: str) -> str:
        """Return what a fact is called in a request ("the founder")."""
        text: str = self._of(key, "told")
        return text.format(unit=self._unit(key), label=self.label(key))

    def label(self, key: str) -> str:
        """Return what a fact is called on a sheet."""
        label: str = self._of(key, "label")
        return label

    def fact(self, key: str, others: Iterable[Subject] = ()) -> dict[str, Any]:
        """Return what the scorer needs to know of a fact.

        Args:
            key: Of the fact.
            others: Places whose names and days must not stand in its place.
        """
        field, value = _field(self.language, key), self.facts[key]
        fact: dict[str, Any] = {"name": self.told(key), "values": ways(self, key)}
        noun = self.kind["noun"]
        before, after = (
            [cue.replace("SHORT", noun) for cue in field.get(side, ())]
            for side in ("before", "after")
        )
        cues = self.kind[key]["cues"] if key in self.kind else before
        if key in self.kind and self.language == "zh":
            after = [self.kind[key]["label"]]
        if cues:
            fact["before"] = list(cues)
        if after:
            fact["after"] = after
        if field["kind"] in _NUMBERS:
            fact["number"] = value.replace(",", "")
        elif field["kind"] in ("person", "street"):
            fact["is"] = field["kind"]
        if "verbs" in field:
            fact["verbs"] = list(field["verbs"])
        if field["kind"] in ("person", "street", "town", "weekday", "treasure"):
            fact["others"] = self._same_kind(field["kind"], value, others)
        if field["kind"] == "town":
            fact["values"] = town_ways(value, self.language, fact["others"])
        return fact

    def _same_kind(self, kind: str, value: str, others: Iterable[Subject]) -> list[str]:
        found = [
            place.facts[field["key"]]
            for place in (self, *others)
            for field in words(self.language)["fields"]
            if field["kind"] == kind and field["key"] in place.facts
        ]
        if kind == "treasure":
            found = list(self.kind["treasures"])
        if kind == "weekday":
            days = [day for day in words(self.language)["weekdays"] if day != value]
            return [way for day in days for way in _weekday(day, self.language)]
        return [one for one in dict.fromkeys(found) if one != value]

    def _of(self, key: str, what: str) -> Any:
        """Return what is said of a fact: of such places, or else of all."""
        own = self.kind.get(key, {})
        return own[what] if what in own else _field(self.language, key)[what]

    def _unit(self, key: str) -> str:
        return str(self.kind[key]["v"]) if key in self.kind else ""


def keys(language: Language) -> list[str]:
    """Return the keys of all facts, in the order of a sheet."""
    return [field["key"] for field in words(language)["fields"]]


def _field(language: Language, key: str) -> Mapping[str, Any]:
    fields: Sequence[Mapping[str, Any]] = words(language)["fields"]
    return fields[_order(language)[key]]


_ORDERS: dict[Language, dict[str, int]] = {}


def _order(language: Language) -> dict[str, int]:
    if language not in _ORDERS:
        _ORDERS[language] = {key: at for at, key in enumerate(keys(language))}
    return _ORDERS[language]


def ways(place: Subject, key: str) -> list[str]:
    """Return the ways to write a value, the sheet's own first."""
    value = place.facts[key]
    kind = _field(place.language, key)["kind"]
    if kind == "person" and place.language == "en":
        return [value, value.split()[-1]]
    if kind == "weekday":
        return _weekday(value, place.language)
    if kind == "date":
        return _dates(value, place.language)
    if kind == "town":
        return town_ways(value, place.language)
    return [value]


def _weekday(value: str, language: Language) -> list[str]:
    if language == "en":
        return [value, f"{value}s"]
    return [f"{lead}{day}" for lead in ("星期", "周", "礼拜") for day in _sunday(value[-1])]


def _sunday(day: str) -> tuple[str, ...]:
    return ("日", "天") if day == "日" else (day,)


def _dates(value: str, language: Language) -> list[str]:
    if language == "zh":
        month, day = value.removesuffix("日").split("月")
        spoken = _ZH_MONTHS[int(month) - 1]
        return [
            value,
            f"{month}月{day}号",
            f"{spoken}月{day}日",
            f"{spoken}月{chinese(int(day))}日",
        ]
    day, month = value.split()
    rank = f"{day}{ordinal(int(day))}"
    return [
        *(value, f"{month} {day}", f"{rank} of {month}", f"{month} {rank}", f"{rank} {month}"),
        *(f"{day} of {month}", f"{month} the {rank}"),
    ]


def ordinal(n: int) -> str:
    """Return the ending of a rank: st, nd, rd or th."""
    return "th" if 10 < n % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


def chinese(n: int) -> str:
    """Write a number up to 99 in Chinese."""
    digits = "零一二三四五六七八九"
    tens, ones = divmod(n, 10)
    head = "" if not tens else "十" if tens == 1 else f"{digits[tens]}十"
    return head + (digits[ones] if ones or not tens else "")


def subject(rng: random.Random, language: Language, told: Sequence[str] | None = None) -> Subject:
    """Make a place.

    Args:
        rng: Source of randomness.
        language: Of its words.
        told: Keys of the facts that it has; all by default.
    """
    table = words(language)
    kind = rng.choice(table["kinds"])
    first, second = rng.choice(table["name_first"]), rng.choice(table["name_second"])
    if language == "en":
        bare = f"{first} {second} {kind['noun'].capitalize()}"
        name, short = f"the {bare}", f"the {kind['noun']}"
    else:
        bare = name = f"{first}{second}{kind['noun']}"
        short = (
            f"这家{kind['noun']}"
            if kind["noun"] in ("旅馆", "面包坊", "剧院")
            else f"这座{kind['noun']}"
        )
        if kind["noun"] == "学校":
            short = "这所学校"
    used: set[str] = set()
    facts: dict[str, str] = {}
    for field in table["fields"]:
        if told is None or field["key"] in told:
            facts[field["key"]] = _value(rng, language, field["kind"], kind, facts, used)
    return Subject(language, name, bare, short, facts, kind)


def _value(
    rng: random.Random,
    language: Language,
    sort: str,
    kind: Mapping[str, Any],
    facts: Mapping[str, str],
    used: set[str],
) -> str:
    """Draw a value that the place does not have yet."""
    draw = _DRAWS[sort]
    for _ in range(20):
        value = draw(rng, language, kind, facts)
        if value not in used and used.isdisjoint(value.split()):
            break
    # No two people of a place share a name, and no number of it stands for two things.
    used.update((value, *value.split()))
    return value


def person(rng: random.Random, language: Language) -> str:
    """Return a full name."""
    table = words(language)
    given, family = rng.choice(table["given"]), rng.choice(table["family"])
    return f"{given} {family}" if language == "en" else f"{family}{given}"


def town(rng: random.Random, language: Language) -> str:
    """Return the name of a town."""
    table = words(language)
    return f"{rng.choice(table['town_first'])}{rng.choice(table['town_second'])}"


def town_ways(name: str, language: Language, others: Iterable[str] = ()) -> list[str]:
    """Return the ways to write a town; 镇 or 县 may be left out where no other differs in it."""
    stem = name[:-1]
    if language == "en" or any(other[:-1] == stem for other in others if other != name):
        return [name]
    return [name, stem]


def _street(rng: random.Random, language: Language) -> str:
    table = words(language)
    gap = " " if language == "en" else ""
    return f"{rng.choice(table['streets'])}{gap}{rng.choice(table['street_kind'])}"


def _date(rng: random.Random, language: Language) -> str:
    # The thirteenth to the twenty-eighth: no date can be read the other way round.
    month, day = rng.choice(words(language)["months"]), rng.randint(13, 28)
    return f"{day} {month}" if language == "en" else f"{month}月{day}日"


def _later(rng: random.Random, facts: Mapping[str, str]) -> str:
    founded = int(facts.get("founded", "1890"))
    return str(rng.randint(founded + 15, 2012))


_Draw = Callable[[random.Random, Language, Mapping[str, Any], Mapping[str, str]], str]
_DRAWS: Mapping[str, _Draw] = {
    "town": lambda rng, language, kind, facts: town(rng, language),
    "street": lambda rng, language, kind, facts: _street(rng, language),
    "person": lambda rng, language, kind, facts: person(rng, language),
    "year": lambda rng, language, kind, facts: str(rng.randint(1821, 1968)),
    "later": lambda rng, language, kind, facts: _later(rng, facts),
    "weekday": lambda rng, language, kind, facts: rng.choice(words(language)["weekdays"]),
    "date": lambda rng, language, kind, facts: _date(rng, language),
    "price": lambda rng, language, kind, facts: str(rng.randint(3, 29)),
    "staff": lambda rng, language, kind, facts: str(rng.randint(11, 98)),
    "visitors": lambda rng, language, kind, facts: (
        f"{rng.randint(11, 94)},{rng.randint(1, 9)}00"
        if language == "en"
        else f"{rng.randint(11, 94)}{rng.randint(1, 9)}00"
    ),
    "one": lambda rng, language, kind, facts: str(
        rng.randint(kind["one"]["low"], kind["one"]["high"])
    ),
    "two": lambda rng, language, kind, facts: str(
        rng.randint(kind["two"]["low"], kind["two"]["high"])
    ),
    "treasure": lambda rng, language, kind, facts: rng.choice(kind["treasures"]),
}
