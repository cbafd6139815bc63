"""What hours of load found: the content of `soak.json`.

Times are seconds since the load began; memory is in bytes. `None` means "no number".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evalkit.estimates import Estimate

STABILITY_VERSION = 1

MEMORIES = ("processes", "growth", "gpu", "metrics")
"""Resident memory of the server's processes; of this process, where it holds the engine; on
the GPU, by nvidia-smi; the server's own figure."""

TrendState = Literal["found", "settling", "open", "steady", "unknown"]
"""Proven and large enough; grows, but more and more slowly; not excluded yet; excluded up to
the limit; too few measurements."""

State = Literal["stable", "unstable", "unmeasured"]


@dataclass(frozen=True, slots=True)
class StabilityTrend:
    """How one figure went on after its warm-up.

    Attributes:
        name: `memory.` and one of `MEMORIES`, `latency`, `first_token` or `throughput`.
        slope: Bytes a minute; else a share of the level an hour, in the direction that is bad.
        limit: The slope that counts, in the same unit.
        rise: What the slope makes over the time that counts.
        level: Of the fitted line where that time begins.
        settled: When it begins.
        span: How long it is, in seconds.
        lasting: Whether what was gained was kept in each third of it.
    """

    name: str
    state: TrendState
    slope: Estimate
    limit: float
    rise: float | None
    level: float | None
    settled: float
    span: float
    lasting: bool


@dataclass(frozen=True, slots=True)
class Burst:
    """Failures that came close together, beyond the rate of the rest.

    Attributes:
        pvalue: Adjusted for all windows that were looked at.
    """

    began: float
    ended: float
    n_failed: int
    n_requests: int
    pvalue: float
    kinds: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Outage:
    """A time without any answer; `ended` is `None` when it lasted to the end."""

    began: float
    ended: float | None
    n_failed: int


@dataclass(frozen=True, slots=True)
class Restart:
    """A server that began anew, or became another one.

    Attributes:
        signs: How it showed: `process`, `launch`, `start_time`, `counters`, `identity`.
        details: What each said.
    """

    at: float
    signs: tuple[str, ...]
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers to one fixed prompt at temperature 0, asked again and again.

    Attributes:
        n_texts: Different texts among them.
        pvalue: That one process made all of them; adjusted for the number of prompts.
        changed_at: When they most likely became other ones; `None` where they did not.
        before, after: The usual text on each side, cut.
    """

    prompt: str
    n: int
    n_texts: int
    pvalue: float | None
    changed_at: float | None
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class StabilityWindow:
    """A part of the time.

    Attributes:
        at: Its middle.
        latency: Median of time to the end ÷ what is usual for so many tokens.
        first_token: The same of the time to the first token.
        throughput: Completion tokens a second, all requests together.
        memory: The least that was held, by source.
        lag: Median of seconds by which this machine woke evalkit too late.
    """

    at: float
    n_requests: int
    n_failed: int
    latency: float | None
    first_token: float | None
    throughput: float | None
    memory: Mapping[str, float]
    lag: float | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A finding, or what a reader must know, as a code with its facts."""

    code: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stability:
    """All that a soak found.

    Attributes:
        asked: Seconds that it was to last.
        ran: That it lasted.
        settings: How it was made.
        failed: Share of requests that failed.
        failures: By kind.
        findings: What is wrong; none for a stable endpoint.
    """

    schema_version: int
    evalkit_version: str
    created: str
    endpoint: str
    label: str
    identity: Mapping[str, Any]
    settings: Mapping[str, Any]
    state: State
    asked: float
    ran: float
    n_requests: int
    n_failed: int
    failed: Estimate
    failures: Mapping[str, int]
    trends: tuple[StabilityTrend, ...]
    bursts: tuple[Burst, ...]
    outages: tuple[Outage, ...]
    restarts: tuple[Restart, ...]
    answers: tuple[Answers, ...]
    windows: tuple[StabilityWindow, ...]
    findings: tuple[Fact, ...]
    remarks: tuple[Fact, ...]
