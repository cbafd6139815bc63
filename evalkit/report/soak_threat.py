"""A soak beside a comparison: on the first screen, and loudly where something was found.

It never changes the verdict, which speaks of answers alone; it stands beside it as a fault.
"""

from __future__ import annotations

from evalkit.report import numbers
from evalkit.report.model import ThreatItem
from evalkit.report.performance_gains import same_build
from evalkit.report.soak import open_names, soak_view
from evalkit.report.soak_model import SoakView
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.results import CandidateResult, Comparison
from evalkit.stability import Stability


def of_comparison(soak: Stability, comparison: Comparison) -> bool:
    """Whether a soak is of an arm of the comparison, as it was compared."""
    return any(
        info.endpoint == soak.endpoint and same_build(soak.identity, info)
        for info in (comparison.baseline, *comparison.candidates)
    )


def with_soak(
    words: Words,
    threats: tuple[ThreatItem, ...],
    result: CandidateResult,
    comparison: Comparison,
    soak: Stability | None,
) -> tuple[ThreatItem, ...]:
    """Return a candidate's threats with the soak of it, or of the baseline, in its place."""
    if soak is None or soak.endpoint not in (result.endpoint, comparison.baseline.endpoint):
        return threats
    endpoint = one_line(soak.endpoint)
    if soak.state == "stable":
        names = open_names(words, soak)
        key = "soak.threat.open" if names else "soak.threat.stable"
        told = words(key, endpoint=endpoint, ran=numbers.elapsed(soak.ran), names=names)
        return (*threats, ThreatItem("SOAK", "ok", "✓", words("level.ok"), told))
    view = soak_view(words, soak)
    if soak.state == "unmeasured":
        return (ThreatItem("SOAK", "warn", "!", words("level.warn"), view.sentence), *threats)
    told = words("soak.threat.found", endpoint=endpoint, findings=view.summary)
    return (ThreatItem("SOAK", "fail", "✗", words("level.fail"), told), *threats)


def soak_warning(words: Words, soaked: SoakView | None, recommended: str | None) -> str:
    """Return what must be added to a recommendation of an endpoint that is not stable."""
    if soaked is None or soaked.gate.state != "HOLD" or soaked.endpoint != recommended:
        return ""
    return words("soak.advice", endpoint=soaked.endpoint)
