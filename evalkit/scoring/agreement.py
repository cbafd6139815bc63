"""How far rules agree with people on open answers, and where that is too little to rest on.

An open answer may be right in words that no list of names or references holds. The figures
are those of docs/scorer-agreement.md, which `make agreement` measures; a test keeps them
equal. Sets whose answers are exact by construction are not open, whatever scores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.types import Language, Taskset

LEAST_AGREEMENT = 0.9
"""Below this share a judge should decide open answers, where one is at hand."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often a rule's verdicts were those of labels.

    Attributes:
        share: Of the verdicts.
        n: How many there are.
        labels: Whose answers and labels they are.
    """

    share: float
    n: int
    labels: str


ON_OPEN_ANSWERS: Mapping[tuple[str, Language], Agreement] = {
    ("facts", "en"): Agreement(0.7654, 908, "OpenQA-eval"),
    ("references", "en"): Agreement(0.7065, 2_010, "TruthfulQA"),
    ("references", "zh"): Agreement(0.8189, 6_290, "HalluQA"),
}
_ALWAYS_OPEN = frozenset({"references"})


def rule_agreement(taskset: Taskset) -> Agreement | None:
    """Return what is known of a taskset's rule on its open answers.

    The lowest of its languages counts; a language without a figure has that of the others.

    Returns:
        `None` when its answers are exact, or another than these scorers decides.
    """
    if not (taskset.open_answers or taskset.scorer in _ALWAYS_OPEN):
        return None
    known = {
        language: agreement
        for (scorer, language), agreement in ON_OPEN_ANSWERS.items()
        if scorer == taskset.scorer
    }
    asked = {sample.language for sample in taskset.samples}
    figures = [known[one] for one in asked if one in known] or list(known.values())
    return min(figures, key=lambda agreement: agreement.share, default=None)


def weak_rule(taskset: Taskset) -> Agreement | None:
    """Return the agreement of a taskset's rule where it is below `LEAST_AGREEMENT`.

    There a judge decides by default when one is configured; else the rule does, with notice.
    """
    agreement = rule_agreement(taskset)
    return agreement if agreement is not None and agreement.share < LEAST_AGREEMENT else None
