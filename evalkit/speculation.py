"""What a probe of speculative decoding found: a part of `performance.json`, and `routing.yaml`.

Ratios are speculating ÷ not speculating. `None` means "no number".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evalkit.estimates import Estimate
from evalkit.types import DraftCounts

ROUTING_VERSION = 1

OFF = "off"
"""The name of the arm without speculation."""

WORKLOADS = (
    "short_reasoning",
    "code_review",
    "long_output",
    "tool_results",
    "long_input",
    "templated_code",
)

Metric = Literal["decode", "answer", "throughput"]
"""What routes are decided by: tokens a second of one request, seconds to the end of a short
answer, tokens a second of all requests together."""

Standing = Literal["faster", "slower", "unclear", "few", "not_measured"]
"""How speculation does: by an interval of a ratio that leaves 1 out, or not; `few` where the
pairs are too few for any interval to say so."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """How many drafted tokens were accepted, with prompts as clusters.

    Attributes:
        rate: Accepted ÷ drafted tokens.
        positions: Share of drafts whose token at that place was accepted, as vLLM and llama.cpp
            count; empty where the server does not tell.
        drafted: Tokens.
        accepted: Tokens.
        drafts: Steps that checked a draft.
        a_step: Tokens of a step that checked a draft: the accepted ones and one of the model.
        source: `metrics` of the server, or `timings` in its answers.
    """

    rate: Estimate
    positions: tuple[Estimate, ...]
    drafted: int
    accepted: int
    drafts: int | None
    a_step: float | None
    source: Literal["metrics", "timings"]


@dataclass(frozen=True, slots=True)
class WorkloadArm:
    """One arm on one kind of work, one request at a time.

    Attributes:
        n_asked: Prompts.
        failures: Prompts without an answer, by kind.
        prompt_tokens: Median, as the server counts.
        completion_tokens: Median, as the server counts.
        acceptance: `None` where nothing was drafted, or nothing is told.
        ttft: Seconds to the first token, median of prompts.
        decode: Tokens a second after the first, median of prompts.
        ratios: To the arm without speculation, by `ttft` and `decode`, paired by prompt.
    """

    n_asked: int
    failures: Mapping[str, int]
    prompt_tokens: float | None
    completion_tokens: float | None
    acceptance: Acceptance | None
    ttft: Estimate
    decode: Estimate
    ratios: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class LoadArm:
    """One arm under one load of mixed work.

    Attributes:
        throughput: Completion tokens a second, all requests together; median of rounds.
        ratio: To the arm without speculation, paired by round; `None` for that arm itself.
    """

    n_requests: int
    failures: Mapping[str, int]
    throughput: Estimate
    ratio: Estimate | None


@dataclass(frozen=True, slots=True)
class Crossover:
    """From how many requests in flight on speculation slows down.

    Attributes:
        kind: `between` two measured numbers; `none` where it is faster at all of them;
            `always_slower`; `unclear` where no such sentence holds; `not_measured`.
        faster_up_to: The highest number at which it is faster, and at all below.
        slower_from: The lowest from which on it is slower.
        estimate: Where the throughputs are equal, on a line through the logarithms of both
            numbers; with the range over resampled rounds.
    """

    kind: Literal["between", "none", "always_slower", "unclear", "not_measured"]
    faster_up_to: int | None = None
    slower_from: int | None = None
    estimate: Estimate | None = None


@dataclass(frozen=True, slots=True)
class Equality:
    """Whether speculation changes texts at temperature 0.

    Attributes:
        different: Prompts whose text is another one than without speculation.
        noise: Of the same prompts, those whose text without speculation differs from itself.
        n: Prompts with all three answers.
        excess: Share of `different` minus share of `noise`, paired by prompt.
        finding: `equal` in every one, `beyond` or `within` the noise floor, or `not_measured`.
        agreement: Characters before the first difference, as a share of the longer text:
            median of those that differ.
    """

    different: int
    noise: int
    n: int
    excess: Estimate | None
    finding: Literal["equal", "beyond", "within", "not_measured"]
    agreement: float | None = None


@dataclass(frozen=True, slots=True)
class SpeculativeArm:
    """One arm of a group.

    Attributes:
        label: `off`, `on`, `depth3`, as the command line names it.
        arm: Its name in `Performance.arms`.
        depth: Tokens of the longest draft whose places were counted.
        workloads: By kind of work.
        loads: By requests in flight.
        contexts: Time to the first token ÷ that without speculation, by tokens of the prompt;
            empty for the arm without speculation.
        crossover: `None` for the arm without speculation.
        equality: `None` for the arm without speculation.
        lifetime: What its server had counted before the probe asked anything.
        added_bytes: Memory beyond that of the arm without speculation.
        added_from: Where both figures were read from.
        compare: The command that compares quality; empty for the arm without speculation.
    """

    label: str
    arm: str
    depth: int | None
    workloads: Mapping[str, WorkloadArm]
    loads: Mapping[int, LoadArm]
    contexts: Mapping[int, Estimate] = field(default_factory=dict)
    crossover: Crossover | None = None
    equality: Equality | None = None
    lifetime: DraftCounts | None = None
    added_bytes: int | None = None
    added_from: str | None = None
    compare: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """What to do with one kind of request, and the figures that say so.

    Attributes:
        case: `interactive`, `long_prompt_short_answer`, `batch`, or a kind of work.
        choice: Label of the arm to use; `None` where it was not measured.
        standing: How the best speculating arm does against none.
        rule: `faster`, `deeper`, `slower`, `unclear`, `careful`, `few` or `not_measured`.
        metric: What was compared.
        context: Tokens of the prompt; `None` for a mix.
        concurrency: Requests in flight.
        ratios: To no speculation, by label; of `answer` a low one is good.
        ttft: The same of the time to the first token, where it matters.
        acceptance: By label, of this kind of work.
        deeper: A deeper draft's ratio to the shallowest that pays, where there are both.
        why: The same as a sentence, in `routing.yaml`.
    """

    case: str
    choice: str | None
    standing: Standing
    rule: str
    metric: Metric
    context: int | None = None
    concurrency: int | None = None
    ratios: Mapping[str, Estimate] | None = None
    ttft: Mapping[str, Estimate] | None = None
    acceptance: Mapping[str, float] | None = None
    deeper: Estimate | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Speculation:
    """Speculation on and off of one build.

    Attributes:
        group: Which build, where several were measured: `int4`.
        arms: The one without speculation first, where there is one.
        answer_tokens: Of the short answer in `long_prompt_short_answer`.
        routes: What to do with which request.
    """

    group: str | None
    arms: tuple[SpeculativeArm, ...]
    answer_tokens: int
    routes: tuple[Route, ...]

    @property
    def off(self) -> SpeculativeArm | None:
        """The arm without speculation."""
        return next((arm for arm in self.arms if arm.label == OFF), None)


@dataclass(frozen=True, slots=True)
class RoutedArm:
    """Where requests go, and up to which load its draft pays."""

    endpoint: str
    depth: int | None
    crossover: Crossover | None


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """The routes of one build; its arms by label."""

    group: str | None
    arms: Mapping[str, RoutedArm]
    routes: tuple[Route, ...]


@dataclass(frozen=True, slots=True)
class Routing:
    """The content of `routing.yaml`."""

    schema_version: int
    evalkit_version: str
    created: str
    tables: tuple[RoutingTable, ...]
