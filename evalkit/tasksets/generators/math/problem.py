"""What a template of word problems draws from, and what it returns."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from evalkit.tasksets.generators.base import Level

T = TypeVar("T")
Pair = tuple[str, str]
"""A text in English and in Chinese."""

DOLLARS: Pair = ("dollar", "元")

_PEOPLE: tuple[Pair, ...] = (
    ("Anna", "小安"),
    ("Ben", "小斌"),
    ("Carla", "佳佳"),
    ("David", "大卫"),
    ("Emma", "艾玛"),
    ("Felix", "小飞"),
    ("Grace", "格格"),
    ("Henry", "小恒"),
    ("Irene", "依依"),
    ("Jack", "小杰"),
    ("Karen", "可可"),
    ("Leo", "乐乐"),
    ("Maria", "美美"),
    ("Nathan", "小南"),
    ("Olivia", "欧阳"),
    ("Peter", "小彭"),
    ("Rachel", "瑞秋"),
    ("Sam", "小山"),
    ("Tina", "婷婷"),
    ("Victor", "维维"),
    ("Wendy", "文文"),
    ("Oscar", "小奥"),
    ("Julia", "朱莉"),
    ("Martin", "小马"),
    ("Nora", "诺诺"),
    ("Paul", "小宝"),
    ("Lucy", "璐璐"),
    ("Simon", "西蒙"),
    ("Helen", "海伦"),
    ("Daniel", "丹丹"),
)


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that can be counted: its plural, and its Chinese name with measure word."""

    en: str
    zh: str
    measure: str

    def counted(self, n: int) -> str:
        """Return "3支铅笔"."""
        return f"{n}{self.measure}{self.zh}"


_THINGS = tuple(
    Thing(*row.split("/"))
    for row in (
        "pencils/铅笔/支",
        "stickers/贴纸/张",
        "marbles/弹珠/颗",
        "postcards/明信片/张",
        "apples/苹果/个",
        "books/书/本",
        "stamps/邮票/张",
        "cookies/饼干/块",
        "buttons/纽扣/颗",
        "balloons/气球/个",
        "shells/贝壳/个",
        "photos/照片/张",
        "candles/蜡烛/支",
        "cards/卡片/张",
        "flowers/花/朵",
        "cups/杯子/个",
        "lemons/柠檬/个",
        "notebooks/笔记本/本",
    )
)
_SIZES: dict[Level, tuple[int, int]] = {"easy": (2, 12), "medium": (6, 60), "hard": (25, 480)}


class Dice:
    """The choices of one problem. `level` scales the numbers."""

    def __init__(self, rng: random.Random, level: Level) -> None:
        self._rng = rng
        self.level = level

    def whole(self, low: int, high: int) -> int:
        """Return a whole number, both ends included."""
        return self._rng.randint(low, high)

    def step(self, low: int, high: int, by: int) -> int:
        """Return a multiple of `by`."""
        return by * self._rng.randint(-(-low // by), high // by)

    def count(self) -> int:
        """Return a number of things, as large as the level says."""
        return self._rng.randint(*_SIZES[self.level])

    def few(self) -> int:
        """Return a factor: a number of groups, of days, of people."""
        return self._rng.randint(*{"easy": (2, 5), "medium": (3, 12), "hard": (6, 24)}[self.level])

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of them."""
        return self._rng.choice(choices)

    def sample(self, choices: Sequence[T], n: int) -> list[T]:
        """Return `n` different ones."""
        return self._rng.sample(choices, n)

    def chance(self, share: float) -> bool:
        """Return whether something happens."""
        return self._rng.random() < share

    def person(self) -> Pair:
        """Return somebody's name."""
        return self.pick(_PEOPLE)

    def people(self, n: int) -> list[Pair]:
        """Return different names."""
        return self.sample(_PEOPLE, n)

    def thing(self) -> Thing:
        """Return something that can be counted."""
        return self.pick(_THINGS)

    def cents(self, low: int, high: int) -> Fraction:
        """Return a price between two numbers of dollars, in steps of 5 cents."""
        return Fraction(self.step(100 * low, 100 * high, 5), 100)


@dataclass(frozen=True, slots=True)
class Problem:
    """A story and a question, each in both languages, with the one answer.

    Attributes:
        steps: Operations from the numbers of the story to the answer.
        unit: Of the answer, where it has one.
        percent: Whether the question asks for a percentage.
        as_fraction: Whether the question asks for a fraction.
    """

    story: Pair
    question: Pair
    answer: Fraction | int
    steps: int
    unit: Pair | None = None
    percent: bool = False
    as_fraction: bool = False


Maker = Callable[[Dice], Problem]


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of problem. The levels say how large its numbers may grow."""

    name: str
    category: str
    make: Maker
    levels: tuple[Level, ...]


TEMPLATES: dict[str, Template] = {}


def template(
    category: str, levels: Sequence[Level] = ("easy", "medium", "hard")
) -> Callable[[Maker], Maker]:
    """Return a decorator that adds a template under its function's name."""

    def decorate(make: Maker) -> Maker:
        name = make.__name__
        if name in TEMPLATES:
            raise ValueError(f"two templates are named '{name}'")
        TEMPLATES[name] = Template(name, category, make, tuple(levels))
        return make

    return decorate


def written(value: Fraction | int) -> str:
    """Write a number as people do: `12`, `2.5`, or `2/3` where no decimal is exact."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    digits = next(d for d in range(1, 12) if (value * 10**d).denominator == 1)
    scaled = int(value * 10**digits)
    sign, scaled = ("-", -scaled) if scaled < 0 else ("", scaled)
    whole, part = divmod(scaled, 10**digits)
    return f"{sign}{whole}.{part:0{digits}d}"


def priced(value: Fraction) -> str:
    """Write an amount of money: `3`, or `3.50`."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.2f}"
