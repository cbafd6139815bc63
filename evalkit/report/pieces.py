"""The smaller pieces of the view-model: numbers, states, rows and tables, as finished strings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evalkit.results import MetricName


@dataclass(frozen=True, slots=True)
class Number:
    """A number as text, with its interval, and as fractions."""

    text: str
    interval: str = ""
    note: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def full(self) -> str:
        """Text and interval in one string."""
        return f"{self.text} {self.interval}".strip()

    @property
    def told(self) -> str:
        """The same, but a missing number comes with its reason."""
        return self.full if self.value is not None else f"{self.text} {self.note}".strip()


@dataclass(frozen=True, slots=True)
class Gate:
    """The answer: `state` is the key, `word` and `icon` are what readers see."""

    state: str
    icon: str
    word: str
    exit_code: int
    exit_text: str


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code as a sentence, and what to do about it (may be empty)."""

    code: str
    scope: str | None
    metric: str | None
    text: str
    step: str


@dataclass(frozen=True, slots=True)
class Headline:
    """One of the three numbers on the first screen."""

    label: str
    number: Number
    unit: str
    detail: str


@dataclass(frozen=True, slots=True)
class State:
    """Where an interval lies: key, sign, full words and short words."""

    key: str
    icon: str
    text: str
    short: str


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One row of the forest plot; the pooled row is drawn as a diamond.

    `low90`/`high90` are the ends that the one-sided test at 5% reads.
    """

    label: str
    n: str
    baseline: str
    candidate: str
    difference: Number
    low90: float | None
    high90: float | None
    margin: float
    margin_label: str
    state: State
    pooled: bool
    gated: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """The forest plot with all its words."""

    title: str
    description: str
    columns: tuple[str, str, str, str, str]
    axis: str
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True, slots=True)
class ThreatItem:
    """One item of the threats strip: level with sign and word, and the finding."""

    code: str
    level: Literal["ok", "warn", "fail"]
    icon: str
    word: str
    text: str


@dataclass(frozen=True, slots=True)
class GainRow:
    """One line of what is gained; a `minor` one has no place on the first screen."""

    label: str
    baseline: str
    candidate: str
    change: str
    interval: str = ""
    minor: bool = False


@dataclass(frozen=True, slots=True)
class ArmRates:
    """Hallucination beside abstention of one arm in one scope."""

    arm: str
    hallucination: Number
    abstention: Number
    attempted: Number


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """One family, or the pooled row, with everything the tables and `--json` show."""

    scope: str
    label: str
    n: int
    n_text: str
    baseline: Number
    candidate: Number
    difference: Number
    recovery: Number
    flips: str
    regressions: int
    improvements: int
    mcnemar: str
    rates: tuple[ArmRates, ArmRates] | None
    hallucination_difference: Number | None
    state: State
    gated: bool
    identical: str


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric in one scope: a test case of the gate.

    `tests` are both p-values in words; `open` says that the verdict needs this metric, and
    that it is not decided.
    """

    scope: str
    scope_label: str
    metric: MetricName
    metric_label: str
    n: int
    n_text: str
    difference: Number
    margin: str
    state: State
    outcome: Literal["passed", "failed", "skipped"]
    gated: bool
    text: str
    p_noninferior: str
    p_degraded: str
    tests: str
    open: bool


@dataclass(frozen=True, slots=True)
class NeededRow:
    """How many prompts a decision about one metric needs."""

    label: str
    n: str
    floor: str
    equal_models: str
    observed: str
    more: str
    note: str


@dataclass(frozen=True, slots=True)
class Table:
    """A plain table: the first cell of each row is its header, the rest are numbers.

    `words` are the places of the columns that hold words instead.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = ()
