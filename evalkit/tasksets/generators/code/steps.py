"""Composed problems: a list goes through a few steps, in order, and gives a result."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalkit.tasksets.generators.base import Level
from evalkit.tasksets.generators.code.problem import Problem, fill, read_problems

_ARGUMENT = {"integers": "xs", "words": "words"}
_INPUT = {"integers": "ints", "words": "words"}
_OPENING = {
    "integers": ("goes through these steps with the list of integers", "对整数列表"),
    "words": ("goes through these steps with the list of lower-case words", "对小写单词列表"),
}
_NAMES = ("process", "run_steps", "pipeline", "solve", "work_through", "apply_steps")
_LEVELS: tuple[Level, ...] = ("easy", "medium", "hard", "hard")


class Step(NamedTuple):
    """One step: its kind, its wordings, and a line of Python on the values `v`."""

    kind: str
    en: str
    zh: str
    line: str


def pieces() -> Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]]:
    """Return the pieces by kind of value, by role, and by name."""
    read: Mapping[str, Any] = read_problems("steps")
    return read


def composed(rng: random.Random) -> Problem:
    """Compose a problem of one to four steps before its result."""
    values = rng.choice(("integers", "integers", "words"))
    size = rng.randint(1, 4)
    middle: list[Step] = []
    while len(middle) < size:
        step = _draw(values, rng.choice(("filters", "filters", "maps", "maps", "wholes")), rng)
        if not middle or step.kind != middle[-1].kind:
            middle.append(step)
    steps = [*middle, _draw(values, "results", rng)]
    function, argument = rng.choice(_NAMES), _ARGUMENT[values]
    wrong = [_program(function, argument, rest) for rest in _slips(steps)]
    opening = _OPENING[values]
    return Problem(
        id=f"{values}:{'-'.join(step.kind for step in steps)}",
        category="steps",
        level=_LEVELS[size - 1],
        statement={
            "en": f"{opening[0]} `{argument}`: " + _numbered([s.en for s in steps], "; "),
            "zh": f"{opening[1]} `{argument}` 依次执行以下步骤："
            + _numbered([s.zh for s in steps], "；"),
        },
        function=function,
        arguments={argument: _INPUT[values]},
        parameters={},
        edges=([[]],),
        reference=_program(function, argument, steps),
        wrong=tuple(wrong),
    )


def _draw(values: str, role: str, rng: random.Random) -> Step:
    name = rng.choice(sorted(pieces()[values][role]))
    piece = pieces()[values][role][name]
    c, d = rng.sample("aeinorst", 2)
    chosen = {
        "k": rng.randint(-3, 6), "m": rng.randint(2, 5), "n": rng.randint(2, 4),
        "c": c, "d": d, "s": rng.choice(("-", "+", "/", ", ", "_")),
    }  # fmt: skip
    code = fill(piece["code"], chosen)
    line = {
        "filters": f"v = [x for x in v if {code}]",
        "maps": f"v = [{code} for x in v]",
        "wholes": f"v = {code}",
        "results": f"return {code}",
    }[role]
    return Step(name, fill(piece["en"], chosen), fill(piece["zh"], chosen), line)


def _slips(steps: Sequence[Step]) -> list[list[Step]]:
    """Return the steps with one left out or two changed about: ways to get it wrong."""
    middle, result = list(steps[:-1]), steps[-1]
    lists = [[*middle[:i], *middle[i + 1 :]] for i in range(len(middle))]
    lists += [
        [*middle[:i], middle[i + 1], middle[i], *middle[i + 2 :]] for i in range(len(middle) - 1)
    ]
    lists.append([*middle, Step("", "", "", "v = v[:-1]")])
    return [[*changed, result] for changed in lists]


def _program(function: str, argument: str, steps: Sequence[Step]) -> str:
    lines = [f"v = list({argument})", *(step.line for step in steps)]
    return f"def {function}({argument}):\n" + "".join(f"    {line}\n" for line in lines)


def _numbered(texts: Sequence[str], between: str) -> str:
    return between.join(f"({i}) {text}" for i, text in enumerate(texts, 1))
