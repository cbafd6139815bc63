"""What a report says of a soak: finished strings, and numbers to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.report.pieces import Gate, Table


@dataclass(frozen=True, slots=True)
class SoakPlot:
    """One figure over time.

    Attributes:
        key: Unique in a page.
        points: Seconds and value of each window; `None` where there is none.
        line: Where the fitted line begins and ends; `None` without one.
        settled: When the warm-up ended; `None` where nothing was fitted.
        ticks: Values on the axis with their texts.
        times: Seconds on the axis with their texts.
        restarts: When it began anew.
        outages: From when to when it answered nothing.
        state: Of the trend.
        verdict: The same in words.
    """

    key: str
    title: str
    told: str
    points: tuple[tuple[float, float | None], ...]
    line: tuple[tuple[float, float], tuple[float, float]] | None
    settled: float | None
    ran: float
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    times: tuple[tuple[float, str], ...]
    restarts: tuple[float, ...]
    outages: tuple[tuple[float, float], ...]
    state: str
    verdict: str


@dataclass(frozen=True, slots=True)
class SoakView:
    """A soak for readers.

    Attributes:
        summary: Findings in one line, for the first screen of a comparison.
    """

    lang: str
    html_lang: str
    title: str
    endpoint: str
    gate: Gate
    sentence: str
    open: str
    lead: str
    summary: str
    findings: tuple[str, ...]
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]
    plots: tuple[SoakPlot, ...]
    settings: tuple[tuple[str, str], ...]
    warm_up_word: str
    restart_word: str
    evalkit_version: str
    ui: Mapping[str, str]
