"""pass@k of both arms, where prompts were asked several times."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.estimates import Estimate


@dataclass(frozen=True, slots=True)
class PassAtK:
    """The chance that at least one of k answers is right, in one family.

    Attributes:
        scope: The family.
        k: Tries.
        prompts: Prompts with at least k pairs of answers.
        left_out: Prompts with fewer.
        baseline: Mean over prompts, a fraction.
        candidate: Likewise.
        difference: Candidate minus baseline, paired by prompt.
    """

    scope: str
    k: int
    prompts: int
    left_out: int
    baseline: Estimate
    candidate: Estimate
    difference: Estimate
