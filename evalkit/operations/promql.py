"""A strict reader of the PromQL that evalkit writes, for where promtool is not installed.

It knows the grammar of numbers, strings, durations, selectors, functions, aggregations and
operators with their precedence and matching, and the types that functions take: what it
accepts, Prometheus accepts. What evalkit does not write (subqueries, offsets, `@`) it refuses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<duration>(?:[0-9]+(?:ms|[smhdwy]))+)(?![A-Za-z0-9_.])
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![A-Za-z0-9_.])
    |(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)
    |(?P<string>"(?:[^"\\\n]|\\[abfnrtv\\"]|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4})*")
    |(?P<sign>=~|!~|!=|==|>=|<=|[-+*/%^<>=(){}\[\],])""",
    re.VERBOSE,
)
_LABEL: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_DURATION: Final = re.compile(
    "([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?"
)
_OVER_RANGE: Final = frozenset(
    {"rate", "increase", "avg_over_time", "max_over_time", "changes", "resets", "deriv"}
)
_AGGREGATIONS: Final = frozenset({"sum", "max", "min", "avg", "count"})
_LEVELS: Final = (
    ("or",),
    ("and", "unless"),
    ("==", "!=", ">", "<", ">=", "<="),
    ("+", "-"),
    ("*", "/", "%"),
)
_SETS: Final = ("and", "or", "unless")
_DEEPEST: Final = 50


class PromqlError(ValueError):
    """What is not PromQL, or not of the kind that evalkit writes."""


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int


def check_promql(text: str) -> None:
    """Read an expression as a whole; it must be a vector.

    Raises:
        PromqlError: When it is none.

    >>> check_promql('sum by (job) (rate(a_total{b="c"}[5m])) > 0.5')
    """
    reader = _Reader(list(_tokens(text)))
    kind = reader.operators(0)
    if reader.now.kind != "end":
        raise reader.wrong("an operator or the end")
    if kind != "vector":
        raise PromqlError(f"it is a {kind}, and an alert needs a vector")


def is_duration(text: str) -> bool:
    """Whether a text is a duration: `5m`, `1h30m`."""
    return bool(text) and _DURATION.fullmatch(text) is not None and any(c in text for c in "smhdwy")


def _tokens(text: str) -> list[_Token]:
    found, place = [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise PromqlError(f"'{text[place : place + 10]}' at {place} is no part of PromQL")
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(_Token(kind, match.group(), place))
        place = match.end()
    found.append(_Token("end", "", place))
    return found


class _Reader:
    """Recursive descent: each method reads one rule of the grammar and returns its type."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    @property
    def now(self) -> _Token:
        return self._tokens[self._place]

    def wrong(self, wanted: str) -> PromqlError:
        got = f"'{self.now.text}'" if self.now.text else "the end"
        return PromqlError(f"{got} at {self.now.place} stands where {wanted} should")

    def take(self, *texts: str) -> str:
        if self.now.kind not in ("sign", "name") or self.now.text not in texts:
            raise self.wrong(" or ".join(texts))
        return self.next().text

    def next(self) -> _Token:
        found = self.now
        self._place += 1
        return found

    def sees(self, *texts: str) -> bool:
        return self.now.kind in ("sign", "name") and self.now.text in texts

    def operators(self, level: int) -> str:
        if level == len(_LEVELS):
            return self.unary()
        left = self.operators(level + 1)
        while self.sees(*_LEVELS[level]):
            sign = self.next().text
            boolean = self.sees("bool") and bool(self.next())
            matched = self.sees("on", "ignoring") and bool(self.next()) and self.labels()
            right = self.operators(level + 1)
            left = self.joined(sign, left, right, boolean=boolean, matched=bool(matched))
        return left

    def joined(self, sign: str, left: str, right: str, *, boolean: bool, matched: bool) -> str:
        kinds = {left, right}
        if not kinds <= {"vector", "scalar"}:
            raise PromqlError(f"{sign} joins a {left} and a {right}")
        compares = sign in _LEVELS[2]
        if (sign in _SETS or matched) and kinds != {"vector"}:
            raise PromqlError(f"{sign} needs a vector on both sides")
        if boolean and not compares:
            raise PromqlError("bool belongs to comparisons")
        if compares and kinds == {"scalar"} and not boolean:
            raise PromqlError(f"{sign} of two numbers needs bool")
        return "vector" if "vector" in kinds else "scalar"

    def unary(self) -> str:
        if self.sees("-", "+"):
            self.next()
            kind = self.unary()
            if kind not in ("vector", "scalar"):
                raise PromqlError(f"a {kind} has no sign")
            return kind
        return self.atom()

    def atom(self) -> str:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PromqlError("it is nested too deeply")
        try:
            if self.now.kind == "number":
                self.next()
                return "scalar"
            if self.sees("("):
                self.next()
                kind = self.operators(0)
                self.take(")")
                return kind
            if self.sees("{"):
                return self.selector(named=False)
            if self.now.kind != "name":
                raise self.wrong("a value")
            return self.named()
        finally:
            self._depth -= 1

    def named(self) -> str:
        name = self.next().text
        if name in _AGGREGATIONS and self.sees("(", "by", "without"):
            if self.sees("by", "without"):
                self.next()
                self.labels()
            self.arguments(name, "vector")
            return "vector"
        if self.sees("("):
            if name in _OVER_RANGE:
                self.arguments(name, "range")
            elif name == "histogram_quantile":
                self.arguments(name, "scalar", "vector")
            elif name == "abs":
                self.arguments(name, "vector")
            else:
                raise PromqlError(f"{name} is no function that is known")
            return "vector"
        return self.selector(named=True)

    def arguments(self, name: str, *kinds: str) -> None:
        self.take("(")
        for place, wanted in enumerate(kinds):
            if place:
                self.take(",")
            found = self.operators(0)
            if found != wanted:
                raise PromqlError(f"{name} needs a {wanted}, not a {found}")
        self.take(")")

    def labels(self) -> bool:
        self.take("(")
        while not self.sees(")"):
            self.label()
            if not self.sees(")"):
                self.take(",")
        self.take(")")
        return True

    def label(self) -> str:
        if self.now.kind != "name" or not _LABEL.fullmatch(self.now.text):
            raise self.wrong("a label")
        return self.next().text

    def selector(self, *, named: bool) -> str:
        telling = named
        if self.sees("{"):
            self.next()
            while not self.sees("}"):
                telling = self.matcher() or telling
                if not self.sees("}"):
                    self.take(",")
            self.take("}")
        if not telling:
            raise PromqlError("a selector matches everything")
        if not self.sees("["):
            return "vector"
        self.next()
        if self.now.kind != "duration" or not is_duration(self.now.text):
            raise self.wrong("a duration")
        self.next()
        self.take("]")
        return "range"

    def matcher(self) -> bool:
        """Read one matcher, and say whether it shuts out series without that label."""
        self.label()
        sign = self.take("=", "!=", "=~", "!~")
        if self.now.kind != "string":
            raise self.wrong("a string")
        value = self.next().text[1:-1]
        if sign in ("=~", "!~"):
            try:
                re.compile(value)
            except re.error as error:
                raise PromqlError(f"'{value[:40]}' is no pattern: {error}") from None
        return sign in ("=", "=~") and value not in ("", ".*")


def check_matchers(text: str) -> None:
    """Read label matchers as a user gives them: `job="vllm",cluster=~"a|b"`.

    Raises:
        PromqlError: When they are none.
    """
    if "{" in re.sub(r'"(?:[^"\\]|\\.)*"', "", text):
        raise PromqlError("braces do not belong into it")
    check_promql(f"up{{{text}}}")
