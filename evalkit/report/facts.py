"""The values of a reason code or a threat as finished strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalkit.report import numbers
from evalkit.report.text import one_line
from evalkit.report.words import Words

_PERCENT_KEYS: Final = ("rate", "share", "coverage", "margin", "alpha", "bound")
_NAMES: Final = ("baseline", "candidate")


def value_facts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields that a sentence may use.

    In the catalogue `baseline` and `candidate` are names; counts that carry these keys
    become `baseline_n` and `candidate_n`.
    """
    return {
        f"{key}_n" if key in _NAMES else str(key): plain(str(key), value)
        for key, value in values.items()
        if value is not None and not isinstance(value, bool)
    }


def plan_name(words: Words, facts: Mapping[str, str]) -> dict[str, str]:
    """Return what readers call the plan that a fact names."""
    return {"plan": words.name("plan", facts["plan"])} if "plan" in facts else {}


def exclusion_reasons(words: Words, values: Mapping[str, Any]) -> str:
    """Return why pairs were excluded, with counts; empty when none was."""
    return ", ".join(
        f"{words(f'exclusion.{reason}')} {numbers.count(n)}"
        for reason, n in values.items()
        if f"exclusion.{reason}" in words and n
    )


def detail(values: Mapping[str, Any]) -> str:
    """Write the numbers of a code or a threat generically, e.g. `q8 missing 12, limit 5.0%`."""
    for key in ("detail", "message"):
        if isinstance(values.get(key), str):
            return one_line(values[key])
    parts = [f"{key.replace('_', ' ')} {plain(key, item)}" for key, item in values.items()]
    return one_line(", ".join(parts))


def found_detail(words: Words, values: Mapping[str, Any]) -> str:
    """Write what the preflight found by its name and message; anything else as `detail`."""
    key = f"finding.{values.get('finding')}"
    if key in words and isinstance(values.get("message"), str):
        return words(key, message=one_line(values["message"]))
    return detail(values)


def plain(key: str, value: Any) -> str:
    """Write one value by its kind; rates and margins as percent, p-values as such."""
    if isinstance(value, bool) or value is None:
        return str(value).lower() if value is not None else numbers.DASH
    if isinstance(value, int):
        return numbers.count(value)
    if isinstance(value, float):
        if key.startswith("p_") or key in ("p", "pvalue"):
            return numbers.bare_pvalue(value)
        if any(part in key for part in _PERCENT_KEYS) and -1 <= value <= 1:
            return numbers.percent(value)
        return numbers.significant(value)
    if isinstance(value, Mapping):
        return "; ".join(f"{inner} {plain(str(inner), item)}" for inner, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain(key, item) for item in value)
    return one_line(str(value))
