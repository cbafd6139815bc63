"""The threats strip: what could make the verdict wrong, green included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evalkit.report.facts import exclusion_reasons, found_detail, plan_name, value_facts
from evalkit.report.model import ThreatItem
from evalkit.report.noise import noise_facts
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.results import CandidateResult, Comparison, Threat

_ICONS: Final = {"ok": "✓", "warn": "!", "fail": "✗"}
_ORDER: Final = {"fail": 0, "warn": 1, "ok": 2}


def threat_items(
    words: Words, comparison: Comparison, result: CandidateResult, lack: str = ""
) -> tuple[ThreatItem, ...]:
    """Return what the decision found, faults first; good news stays in the list.

    Args:
        words: The catalogue.
        comparison: What it is part of.
        result: The candidate's results.
        lack: That it does not fit where it shall run, as a sentence; empty where it does.
    """
    found = list(result.threats)
    if comparison.skipped:
        names = sorted({item.taskset for item in comparison.skipped})
        found.append(Threat("SKIPPED", "warn", {"names": names}))
    found += _weak_rules(comparison)
    found += _known_faults(comparison)
    noise = {} if result.noise is None else noise_facts(words, result.noise)
    items = [
        _item(words, threat, noise if threat.code == "NOISE_FLOOR" else {})
        for threat in found
        if threat.values or threat.level != "ok"
    ]
    if lack:
        items.append(ThreatItem("DOES_NOT_FIT", "fail", _ICONS["fail"], words("level.fail"), lack))
    return tuple(sorted(items, key=lambda item: _ORDER[item.level]))


def _weak_rules(comparison: Comparison) -> Iterator[Threat]:
    """Say where a rule decided open answers that people would often decide otherwise."""
    for asked in comparison.tasksets:
        if asked.agreement is not None and asked.scorer != "judge":
            values = {
                "taskset": asked.name,
                "scorer": asked.scorer,
                "share": asked.agreement,
                "labels": asked.labels,
            }
            yield Threat("RULE_WEAK", "warn", values)


def _known_faults(comparison: Comparison) -> Iterator[Threat]:
    """Say which public sets hold prompts that are known to be wrong, and what was left out."""
    for asked in comparison.tasksets:
        if asked.faulty:
            yield Threat("LABEL_FAULTS", "warn", {"taskset": asked.name, "n": asked.faulty})
        for reason, n in asked.left_out.items():
            values = {"taskset": asked.name, "n": n, "reason": reason}
            yield Threat("PROMPTS_LEFT_OUT", "ok", values)


def _item(words: Words, threat: Threat, more: Mapping[str, str]) -> ThreatItem:
    code = one_line(threat.code)
    facts = {**value_facts(threat.values), **more}
    facts["finding"] = _finding(words, str(threat.values.get("code", threat.code)))
    shown = {key: value for key, value in threat.values.items() if key != "code"}
    if shown:
        facts["detail"] = found_detail(words, shown)
    facts |= plan_name(words, facts)
    if threat.code == "PROMPTS_LEFT_OUT":
        facts["why"] = words.name("left_out", one_line(str(threat.values["reason"])))
    for key in ("before", "after"):
        if key in facts:
            facts[key] = words.name("state", facts[key])
    untested = threat.values.get("untested")
    if isinstance(untested, list | tuple):
        facts["untested"] = ", ".join(words.name("untested", one_line(str(x))) for x in untested)
    reasons = exclusion_reasons(words, threat.values)
    if reasons:
        facts["reasons"] = reasons
    key = f"threat.{code}" if f"threat.{code}" in words else "threat.other"
    return ThreatItem(
        code=code,
        level=threat.level,
        icon=_ICONS[threat.level],
        word=words(f"level.{threat.level}"),
        text=words(key, **facts),
    )


def _finding(words: Words, code: str) -> str:
    """Return a reason code's plain words, or the code itself made readable."""
    plain = words.plain(f"reason.{code}")
    return plain or one_line(code).replace("_", " ").lower()
