"""Inputs for tests, by kind: small, varied, and with the odd cases in reach."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from evalkit.tasksets.generators.code.problem import Parameters

_WORDS = [
    "a",
    "an",
    "as",
    "at",
    "be",
    "by",
    "do",
    "go",
    "in",
    "it",
    "of",
    "on",
    "to",
    "up",
    "we",
    "and",
    "are",
    "big",
    "cat",
    "day",
    "ear",
    "fox",
    "get",
    "hat",
    "ice",
    "jar",
    "key",
    "lid",
    "map",
    "net",
    "oak",
    "pen",
    "red",
    "sea",
    "sun",
    "tea",
    "use",
    "van",
    "way",
    "zoo",
    "bird",
    "book",
    "cake",
    "door",
    "east",
    "fish",
    "goat",
    "hill",
    "iron",
    "jazz",
    "kite",
    "lamp",
    "moon",
    "nose",
    "open",
    "pear",
    "rain",
    "salt",
    "tree",
    "undo",
    "vase",
    "wave",
    "yard",
    "apple",
    "bread",
    "chair",
    "dream",
    "eagle",
    "flute",
    "grape",
    "house",
    "igloo",
    "juice",
    "lemon",
    "music",
    "night",
    "ocean",
    "paper",
    "queen",
    "river",
    "stone",
    "train",
    "under",
    "voice",
    "water",
    "zebra",
    "animal",
    "bottle",
    "circle",
    "desert",
    "engine",
    "forest",
    "garden",
]


def draw(kind: str, rng: random.Random, parameters: Parameters) -> Any:
    """Draw one input of a kind."""
    return KINDS[kind](rng, parameters)


def _whole(low: int, high: int) -> Callable[[random.Random, Parameters], int]:
    return lambda rng, _: rng.randint(low, high)


def _wholes(low: int, high: int, least: int, most: int) -> Callable[..., list[int]]:
    return lambda rng, _: [rng.randint(low, high) for _ in range(rng.randint(least, most))]


def _string(alphabet: str, least: int, most: int) -> Callable[[random.Random, Parameters], str]:
    return lambda rng, _: "".join(rng.choice(alphabet) for _ in range(rng.randint(least, most)))


def _words(rng: random.Random, least: int, most: int) -> list[str]:
    return [rng.choice(_WORDS) for _ in range(rng.randint(least, most))]


def _matrix(low: int, high: int, square: bool = False) -> Callable[..., list[list[int]]]:
    def make(rng: random.Random, parameters: Parameters) -> list[list[int]]:
        rows = rng.randint(1, 4)
        columns = rows if square else rng.randint(1, 4)
        return [[rng.randint(low, high) for _ in range(columns)] for _ in range(rows)]

    return make


def _sorted_or_not(rng: random.Random, parameters: Parameters) -> list[int]:
    values = [rng.randint(-9, 9) for _ in range(rng.randint(0, 6))]
    return sorted(values) if rng.random() < 0.5 else values


def _nested(rng: random.Random, parameters: Parameters, depth: int = 0) -> list[Any]:
    return [
        _nested(rng, parameters, depth + 1)
        if depth < 3 and rng.random() < 0.35
        else rng.randint(0, 9)
        for _ in range(rng.randint(0, 4))
    ]


def _mixed_text(rng: random.Random, parameters: Parameters) -> str:
    parts = [
        rng.choice((str.lower, str.title, str.upper))(rng.choice(_WORDS))
        if rng.random() < 0.7
        else str(rng.randint(0, 120))
        for _ in range(rng.randint(0, 4))
    ]
    return "".join(part + rng.choice(("", " ", ", ", "-", "!")) for part in parts)


def _text(rng: random.Random, parameters: Parameters) -> str:
    return rng.choice((" ", " ", "  ")).join(_words(rng, 0, 6))


def _mirrored(rng: random.Random, joints: tuple[str, ...]) -> str:
    half = [rng.choice("abcAB12") for _ in range(rng.randint(0, 4))]
    letters = [*half, *rng.sample("xyz", rng.randint(0, 1)), *half[::-1]]
    if letters and rng.random() < 0.4:
        letters[rng.randrange(len(letters))] = rng.choice("abc")
    cased = (rng.choice((str.lower, str.upper))(c) for c in letters)
    return "".join(c + rng.choice(joints) for c in cased)


def _parens(rng: random.Random, parameters: Parameters) -> str:
    out, depth = "", 0
    for _ in range(rng.randint(0, 10)):
        choice = rng.choice("(()a" if depth < 4 else ")a")
        if choice == ")" and depth == 0:
            continue
        depth += (choice == "(") - (choice == ")")
        out += choice
    return out + ")" * depth


def _brackets(rng: random.Random, parameters: Parameters) -> str:
    out = ""
    for _ in range(rng.randint(0, 4)):
        place = rng.randint(0, len(out))
        out = out[:place] + rng.choice(("()", "[]", "{}")) + out[place:]
    if out and rng.random() < 0.5:
        place = rng.randrange(len(out))
        out = out[:place] + rng.choice(("", rng.choice("()[]{}"))) + out[place + 1 :]
    return out


def _intervals(rng: random.Random, parameters: Parameters) -> list[list[int]]:
    starts = [rng.randint(0, 25) for _ in range(rng.randint(0, 5))]
    return [[start, start + rng.randint(0, 6)] for start in starts]


def _query(rng: random.Random, parameters: Parameters) -> str:
    between, inside = parameters["a"], parameters["b"]
    entries = [
        rng.choice(("", "x", "key")) if rng.random() < 0.25
        else rng.choice(("x", "y", "name", "key")) + inside + rng.choice(("", "1", "on", "42"))
        for _ in range(rng.randint(0, 4))
    ]  # fmt: skip
    return str(between).join(entries)


def _numbers_text(rng: random.Random, parameters: Parameters) -> str:
    spaced = (f"{rng.choice(('', ' '))}{rng.randint(-20, 99)}" for _ in range(rng.randint(0, 5)))
    return str(parameters["sep"]).join(spaced)


def _prefixed(rng: random.Random, parameters: Parameters) -> list[str]:
    start = _string("ab", 0, 4)(rng, {})
    return [
        start[: rng.randint(2, 5)] + _string("abc", 0, 3)(rng, {}) for _ in range(rng.randint(0, 4))
    ]


def _int_dict(rng: random.Random, parameters: Parameters) -> dict[str, int]:
    keys = rng.sample("abcdefg", rng.randint(0, 5))
    return {key: rng.randint(-5, 15) for key in keys}


def _str_dict(rng: random.Random, parameters: Parameters) -> dict[str, str]:
    keys = rng.sample(("ann", "bob", "cat", "dan", "eve", "fay"), rng.randint(0, 6))
    return {key: rng.choice(("red", "blue", "gold")) for key in keys}


def _rpn(rng: random.Random, parameters: Parameters) -> list[str]:
    tokens, height = [str(rng.randint(-9, 9))], 1
    for _ in range(rng.randint(1, 8)):
        if height > 1 and rng.random() < 0.5:
            tokens.append(rng.choice("+-*"))
            height -= 1
        else:
            tokens.append(str(rng.randint(-9, 9)))
            height += 1
    return tokens + [rng.choice("+-*") for _ in range(height - 1)]


def _sum_text(rng: random.Random, parameters: Parameters) -> str:
    return "".join(
        f"{rng.choice('+-*') if i else ''}{rng.randint(0, 20)}" for i in range(rng.randint(1, 5))
    )


def _edges(rng: random.Random, parameters: Parameters) -> list[list[int]]:
    return [[rng.randint(0, 6), rng.randint(0, 6)] for _ in range(rng.randint(0, 6))]


def _ops(rng: random.Random, parameters: Parameters) -> list[str]:
    kinds = (f"push {rng.randint(-9, 9)}", "pop", "dup")
    return [
        f"push {rng.randint(-9, 9)}" if rng.random() < 0.5 else rng.choice(kinds[1:])
        for _ in range(rng.randint(0, 7))
    ]


KINDS: Mapping[str, Callable[[random.Random, Parameters], Any]] = {
    "int": _whole(-50, 50),
    "small": _whole(1, 9),
    "few": _whole(0, 15),
    "nat": _whole(0, 45),
    "percent": _whole(0, 100),
    "minutes": _whole(0, 3000),
    "year": _whole(1890, 2110),
    "hundreds": _whole(0, 999),
    "big": _whole(0, 99999),
    "wide": _whole(-9999, 9999),
    "one_to_30": _whole(1, 30),
    "one_to_200": _whole(1, 200),
    "ints": _wholes(-12, 20, 0, 8),
    "ints1": _wholes(-12, 20, 1, 8),
    "pos": _wholes(1, 20, 0, 6),
    "dups": _wholes(0, 4, 0, 8),
    "dups1": _wholes(0, 3, 1, 8),
    "sorted": lambda rng, _: sorted(_wholes(-9, 12, 0, 7)(rng, {})),
    "sorted_or_not": _sorted_or_not,
    "nested": _nested,
    "matrix": _matrix(-9, 20),
    "square": _matrix(-9, 20, square=True),
    "bit_matrix": _matrix(0, 1),
    "cost_matrix": _matrix(0, 9),
    "intervals": _intervals,
    "edges": _edges,
    "ternary": lambda rng, _: "".join(rng.choice("012") for _ in range(rng.randint(1, 6))),
    "letters": _string("aaabbc", 0, 10),
    "letters_short": _string("abc", 0, 5),
    "anagram": _string("aab", 0, 4),
    "word1": lambda rng, _: rng.choice(_WORDS),
    "word": lambda rng, _: rng.choice(_WORDS) * rng.randint(0, 2),
    "text": _text,
    "text1": lambda rng, _: " ".join(_words(rng, 1, 4)),
    "mixed_text": _mixed_text,
    "near_palindrome": lambda rng, _: _mirrored(rng, ("",)),
    "near_palindrome_text": lambda rng, _: _mirrored(rng, ("", "", " ", ", ", "!")),
    "encoded": lambda rng, _: "".join(
        f"{rng.choice('abcxyz')}{rng.choice((0, 1, 2, 3, 5, 10, 12))}"
        for _ in range(rng.randint(0, 4))
    ),
    "brackets": _brackets,
    "parens": _parens,
    "prefixed": _prefixed,
    "snake": lambda rng, _: "_".join(_words(rng, 1, 4)),
    "camel": lambda rng, _: "".join(
        word.title() if i or rng.random() < 0.2 else word
        for i, word in enumerate(_words(rng, 1, 4))
    ),
    "query": _query,
    "numbers_text": _numbers_text,
    "words": lambda rng, _: _words(rng, 0, 6),
    "words1": lambda rng, _: _words(rng, 1, 6),
    "words_dup": lambda rng, _: [
        rng.choice(("ant", "bee", "cow")) for _ in range(rng.randint(0, 6))
    ],
    "version": lambda rng, _: ".".join(
        str(rng.choice((0, 1, 2, 9, 10))) for _ in range(rng.randint(1, 3))
    ),
    "str_dict": _str_dict,
    "int_dict": _int_dict,
    "moves": _string("UDLR", 0, 8),
    "rpn": _rpn,
    "sum_text": _sum_text,
    "ops": _ops,
}
