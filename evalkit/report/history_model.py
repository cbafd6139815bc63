"""The line of releases as finished strings, and the numbers that the plot needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalkit.report.model import Gate, Number
from evalkit.report.release_model import ChangeLine, SnapshotBlock


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """One result in the plot of one metric.

    Attributes:
        place: Of its comparison in time, from 0.
        joined: Whether the line from the point before it in its series leads to it.
        text: All of it in words.
        margin: Signed as the plot is: where the loss stops being acceptable.
    """

    place: int
    series: str
    name: str
    joined: bool
    difference: Number
    margin: float
    gate: Gate
    text: str


@dataclass(frozen=True, slots=True)
class HistoryPlot:
    """The plot of one metric over all comparisons."""

    key: str
    title: str
    description: str
    margin_word: str
    zero_word: str
    dates: tuple[str, ...]
    broken: tuple[bool, ...]
    points: tuple[PlotPoint, ...]


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One result: everything that tables and `--json` show."""

    folder: str
    date: str
    timestamp: str
    model: str
    baseline: str
    candidate: str
    label: str
    gate: Gate
    n: int
    n_text: str
    policy_hash: str
    metrics: Mapping[str, Number]
    margins: Mapping[str, float]
    change: ChangeLine | None
    breaks: tuple[str, ...]
    rollback: str
    rollback_folder: str | None


@dataclass(frozen=True, slots=True)
class HistoryView:
    """All that a renderer may show of a line of releases.

    `metrics` are the columns of the table: key and name.
    """

    lang: str
    html_lang: str
    gate: Gate
    title: str
    sentence: str
    rollback: str
    target: SnapshotBlock | None
    rows: tuple[HistoryRow, ...]
    plots: tuple[HistoryPlot, ...]
    metrics: tuple[tuple[str, str], ...]
    breaks: tuple[str, ...]
    unread: tuple[tuple[str, str], ...]
    unread_lines: tuple[str, ...]
    evalkit_version: str
    ui: Mapping[str, str]
