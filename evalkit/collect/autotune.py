"""How many requests at once an endpoint answers fastest, without refusing any.

A warm-up doubles the number at once until the rate no longer grows or a request fails, and
then closes in on the border of failing. Its requests are prompts of the plan; its answers are
thrown away: they came under a load that changed, and a load can change answers.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field

from evalkit.endpoints.base import Endpoint
from evalkit.errors import (
    AuthError,
    BadRequest,
    CertificateError,
    EndpointError,
    LaunchError,
    NotFoundError,
    UnsupportedError,
)
from evalkit.types import Request

MOST = 256
"""Connections that are never exceeded by finding out."""

_GAIN = 1.10
_AS_GOOD = 0.95
_ROUNDS, _FEWEST = 2, 8
_LARGEST_SHARE = 0.5
_SHAKY = 8
_SECONDS = 120.0
_REST, _LONGEST_REST = 1.0, 60.0
_FATAL = (AuthError, CertificateError, LaunchError, NotFoundError, UnsupportedError)

_log = logging.getLogger(__name__)

Sleep = Callable[[float], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Trial:
    """What one number of requests at once came to.

    Attributes:
        connections: Requests at once.
        rate: Completion tokens a second where the server counts them, else answers a second.
        answers: Answers that came.
        error: Kind of the first failure; `None` when nothing failed.
    """

    connections: int
    rate: float
    answers: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Tuning:
    """The number that was found, and how."""

    connections: int
    trials: tuple[Trial, ...]

    @property
    def requests(self) -> int:
        """Answers that the warm-up cost."""
        return sum(trial.answers for trial in self.trials)


async def find_connections(
    endpoint: Endpoint,
    requests: Sequence[Request],
    *,
    stop: asyncio.Event,
    most: int = MOST,
    seconds: float = _SECONDS,
    sleep: Sleep = asyncio.sleep,
    clock: Callable[[], float] = time.perf_counter,
) -> Tuning:
    """Find the number of connections with the highest rate at which nothing fails.

    Among rates that are as good, the smallest number wins. The warm-up never takes more
    than half as many requests as the plan has, so that a short plan gets a small number.

    Args:
        endpoint: Opened.
        requests: Of the plan, in its order; they are taken from its end.
        stop: When set, no further trial begins.
        most: Connections that are not exceeded.
        seconds: For the whole; a trial that has begun is finished.
        sleep: Waits after a failure; replaced in tests.
        clock: Seconds; replaced in tests.

    Raises:
        AuthError: Likewise CertificateError and NotFoundError: nothing will ever work.
    """
    warmup = _Warmup(endpoint, requests, sleep, clock)
    end = clock() + seconds
    failing: int | None = None
    for connections in _doubling(most):
        if stop.is_set() or clock() > end or not warmup.affords(connections):
            break
        trial = await warmup.run(connections)
        if trial.error is not None:
            failing = connections
            break
        if not warmup.grows():
            break
    while failing is not None and not stop.is_set() and clock() <= end:
        good = max((one.connections for one in warmup.good), default=0)
        if failing - good <= max(1, good // 10):
            break
        middle = (good + failing) // 2
        if not warmup.affords(middle):
            break
        if (await warmup.run(middle)).error is not None:
            failing = middle
    return Tuning(warmup.best(), tuple(warmup.trials))


def _doubling(limit: int) -> Iterator[int]:
    numbers = itertools.takewhile(lambda n: n < limit, (2**i for i in itertools.count()))
    return itertools.chain(numbers, (limit,))


def _cost(connections: int) -> int:
    return max(_FEWEST, _ROUNDS * connections)


@dataclass(slots=True)
class _Load:
    """What came back in one trial."""

    answers: int = 0
    tokens: int | None = 0
    failure: EndpointError | None = None


@dataclass(slots=True)
class _Warmup:
    """Trials of one endpoint, and their prompts."""

    endpoint: Endpoint
    requests: Sequence[Request]
    sleep: Sleep
    clock: Callable[[], float]
    trials: list[Trial] = field(default_factory=list)
    taken: int = 0

    async def run(self, connections: int) -> Trial:
        """Ask so many at once, each a few times, and note the rate."""
        load = _Load()
        queue = iter([self._next() for _ in range(_cost(connections))])
        began = self.clock()
        workers = [asyncio.create_task(self._work(queue, load)) for _ in range(connections)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        elapsed = max(self.clock() - began, 1e-9)
        done = load.answers if load.tokens is None else load.tokens
        error = None if load.failure is None else type(load.failure).__name__
        trial = Trial(connections, done / elapsed, load.answers, error)
        self.trials.append(trial)
        _log.info("%s: %s", self.endpoint.name, trial)
        if load.failure is not None:
            await self.sleep(max(_REST, min(load.failure.retry_after or 0.0, _LONGEST_REST)))
        return trial

    def affords(self, connections: int) -> bool:
        """Whether the plan is long enough for another trial; the first one always is."""
        share = (self.taken + _cost(connections)) / max(1, len(self.requests))
        return not self.trials or share <= _LARGEST_SHARE

    @property
    def good(self) -> list[Trial]:
        return [trial for trial in self.trials if trial.error is None]

    def grows(self) -> bool:
        """Whether doubling on may be worth it.

        A trial of few requests may be slow by chance: there, two in a row must be no better.
        """
        patience = 2 if self.trials[-1].connections <= _SHAKY else 1
        earlier = [trial.rate for trial in self.trials[:-patience]]
        lately = [trial.rate for trial in self.trials[-patience:]]
        return not earlier or max(lately) >= _GAIN * max(earlier)

    def best(self) -> int:
        """Return the smallest number whose rate is about the highest."""
        if not self.good:
            return 1
        enough = _AS_GOOD * max(trial.rate for trial in self.good)
        return min(trial.connections for trial in self.good if trial.rate >= enough)

    def _next(self) -> Request:
        # From the end, so that no prompt is asked again soon: a prefix cache would know it.
        self.taken += 1
        return self.requests[-1 - (self.taken - 1) % len(self.requests)]

    async def _work(self, queue: Iterator[Request], load: _Load) -> None:
        for request in queue:
            if load.failure is not None:
                return
            try:
                reply = await self.endpoint.send(request.messages, request.sampling)
            except _FATAL:
                raise
            except BadRequest:
                # A prompt that does not fit says nothing about the load.
                continue
            except EndpointError as error:
                load.failure = load.failure or error
                return
            load.answers += 1
            tokens = reply.usage.completion_tokens
            load.tokens = None if tokens is None or load.tokens is None else load.tokens + tokens
