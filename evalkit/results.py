"""What crosses the borders on the way from statistics to the report.

`Comparison` is the content of `comparison.json`: every renderer works from it alone.
Rates and differences are fractions (0.02 is two points); margins are fractions too.
Differences are candidate minus baseline. `None` means "no number", and the report
prints a dash and the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from evalkit.asked import Skipped as Skipped
from evalkit.asked import TasksetInfo as TasksetInfo
from evalkit.estimates import Cells, Estimate, TestResult
from evalkit.noisefloor import NoiseFloor
from evalkit.parts import LengthPoint as LengthPoint
from evalkit.parts import SliceDimension as SliceDimension
from evalkit.parts import SliceResult as SliceResult
from evalkit.passrates import PassAtK
from evalkit.releases import Against as Against
from evalkit.reviews import Review
from evalkit.rulings import JudgeInfo as JudgeInfo
from evalkit.rulings import Look as Look
from evalkit.rulings import PolicyReading as PolicyReading
from evalkit.rulings import ReasonCode as ReasonCode
from evalkit.rulings import Verdict as Verdict
from evalkit.rulings import VerdictState as VerdictState

SCHEMA_VERSION = 1

MetricName = Literal["accuracy", "hallucination", "degenerate"]
POOLED = "pooled"


class MetricState(StrEnum):
    """Where an interval lies against zero and against the margin (STYLE.md 9.2)."""

    SUPERIOR = "superior"
    NONINFERIOR = "non-inferior"
    NONINFERIOR_WORSE = "non-inferior but measurably worse"
    INFERIOR = "inferior"
    INCONCLUSIVE = "inconclusive"
    INCONCLUSIVE_WORSE = "worse, size unresolved"
    TOO_FEW = "too few pairs"


@dataclass(frozen=True, slots=True)
class PromptsNeeded:
    """How many pairs a decision needs (STATISTICS.md, rule 2, step 3).

    Attributes:
        equal_models: n if the two arms are truly equal.
        observed: n if the difference is what was seen; `None` where there is none.
        floor: n below which even zero flips prove nothing.
        more: Pairs to add to those there are.
        near_margin: More data will not settle it: revisit the margin.
        repeats: Pairs that each prompt makes.
    """

    equal_models: int | None
    observed: int | None
    floor: int
    more: int
    near_margin: bool = False
    repeats: int = 1

    @property
    def anew(self) -> int:
        """Prompts of a new comparison: if the arms are equal, or the floor."""
        return self.prompts(self.equal_models or self.floor)

    def prompts(self, pairs: int) -> int:
        """Return how many prompts make so many pairs."""
        return -(-pairs // self.repeats)


@dataclass(frozen=True, slots=True)
class MissingData:
    """What missing answers could do to one metric, signed as `MetricResult.difference`.

    The intervals are at the level that the one-sided test reads.

    Attributes:
        worst: With every missing answer counted against the candidate.
        best: With every missing answer counted for it.
        itt: With every missing answer counted as a failure of either arm; it does not gate.
        tipping_point: Fewest missing answers of the candidate that must be wrong to lose
            non-inferiority, the other missing ones counted as no change; `None` when it is
            not shown to begin with, or when even all of them do not lose it.
    """

    worst: Estimate
    best: Estimate
    itt: Estimate
    tipping_point: int | None


@dataclass(frozen=True, slots=True)
class MetricResult:
    """One metric in one scope (a family, or `pooled`), with its tests.

    For `hallucination` and `degenerate` a rise is bad; `difference` keeps its sign
    (candidate minus baseline), and the tests are reversed.

    Attributes:
        cells: Paired counts of "the sample has it"; `None` for graded data.
        difference: With a 95% interval.
        difference_90: With the interval that the one-sided test at 5% reads.
        p_noninferior: On complete pairs, by the policy's plan: it decides when it is at most
            alpha, under a two-stage and a sequential plan too.
        p_noninferior_worst: With every missing answer counted against the candidate.
        p_degraded: With every missing answer counted for the candidate, at the last look.
        p_degraded_adjusted: The same after Holm over all metrics, and for a second stage.
        gated: Whether the verdict needs non-inferiority here (else alarm only).
        code: Why it is not non-inferior, when it is not.
        p_degraded_looks: `p_degraded` at each look that the plan corrects for.
        stage_statistics: z of non-inferiority of each stage of a two-stage plan.
        missing: What missing answers could do; `None` when none is missing.
    """

    metric: MetricName
    scope: str
    n: int
    margin: float
    difference: Estimate
    difference_90: Estimate
    cells: Cells | None
    p_noninferior: float | None
    p_noninferior_worst: float | None
    p_degraded: float | None
    p_degraded_adjusted: float | None
    gated: bool
    noninferior: bool
    degraded: bool
    state: MetricState
    code: str | None = None
    prompts_needed: PromptsNeeded | None = None
    n_missing: int = 0
    p_degraded_looks: tuple[float, ...] = ()
    stage_statistics: tuple[float, ...] = ()
    missing: MissingData | None = None


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One endpoint's rates in one scope, over the pairs that both answered.

    Attributes:
        hallucination: I / n over samples where abstaining was possible.
        abstention: N / n over the same samples.
        hallucination_attempted: I / (C + I) over the same samples.
        flags: Count of each flag, e.g. `{"truncated": 3}`.
        unscored: Answers in which the scorer found nothing to score (count as not correct).
        missing: Requests without an answer; they are not in `n`.
    """

    n: int
    correct: int
    incorrect: int
    abstained: int
    accuracy: Estimate
    hallucination: Estimate | None
    abstention: Estimate | None
    hallucination_attempted: Estimate | None
    flags: Mapping[str, int]
    unscored: int
    missing: int
    mean_completion_tokens: float | None


@dataclass(frozen=True, slots=True)
class ScopeResult:
    """Everything about one family, or about all together (`scope == "pooled"`).

    `transitions`: outcomes of the baseline (rows) and candidate, where abstaining was possible.
    """

    scope: str
    baseline: ArmSummary
    candidate: ArmSummary
    flips: Cells
    recovery: Estimate
    mcnemar_exact: TestResult
    mcnemar_midp: TestResult
    accuracy: MetricResult
    hallucination: MetricResult | None
    identical_texts: int
    transitions: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Threat:
    """Something that could make the verdict wrong, shown on the first screen.

    Green is not hidden: `ok` threats are listed too.
    """

    code: str
    level: Literal["ok", "warn", "fail"]
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One arm's answer to one sample, for readers.

    Where texts are redacted, `text_hash` and `text_length` (in characters) stand for the
    text, and `answer` is a hash.
    """

    text: str | None
    reasoning: str | None
    answer: str | None
    outcome: str | None
    value: float | None
    explanation: str
    flags: tuple[str, ...]
    finish_reason: str | None
    completion_tokens: int | None
    error: str | None
    text_hash: str | None = None
    text_length: int | None = None


@dataclass(frozen=True, slots=True)
class SampleView:
    """One pair, for readers. `transition` is regression, improvement, both_right, both_wrong.

    `prompt_hash` stands for prompt and target where texts are redacted.
    """

    sample_id: str
    taskset: str
    family: str
    language: str
    category: str
    epoch: int
    transition: Literal["regression", "improvement", "both_right", "both_wrong", "missing"]
    cause: str | None
    prompt: tuple[Mapping[str, str], ...]
    target: str
    baseline: AnswerView
    candidate: AnswerView
    prompt_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Remedy:
    """Something to do about a finding: for which families (none: all), with its evidence."""

    code: str
    families: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rerun:
    """A prompt to ask again: which arms (`baseline`, `candidate`) left it without an answer."""

    taskset: str
    sample_id: str
    epoch: int
    arms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CandidateResult:
    """One candidate against the baseline.

    Attributes:
        samples: Pairs that changed or lack an answer, as many as a file should hold.
        samples_left_out: How many more there are, by transition; all count in every number.
        reruns: Prompts without an answer, the first 200.
        look: `None` where no ledger is kept.
        readings: Of every policy that was declared or given, when they differ.
        review: What reviewers marked; `None` when nothing concerns this candidate.
        pass_at: Only where prompts were asked several times.
    """

    endpoint: str
    verdict: Verdict
    pooled: ScopeResult
    families: tuple[ScopeResult, ...]
    degenerate: MetricResult
    exclusions: Mapping[str, int]
    threats: tuple[Threat, ...]
    causes: Mapping[str, Mapping[str, int]]
    samples: tuple[SampleView, ...]
    slices: tuple[SliceResult, ...] = ()
    lengths: tuple[LengthPoint, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    noise: NoiseFloor | None = None
    samples_left_out: Mapping[str, int] = field(default_factory=dict)
    reruns: tuple[Rerun, ...] = ()
    look: Look | None = None
    readings: tuple[PolicyReading, ...] = ()
    review: Review | None = None
    pass_at: tuple[PassAtK, ...] = ()


@dataclass(frozen=True, slots=True)
class ArmInfo:
    """Who an arm is. `label` is the honest name, e.g. "Q4_0 of weights published as Q4_1"."""

    endpoint: str
    label: str
    identity: Mapping[str, Any]
    n_requests: int
    n_answered: int
    errors: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ArmTiming:
    """How fast an arm answered in this run: a by-product, not a benchmark.

    Seconds and tokens per second; `None` where it was not measured.
    """

    endpoint: str
    wall_seconds: float | None
    completion_tokens: int | None
    tokens_per_second: float | None
    median_latency: float | None
    p95_latency: float | None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which endpoint to ship: `action` is ship_candidate, keep_baseline or not_yet."""

    action: Literal["ship_candidate", "keep_baseline", "not_yet"]
    endpoint: str | None
    candidate: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The content of `comparison.json`.

    `timing` and `created` hold all that depends on the clock; everything else is equal
    for equal answers. `redacted`: no prompt, target or answer is in it. `against`: which
    stored release the baseline is, where it is one.
    """

    schema_version: int
    evalkit_version: str
    baseline: ArmInfo
    candidates: tuple[ArmInfo, ...]
    results: tuple[CandidateResult, ...]
    recommendation: Recommendation
    exit_code: int
    tasksets: tuple[TasksetInfo, ...]
    skipped: tuple[Skipped, ...]
    policy: Mapping[str, Any]
    policy_hash: str
    sampling: Mapping[str, Any]
    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    created: str
    timing: tuple[ArmTiming, ...]
    redacted: bool = False
    against: Against | None = None
    judge: JudgeInfo | None = None
