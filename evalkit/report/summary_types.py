"""The shape of what `--json` prints; `evalkit schema` makes its JSON Schema from here.

Rates and differences are fractions, candidate minus baseline; `None` means "no number",
and then `note` says why.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

State = Literal["SHIP", "HOLD", "INCONCLUSIVE", "INVALID"]
MetricKey = Literal["accuracy", "hallucination", "degenerate"]


class NumberBody(TypedDict):
    """A number with its interval, and as readers see it."""

    value: float | None
    low: float | None
    high: float | None
    text: str
    note: str | None


class ReasonBody(TypedDict):
    """Why a verdict is what it is, and what to do about it."""

    code: str
    scope: str | None
    metric: str | None
    text: str
    step: str | None


class RatesBody(TypedDict):
    """Hallucination beside abstention of one arm."""

    hallucination: NumberBody
    abstention: NumberBody
    of_attempted: NumberBody


class BothRatesBody(TypedDict):
    """The same of both arms."""

    baseline: RatesBody
    candidate: RatesBody


class ScopeBody(TypedDict):
    """One family, or `pooled`."""

    n: int
    baseline_accuracy: NumberBody
    candidate_accuracy: NumberBody
    difference: NumberBody
    recovery: NumberBody
    regressions: int
    improvements: int
    state: str
    gated: bool
    hallucination: BothRatesBody | None


class MetricBody(TypedDict):
    """One metric in one scope: a test of the gate."""

    metric: MetricKey
    scope: str
    n: int
    difference: NumberBody
    state: str
    outcome: Literal["passed", "failed", "skipped"]
    gated: bool
    text: str
    tests: str


class ThreatBody(TypedDict):
    """Something that could make the verdict wrong."""

    code: str
    level: Literal["ok", "warn", "fail"]
    text: str


class RemedyBody(TypedDict):
    """Something to do."""

    code: str
    families: list[str]
    text: str


class SliceBody(TypedDict):
    """One slice of the prompts."""

    dimension: str
    value: str
    family: str | None
    n: int
    difference: NumberBody
    shrunken: float
    regressions: int
    improvements: int
    p_adjusted: float | None
    tested: bool
    flagged: bool


class NoiseBody(TypedDict):
    """The baseline against itself."""

    repeat_flips: NumberBody
    same_text: NumberBody
    candidate_flips: NumberBody
    excess: NumberBody
    text: str


class PassBody(TypedDict):
    """pass@k of both arms in one scope, over prompts that were asked at least k times."""

    scope: str
    k: int
    prompts: int
    left_out: int
    baseline: NumberBody
    candidate: NumberBody
    difference: NumberBody


class PolicyBody(TypedDict):
    """What one policy says; `verdict` is `None` where only its hash is known."""

    policy_hash: str
    declared_by: list[str]
    verdict: State | None
    changes: list[str]
    gates: bool


class ReviewBody(TypedDict):
    """What reviewers' marks change. `followed`: the verdict after them is the one that gates."""

    before: State
    after: State
    followed: bool
    one_sided: str | None
    difference_before: NumberBody
    difference_after: NumberBody
    marks: list[dict[str, str]]


class LookBody(TypedDict):
    """Which look at the data this is."""

    number: int
    stage: int
    plan: str
    planned: bool


class CandidateBody(TypedDict):
    """One candidate."""

    endpoint: str
    label: str
    verdict: State
    exit_code: int
    sentence: str
    codes: list[ReasonBody]
    scopes: dict[str, ScopeBody]
    metrics: list[MetricBody]
    threats: list[ThreatBody]
    remedies: list[RemedyBody]
    slices: list[SliceBody]
    noise_floor: NoiseBody | None
    pass_at: list[PassBody]
    policies: list[PolicyBody]
    review: ReviewBody | None
    look: LookBody | None


class RecommendationBody(TypedDict):
    """Which endpoint to ship."""

    action: Literal["ship_candidate", "keep_baseline", "not_yet"]
    endpoint: str | None
    text: str


class PathsBody(TypedDict):
    """The files of a comparison folder."""

    html: str
    markdown: str
    junit: str
    comparison: str


class SummaryBody(TypedDict):
    """One comparison, as `compare --json` and `report --json` print it.

    `against` is the stored release that the baseline is. `paths` are there where files were
    written; `folder`, `checked` and `note` where the gate read one.
    """

    evalkit_version: str
    verdict: State
    exit_code: int
    sentence: str
    recommendation: RecommendationBody
    baseline: str
    policy_hash: str
    created: str
    redacted: bool
    against: dict[str, Any] | None
    candidates: list[CandidateBody]
    paths: NotRequired[PathsBody]
    folder: NotRequired[str]
    checked: NotRequired[Literal["runs", "comparison"]]
    note: NotRequired[str | None]


class GateBody(TypedDict):
    """What `gate --json` prints: the gravest exit code, and every comparison."""

    exit_code: int
    comparisons: list[SummaryBody]
