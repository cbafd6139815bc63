"""What the targets of a user's rows must hold, told before anything is asked.

Only what every answer would fail on: the scorers themselves know more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

Target = Mapping[str, Any]
_KINDS = {"answer": "aliases", "number": "value", "unanswerable": None}


def target_problem(scorer: str, target: Target) -> str | None:
    """Return what a target lacks for its scorer, or `None`.

    >>> target_problem("math", {"answer": 5})
    "'value' is missing, which the scorer 'math' needs"
    """
    check = _CHECKS.get(scorer)
    return None if check is None else check(target)


def _needs(scorer: str, key: str) -> str:
    return f"'{key}' is missing, which the scorer '{scorer}' needs"


def _facts(target: Target) -> str | None:
    kind = target.get("kind")
    if kind not in _KINDS:
        return f"'kind' should be one of {', '.join(_KINDS)}"
    needed = _KINDS[kind]
    if needed is not None and target.get(needed) in (None, "", []):
        return f"'{needed}' is missing, which the kind '{kind}' needs"
    if kind == "number":
        for key in ("value", "tolerance"):
            if key in target and not _is_number(target[key]):
                return f'\'{key}\' should be a number as text, like "5" or "3/4"'
    for key in ("aliases", "rivals", "corrections"):
        phrases = target.get(key, [])
        if not isinstance(phrases, list) or not all(isinstance(p, str) and p for p in phrases):
            return f"'{key}' should be a list of texts"
    return None


def _math(target: Target) -> str | None:
    if isinstance(target.get("expression"), str) and target["expression"]:
        return None
    if target.get("value") in (None, ""):
        return _needs("math", "value")
    value = target["value"]
    if not isinstance(value, str):
        return "'value' should be a text, like \"5\""
    if not _is_number(value.strip().removesuffix("%")):
        return '\'value\' should be a number, like "5", "3/4" or "50%", or \'expression\' in LaTeX'
    return None


def _is_number(value: Any) -> bool:
    """Say whether `scoring.numbers.parse_number` reads it."""
    if not isinstance(value, str):
        return False
    try:
        Fraction(value.replace(",", ""))
    except (ValueError, ZeroDivisionError):
        return False
    return True


def _code(target: Target) -> str | None:
    for key in ("entry_point", "tests"):
        if not target.get(key):
            return _needs("code", key)
    return None


def _instructions(target: Target) -> str | None:
    found = target.get("instructions")
    if not isinstance(found, list) or not found:
        return _needs("instructions", "instructions")
    if not all(isinstance(one, dict) and isinstance(one.get("id"), str) for one in found):
        return "each of 'instructions' should have an 'id'"
    return None


def _references(target: Target) -> str | None:
    for key in ("true", "false"):
        phrases = target.get(key, [])
        if not isinstance(phrases, list) or not all(isinstance(p, str) and p for p in phrases):
            return f"'{key}' should be a list of texts"
    return None if target.get("true") else _needs("references", "true")


def _judge(target: Target) -> str | None:
    for key in ("reference", "incorrect"):
        found = target.get(key, [])
        phrases = [found] if isinstance(found, str) else found
        if not isinstance(phrases, list) or not all(isinstance(p, str) and p for p in phrases):
            return f"'{key}' should be a text or a list of texts"
    if not isinstance(target.get("criteria", ""), str):
        return "'criteria' should be a text"
    return None if target.get("reference") else _needs("judge", "reference")


_CHECKS: Mapping[str, Callable[[Target], str | None]] = {
    "facts": _facts,
    "math": _math,
    "code": _code,
    "instructions": _instructions,
    "ifbench": _instructions,
    "references": _references,
    "judge": _judge,
}
