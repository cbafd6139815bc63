"""What is watched in production, and from which measurement each threshold comes.

Seconds, tokens a second, bytes, and shares as fractions, as in the measurement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Watched = Literal[
    "ttft",
    "itl",
    "decode",
    "prefill",
    "throughput",
    "memory",
    "kv_cache",
    "preemptions",
    "errors",
    "restarts",
    "acceptance",
]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit, and where it comes from.

    Attributes:
        evidence: `measured` here, or `given` as a setting.
        figure: What was measured; `None` where nothing was.
        end: The end of its 95% interval on the bad side; `None` where there is none.
        wanted: That end, or the figure, with head-room.
        limit: What the rule reads: `wanted`, or the next bound of a histogram above it.
        n: Requests that the figure rests on.
        context: Tokens of the prompts there; `None` where it is of no point.
        level: Requests in flight, or a second, there; likewise.
    """

    watched: Watched
    evidence: Literal["measured", "given"]
    figure: float | None
    end: float | None
    wanted: float
    limit: float
    n: int = 0
    context: int | None = None
    level: float | None = None


@dataclass(frozen=True, slots=True)
class AlertRule:
    """One rule for Prometheus.

    Attributes:
        expr: PromQL, on several lines.
        hold: How long it must be true: `10m`.
    """

    name: str
    threshold: Threshold
    expr: str
    hold: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What no rule watches, and why, as a code with finished facts."""

    watched: Watched
    code: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of one endpoint.

    Attributes:
        arm: Its name in the comparison.
        engine: `vllm` or `llama.cpp`: whose metrics are read.
        measured_on: The engine that the figures are of, as it told; `None` when it did not.
        quantile: The share of requests below a latency that is watched.
        headroom: Added to every measured figure, as a fraction.
    """

    arm: str
    engine: str
    quantile: float
    headroom: float
    window: str
    hold: str
    rules: tuple[AlertRule, ...]
    left_out: tuple[LeftOut, ...]
    measured_on: str | None = None


@dataclass(frozen=True, slots=True)
class CanarySize:
    """What a canary must see to notice a loss of the margin.

    Attributes:
        margin: Acceptable loss, a fraction.
        accuracy: Of the baseline, in this comparison.
        split: Graded requests of each side when traffic is split: two samples.
        mirrored: Requests that both sides answer when traffic is mirrored: pairs; `None` where
            the flips are not known.
        step_back: A loss of accuracy between two samples of `split` requests each that speaks
            against equal sides, a fraction: the trigger.
        worst_loss: Upper end of the measured loss, a fraction; never below 0.
        degenerate: Share of empty, looping or malformed answers of the candidate.
        degenerate_limit: Its exact one-sided 95% bound.
        degenerate_most: How many of `split` answers may be so: more come by chance in at most
            5% of cases, even at the bound.
    """

    margin: float
    accuracy: float
    split: int
    mirrored: int | None
    step_back: float
    worst_loss: float | None
    degenerate: float | None
    degenerate_limit: float | None
    degenerate_most: int | None
