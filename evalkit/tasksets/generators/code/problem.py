"""What a problem is, and how templates of problems become problems.

A template lies in `tasksets/code-fresh/problems/*.yaml`: a name, wordings, a reference and
changes that make it wrong, with `$parameters` in all of them.
"""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from evalkit.resources import resource_dir
from evalkit.tasksets.generators.base import Level
from evalkit.types import Language

FOLDER = "code-fresh"
CATEGORIES = ("basics", "numbers", "lists", "strings", "records")
Parameters = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """A function to write.

    Attributes:
        id: Of its template, or of its shape: problems that share it are not independent.
        statement: What the function does, from "returns" on, by language.
        function: Its name.
        arguments: From the name of each argument to its kind of input.
        parameters: What was filled in; some kinds of input depend on it.
        edges: Lists of arguments that are always tested.
        reference: The source of a right solution.
        wrong: The sources of wrong ones.
    """

    id: str
    category: str
    level: Level
    statement: Mapping[Language, str]
    function: str
    arguments: Mapping[str, str]
    parameters: Parameters
    edges: tuple[list[Any], ...]
    reference: str
    wrong: tuple[str, ...]

    @property
    def signature(self) -> str:
        """Name and arguments, as in a call."""
        return f"{self.function}({', '.join(self.arguments)})"


@cache
def read_problems(name: str) -> Any:
    """Read one of the files of problems."""
    path = resource_dir("tasksets") / FOLDER / "problems" / f"{name}.yaml"
    return yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


@cache
def templates() -> tuple[Mapping[str, Any], ...]:
    """Return all templates, each with its category."""
    return tuple(
        {**entry, "category": category}
        for category in CATEGORIES
        for entry in read_problems(category)
    )


def from_template(template: Mapping[str, Any], rng: random.Random) -> Problem:
    """Fill a template with parameters and a name."""
    chosen: dict[str, Any] = {k: rng.choice(v) for k, v in template.get("params", {}).items()}
    function = rng.choice(template["names"])
    body = template["body"]
    values = {**chosen, "name": function}
    head = f"def {function}({', '.join(template['args'])}):\n"

    def program(text: str) -> str:
        return head + textwrap.indent(fill(text, values), "    ").rstrip() + "\n"

    return Problem(
        id=template["id"],
        category=template["category"],
        level=template["level"],
        statement={"en": fill(template["en"], chosen), "zh": fill(template["zh"], chosen)},
        function=function,
        arguments=template["args"],
        parameters=chosen,
        edges=tuple(filled(edge, chosen) for edge in template["edges"]),
        reference=program(body),
        wrong=tuple(program(changed(body, change)) for change in template["wrong"]),
    )


def changed(body: str, change: str) -> str:
    """Apply a change, "old => new", to its first place; a new text may be "|line|line".

    Raises:
        ValueError: When the old text is not there.
    """
    old, arrow, new = change.partition(" => ")
    if not arrow or old not in body:
        raise ValueError(f"the change {change!r} does not fit the body:\n{body}")
    return body.replace(old, new.replace("|", "\n") if new.startswith("|") else new, 1)


def fill(text: str, values: Parameters) -> str:
    """Put values in place of `$name`; the longest name that fits counts."""
    if not values:
        return text
    names = "|".join(sorted(map(re.escape, values), key=len, reverse=True))
    return re.sub(rf"\$({names})", lambda found: str(values[found[1]]), text)


def filled(value: Any, values: Parameters) -> Any:
    """Put values in place of `$name` within data; a lone `$name` or `-$name` keeps its type."""
    if isinstance(value, Mapping):
        return {filled(k, values): filled(v, values) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [filled(item, values) for item in value]
    if not isinstance(value, str):
        return value
    lone = re.fullmatch(r"(-?)\$(\w+)", value)
    if lone and isinstance(values.get(lone[2]), int):
        return -values[lone[2]] if lone[1] else values[lone[2]]
    return fill(value, values)
