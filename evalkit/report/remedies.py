"""Remedies as sentences, each with the numbers of its finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.report import numbers
from evalkit.report.estimates import scope_label
from evalkit.report.facts import value_facts
from evalkit.report.model import RemedyItem
from evalkit.report.text import one_line
from evalkit.report.verdicts import Names
from evalkit.report.words import Words
from evalkit.results import CandidateResult, Remedy

_POINTS = ("difference", "low", "high")
_PROMPTS_SHOWN = 10


def remedy_items(words: Words, names: Names, result: CandidateResult) -> tuple[RemedyItem, ...]:
    """Return what to do about a candidate, in order."""
    return tuple(_item(words, names, remedy) for remedy in result.remedies)


def _item(words: Words, names: Names, remedy: Remedy) -> RemedyItem:
    key = f"remedy.{remedy.code}"
    return RemedyItem(
        code=one_line(remedy.code),
        families=tuple(one_line(family) for family in remedy.families),
        text=words(key if key in words else "remedy.other", **_facts(words, names, remedy)),
    )


def _facts(words: Words, names: Names, remedy: Remedy) -> dict[str, str]:
    values = remedy.values
    facts = value_facts(
        {key: value for key, value in values.items() if not isinstance(value, Mapping)}
    )
    facts |= {
        "code": one_line(remedy.code),
        "baseline": names.baseline,
        "candidate": names.candidate,
    }
    digits = numbers.digits_for(int(values.get("n") or 0))
    facts |= {
        key: numbers.points(values[key], digits) for key in _POINTS if values.get(key) is not None
    }
    if isinstance(values.get("margin"), float):
        facts["margin"] = numbers.size_in_points(values["margin"])
    if remedy.families:
        facts["families"] = _scopes(words, remedy.families)
    if "each" in values:
        # As a command takes it.
        facts["each"] = str(values["each"])
    if "kept" in values:
        facts["kept"] = _scopes(words, values["kept"])
    if "metric" in values:
        facts["metric"] = words.name("metric", one_line(str(values["metric"])))
        facts["most"] = _most(words, remedy, facts["metric"])
    return facts | _counted(words, values)


def _most(words: Words, remedy: Remedy, metric: str) -> str:
    if not remedy.families:
        return metric
    return words("scope_metric", metric=metric, scope=_scopes(words, remedy.families))


def _counted(words: Words, values: Mapping[str, Any]) -> dict[str, str]:
    """Write flags that rose, reasons of missing answers, and prompts; nothing where none are.

    Sorted, since a stored mapping comes back in the order of its keys.
    """
    made = {}
    if values.get("flags"):
        made["flags"] = words("slices.join").join(
            f"{words.name('flag', one_line(flag))} {numbers.count(before)} → {numbers.count(after)}"
            for flag, (before, after) in sorted(values["flags"].items())
        )
    if values.get("reasons"):
        made["reasons"] = words("slices.join").join(
            f"{one_line(str(reason))} {numbers.count(n)}"
            for reason, n in sorted(values["reasons"].items())
        )
    prompts = [one_line(str(prompt)) for prompt in values.get("prompts") or ()]
    if prompts:
        shown = words("slices.join").join(prompts[:_PROMPTS_SHOWN])
        rest = len(prompts) - _PROMPTS_SHOWN
        made["prompts"] = (
            words("remedy.more_ids", prompts=shown, k=numbers.count(rest)) if rest > 0 else shown
        )
    return made


def _scopes(words: Words, families: Sequence[str]) -> str:
    return words("slices.join").join(scope_label(words, family) for family in families)
