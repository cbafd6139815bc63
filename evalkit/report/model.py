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

from evalkit.report.explorer_block import ExplorerBlock
from evalkit.report.figures import Curve
from evalkit.report.performance_model import PerformanceBlock
from evalkit.report.pieces import ArmRates as ArmRates
from evalkit.report.pieces import Forest as Forest
from evalkit.report.pieces import ForestRow as ForestRow
from evalkit.report.pieces import GainRow as GainRow
from evalkit.report.pieces import Gate as Gate
from evalkit.report.pieces import Headline as Headline
from evalkit.report.pieces import MetricRow as MetricRow
from evalkit.report.pieces import NeededRow as NeededRow
from evalkit.report.pieces import Number as Number
from evalkit.report.pieces import Reason as Reason
from evalkit.report.pieces import ScopeRow as ScopeRow
from evalkit.report.pieces import State as State
from evalkit.report.pieces import Table as Table
from evalkit.report.pieces import ThreatItem as ThreatItem
from evalkit.report.release_model import ReleaseBlock
from evalkit.report.soak_model import SoakView


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
class ReviewSide:
    """The verdict before or after adjudication; `state` is the key."""

    name: str
    state: str
    icon: str
    word: str
    difference: Number
    hallucination: Number | None
    n: int
    gates: bool


@dataclass(frozen=True, slots=True)
class ReviewBlock:
    """Both sides, and every mark with who made it. `one_sided`: the arm that all marks help."""

    lead: str
    one_sided: str | None
    sides: tuple[ReviewSide, ...]
    table: Table
    marks: Table


@dataclass(frozen=True, slots=True)
class PassRow:
    """pass@k of both arms in one family."""

    scope: str
    scope_label: str
    k: int
    prompts: int
    left_out: int
    baseline: Number
    candidate: Number
    difference: Number


@dataclass(frozen=True, slots=True)
class PassBlock:
    """pass@k in a sentence, a table, and its rows for machines."""

    lead: str
    table: Table
    rows: tuple[PassRow, ...]


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
    total_text: str
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
    gains_note: str
    bought: str
    outcomes: Table
    transitions: Table | None
    causes: Table | None
    needed: tuple[NeededRow, ...]
    regressions: Flips
    improvements: Flips
    remedies: tuple[RemedyItem, ...]
    slices: Slices
    lengths: tuple[LengthCurve, ...]
    review: ReviewBlock | None
    noise: NoiseBlock | None
    passes: PassBlock | None
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
    `redacted` says that no text is shown; empty when texts are. `release` is there when a
    stored release is the baseline, `performance` and `soak` when speed and stability were
    measured beside it. `trade` is what the recommended one of several buys; of a single one
    `recommendation` says it.
    """

    lang: str
    html_lang: str
    title: str
    subject: str
    gate: Gate
    sentence: str
    recommendation: str
    trade: str
    action: Literal["ship_candidate", "keep_baseline", "not_yet"]
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
    release: ReleaseBlock | None
    performance: PerformanceBlock | None
    soak: SoakView | None
    ui: Mapping[str, str]
    explorer: ExplorerBlock | None = None
