"""Parts of the prompts: where a difference lies, by slice and over length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalkit.estimates import Estimate

SliceDimension = Literal[
    "family", "category", "language", "prompt_length", "output_length", "difficulty"
]


@dataclass(frozen=True, slots=True)
class SliceResult:
    """One pre-declared part of the prompts; `family` says whose category it is, else `None`.

    `pvalue`: worse than zero and than the rest; `None` when too few. `p_adjusted`: after BH.
    """

    dimension: SliceDimension
    value: str
    family: str | None
    n: int
    regressions: int
    improvements: int
    difference: Estimate
    shrunken: float
    pvalue: float | None
    p_adjusted: float | None
    flagged: bool


@dataclass(frozen=True, slots=True)
class LengthPoint:
    """Pairs of one length: each arm's mean goodness, and the paired difference."""

    dimension: Literal["prompt_length", "output_length"]
    bucket: str
    n: int
    baseline: float
    candidate: float
    difference: Estimate
