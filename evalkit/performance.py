"""What a probe of speed found: the content of `performance.json`.

Seconds, tokens and tokens a second; a ratio is candidate ÷ baseline. `None` means "no number".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evalkit.estimates import Estimate
from evalkit.speculation import Speculation

PERFORMANCE_VERSION = 1

LATENCIES = ("ttft", "itl", "tpot", "e2e")
"""Seconds: to the first token, between two tokens, their mean over an answer, to the end."""

RATES = ("decode", "prefill")
"""Tokens a second of one request: after its first token, and of its prompt until then."""

SHARES = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Load:
    """How an endpoint is kept busy.

    Attributes:
        mode: `closed`: so many requests are always in flight; `open`: they come at random
            (Poisson), whether or not earlier ones were answered.
        level: Requests in flight; or requests a second.
    """

    mode: Literal["closed", "open"]
    level: float

    def __str__(self) -> str:
        return f"{self.level:g}/s" if self.mode == "open" else f"{self.level:g}"


@dataclass(frozen=True, slots=True)
class Slo:
    """What a request must keep to count as good: seconds; `None` asks nothing.

    Attributes:
        itl: Of the mean between two tokens of the answer.
    """

    ttft: float | None = None
    itl: float | None = None
    e2e: float | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """One round of one arm at one point.

    Attributes:
        number: From 0; rounds of equal number stand beside each other in time.
        again: Whether it was measured because the first round was an outlier.
        replaced: Whether another one counts instead.
        medians: Over its requests, by metric; `None` where nothing was answered.
        throughput: Completion tokens a second, all requests together.
    """

    number: int
    again: bool
    replaced: bool
    wall_seconds: float
    medians: Mapping[str, float | None]
    throughput: float | None


@dataclass(frozen=True, slots=True)
class Goodput:
    """Requests that kept the target; a failed one did not."""

    share: Estimate
    per_second: float


@dataclass(frozen=True, slots=True)
class ArmPoint:
    """One arm at one point.

    Attributes:
        failures: Requests without an answer, by kind.
        quantiles: By metric: p50, p90, p95, p99.
        prompt_tokens: Fewest and most, as the server counts; `None` when it does not.
        completion_tokens: Median, as the server counts.
        throughput: Completion tokens a second, all requests together; median of rounds.
        requests_per_second: Answered; median of rounds.
        latest: Seconds by which a request left later than it should have, at most.
        warm_up: Median time to the end of each round before the first that counts.
        steady: Whether the last two of them differed by a tenth at most.
        odd_first: Whether the first round was an outlier.
        resent: Requests whose connection was closed, so that they were sent on a new one.
        repeats: All rounds, in their order.
    """

    n_requests: int
    n_answered: int
    failures: Mapping[str, int]
    quantiles: Mapping[str, tuple[Estimate, ...]]
    prompt_tokens: tuple[int, int] | None
    completion_tokens: float | None
    throughput: Estimate
    requests_per_second: Estimate
    goodput: Goodput | None
    latest: float
    warm_up: tuple[float | None, ...]
    steady: bool
    odd_first: bool
    resent: int
    repeats: tuple[Repeat, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """One context length under one load.

    Attributes:
        asked: Tokens of the prompt that were asked for.
        context: Tokens of the prompt that were made: fewer where an endpoint holds less.
        arms: By name.
        ratios: Candidate ÷ baseline, by candidate and metric.
    """

    asked: int
    context: int
    load: Load
    arms: Mapping[str, ArmPoint]
    ratios: Mapping[str, Mapping[str, Estimate]]


@dataclass(frozen=True, slots=True)
class Memory:
    """The most memory that was seen in use.

    Attributes:
        source: `processes` (resident, of the server's processes), `growth` (of this process,
            which holds the engine), `metrics` (the server's own figure) or `nvidia-smi`.
        processes: How many were looked at; `None` where none can be told apart.
    """

    source: Literal["processes", "growth", "metrics", "nvidia-smi"]
    peak_bytes: int
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class MeasuredArm:
    """Who was measured."""

    name: str
    label: str
    identity: Mapping[str, Any]
    memory: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class Remark:
    """What a reader must know of the measurement, as a code with its facts."""

    code: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Performance:
    """All that a probe found.

    Attributes:
        arms: The baseline first.
        settings: How it was measured.
        price: Of one hour of an endpoint, in whatever currency.
        prices: Of one hour, by arm, where they differ.
        speculation: Speculative decoding on and off, one for each build; empty where it was
            not asked for.
    """

    schema_version: int
    evalkit_version: str
    created: str
    settings: Mapping[str, Any]
    slo: Slo | None
    price: float | None
    arms: tuple[MeasuredArm, ...]
    points: tuple[Point, ...]
    remarks: tuple[Remark, ...]
    prices: Mapping[str, float] = field(default_factory=dict)
    speculation: tuple[Speculation, ...] = ()
