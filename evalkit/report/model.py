"""The view-model: finished strings, and the numbers that plots and `--json` need.

Renderers format and escape; they choose no words and compute no figures. Every string is
already free of acting characters (see `text.visible`), but not escaped for any syntax.
Fractions stay fractions (0.02 is two points); `None` means that there is no number, and
then `Number.note` says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalkit.report.figures import Curve
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
    """One line of what is gained."""

    label: str
    baseline: str
    candidate: str
    change: str


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
    """One metric in one scope: a test case of the gate."""

    scope: str
    scope_label: str
    metric: MetricName
    metric_label: str
    n: int
    difference: Number
    margin: str
    state: State
    outcome: Literal["passed", "failed", "skipped"]
    gated: bool
    text: str
    p_noninferior: str
    p_degraded: str


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


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What one policy says. `state` is the key, `None` where only the hash is known."""

    policy_hash: str
    declared_by: tuple[str, ...]
    fixed: str
    state: str | None
    icon: str
    word: str
    changes: tuple[str, ...]
    gates: bool


@dataclass(frozen=True, slots=True)
class RemedyItem:
    """One thing to do, with the finding that calls for it. `families` are keys."""

    code: str
    families: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One slice. `shrunken` is a fraction; `tested` is false where pairs are too few."""

    dimension: str
    value: str
    family: str | None
    label: str
    n: int
    regressions: int
    improvements: int
    difference: Number
    shrunken: float
    p_adjusted: float | None
    tested: bool
    flagged: bool
    text: str


@dataclass(frozen=True, slots=True)
class Slices:
    """The screen of slices: a sentence, its rows, and the same as tables."""

    lead: str
    rows: tuple[SliceRow, ...]
    flagged: Table | None
    tested: Table | None
    too_few: str


@dataclass(frozen=True, slots=True)
class LengthCurve:
    """The difference over one length, as a plot and as a table."""

    curve: Curve
    table: Table


@dataclass(frozen=True, slots=True)
class NoiseBlock:
    """The noise floor: a sentence, a table by scope, and the numbers over all samples."""

    lead: str
    table: Table
    repeat_flips: Number
    same_text: Number
    candidate_flips: Number
    excess: Number


@dataclass(frozen=True, slots=True)
class AnswerCard:
    """One arm's answer to one sample; `facts` are label and value."""

    arm: str
    text: str
    missing: bool
    reasoning: str
    answer: str
    outcome: str
    explanation: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SampleCard:
    """One flip with both answers side by side."""

    sample_id: str
    where: str
    cause: str
    prompt: tuple[tuple[str, str], ...]
    target: str
    baseline: AnswerCard
    candidate: AnswerCard


@dataclass(frozen=True, slots=True)
class Flips:
    """The flips of one direction: those shown, and how many are left out."""

    cards: tuple[SampleCard, ...]
    total: int
    note: str


@dataclass(frozen=True, slots=True)
class CandidateBlock:
    """Everything about one candidate."""

    key: str
    endpoint: str
    label: str
    title: str
    gate: Gate
    sentence: str
    reasons: tuple[Reason, ...]
    headlines: tuple[Headline, Headline, Headline]
    forest: Forest
    pooled: ScopeRow
    families: tuple[ScopeRow, ...]
    metrics: tuple[MetricRow, ...]
    threats: tuple[ThreatItem, ...]
    gains: tuple[GainRow, ...]
    outcomes: Table
    causes: Table | None
    needed: tuple[NeededRow, ...]
    regressions: Flips
    improvements: Flips
    remedies: tuple[RemedyItem, ...]
    slices: Slices
    lengths: tuple[LengthCurve, ...]
    noise: NoiseBlock | None
    policies: tuple[PolicyRow, ...]
    policies_table: Table | None
    missing: Table | None
    look: Mapping[str, int | str | bool] | None


@dataclass(frozen=True, slots=True)
class ArmCard:
    """Who an arm is: its role, its honest label, and the evidence."""

    role: str
    endpoint: str
    label: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class View:
    """All that a renderer may show. `ui` holds the fixed words of the page.

    `created` is for people, `timestamp` is the same moment in ISO 8601 (empty if unknown).
    `redacted` says that no text is shown; empty when texts are.
    """

    lang: str
    html_lang: str
    title: str
    subject: str
    gate: Gate
    sentence: str
    recommendation: str
    action: str
    recommended: str | None
    baseline: str
    candidates: tuple[CandidateBlock, ...]
    arms: tuple[ArmCard, ...]
    provenance: tuple[tuple[str, str], ...]
    tasksets: Table
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
    methods: tuple[tuple[str, str], ...]
    details: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    created: str
    timestamp: str
    evalkit_version: str
    policy_hash: str
    redacted: str
    ui: Mapping[str, str]
