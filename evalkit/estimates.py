"""Numbers with their intervals: what every statistic returns.

Rates and differences are fractions (0.02 is two points). `None` means "no number".
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval, its method and its n.

    Attributes:
        n: Pairs or samples behind it.
        n_clusters: Independent units, where they are fewer than `n`.
        warnings: What a reader must know before trusting it.
    """

    value: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    confidence_level: float = 0.95
    n_clusters: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test in scipy's grammar."""

    __test__ = False

    statistic: float | None
    pvalue: float | None
    method: str
    n: int
    alternative: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cells:
    """The four counts of a paired binary table (baseline × candidate).

    `gained` is b = n10 (only the candidate has it), `lost` is c = n01 (only the baseline).
    """

    both: int
    gained: int
    lost: int
    neither: int

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both + self.gained + self.lost + self.neither
