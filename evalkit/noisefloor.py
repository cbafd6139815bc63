"""What the A/A arm shows: the baseline against itself, and the candidate beyond that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalkit.estimates import Estimate


@dataclass(frozen=True, slots=True)
class NoiseScope:
    """The baseline against itself in one scope, and the candidate beyond that.

    Each estimate carries its own n: a sample counts where the answers in question are there.

    Attributes:
        repeat_flips: Share of samples that flip between two askings of the baseline.
        same_text: Share of them that it answers word for word alike.
        candidate_flips: Share that flips from baseline to candidate, on the same samples.
        excess: `candidate_flips` minus `repeat_flips`, paired.
    """

    scope: str
    repeat_flips: Estimate
    same_text: Estimate
    candidate_flips: Estimate
    excess: Estimate


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The A/A arm: a share of the prompts, asked of the baseline twice.

    Attributes:
        source: What can differ: `batching` at temperature 0, else `sampling`.
        asked: Samples that were asked again.
        all_flips: Share of all pairs that flips from baseline to candidate.
        pooled: Over all samples that were asked again.
        families: Those with enough samples to say something.
    """

    source: Literal["batching", "sampling"]
    asked: int
    all_flips: Estimate
    pooled: NoiseScope
    families: tuple[NoiseScope, ...]
