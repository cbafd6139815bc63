"""What a runner tells while it runs: plain data for progress bars and logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalkit.types import Completion


@dataclass(frozen=True, slots=True)
class Limits:
    """How hard an endpoint is asked.

    Attributes:
        max_connections: Requests in flight at most.
        first_connections: Requests in flight until the endpoint has shown that it takes them.
        max_attempts: Tries for each request.
        backoff_base: Seconds; the first wait is at most this.
        backoff_cap: Seconds; no wait is longer, unless the server asks for it.
        retry_after_cap: Seconds; what a server asks for is honoured up to here.
        give_up_after: Requests in a row that failed all their tries, whereupon an endpoint
            that does not answer a plain question either is down.
    """

    max_connections: int = 4
    first_connections: int = 4
    max_attempts: int = 5
    backoff_base: float = 0.5
    backoff_cap: float = 30.0
    retry_after_cap: float = 300.0
    give_up_after: int = 20


@dataclass(frozen=True, slots=True)
class Planned:
    """Said once, before the first request. `reused` answers were in the journal already."""

    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class Completed:
    """A request was answered. `done` counts reused ones too."""

    completion: Completion
    done: int
    total: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Retried:
    """A try failed and another one follows after `delay` seconds."""

    sample_id: str
    attempt: int
    error: str
    delay: float


@dataclass(frozen=True, slots=True)
class Slowed:
    """The endpoint is overloaded and is given less: requests at once, or a pause in seconds."""

    connections: int
    pause: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A request came to its end without an answer."""

    completion: Completion
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What a run came to.

    Attributes:
        total: Requests asked for.
        reused: Answers that were in the journal already.
        answered: Answers that came now.
        failed: Requests without an answer; they are asked again by the next run.
        failures: The same, by kind: names of classes in `errors.py`.
        retries: Tries beyond the first ones.
        slowdowns: How often the endpoint was overloaded and given less.
        least_connections: The smallest number of requests at once that it was given.
        interrupted: Whether it was stopped before its end.
        prompt_tokens: Of the answers that came now, as the server counts.
        completion_tokens: Likewise.
        seconds: Wall time.
    """

    total: int
    reused: int
    answered: int
    failed: int
    retries: int
    interrupted: bool
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    failures: Mapping[str, int] = field(default_factory=dict)
    slowdowns: int = 0
    least_connections: int | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """Said once, at the end, unless the run raised."""

    summary: RunSummary


Event = Planned | Completed | Retried | Slowed | Failed | Finished
