"""What a report says of speed and memory: finished strings."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.report.pieces import GainRow, Table


@dataclass(frozen=True, slots=True)
class CandidateGains:
    """What one candidate buys, as measured and as counted.

    Attributes:
        rows: For the first screen; `note` says how they were measured.
        sentence: For the recommendation; empty when nothing was measured of it.
        measured: Whether its speed was measured.
    """

    rows: tuple[GainRow, ...]
    note: str
    sentence: str
    measured: bool


@dataclass(frozen=True, slots=True)
class PerformanceBlock:
    """A probe's result.

    Attributes:
        lead: When and how it was measured.
        tables: Ratios, medians, tails, memory; those that have rows.
        remarks: What a reader must know of it.
    """

    lead: str
    tables: tuple[Table, ...]
    remarks: tuple[str, ...]
