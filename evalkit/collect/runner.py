"""The schedule: bounded concurrency, retries, one record for each request."""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Protocol

from evalkit.collect.endings import answered, failed
from evalkit.collect.events import (
    Completed,
    Event,
    Failed,
    Finished,
    Limits,
    Planned,
    Retried,
    RunSummary,
    Slowed,
)
from evalkit.collect.outage import Vitals
from evalkit.collect.requests import without
from evalkit.collect.throttle import Throttle
from evalkit.endpoints.base import Answers
from evalkit.errors import (
    AuthError,
    CertificateError,
    EndpointError,
    LaunchError,
    NotFoundError,
    RateLimited,
    Timeout,
    UnsupportedError,
)
from evalkit.types import Attempt, Completion, Request

_REFUSALS = (AuthError, CertificateError, LaunchError, NotFoundError, UnsupportedError)
# Unavailable, a gateway's deadline, and what Anthropic sends for an overload.
_OVERLOADED = frozenset({503, 504, 529})
# A key that is refused is refused sooner than this; an answer may take much longer.
_OPENING_SECONDS = 2.0

Sleep = Callable[[float], Awaitable[object]]
Keep = Callable[[Completion], Awaitable[Completion]]
"""Says what is journaled of a completion; it must not block the event loop."""

_log = logging.getLogger(__name__)


class Journal(Protocol):
    """Where records go: a run folder, or several as one."""

    def answered(self) -> set[str]:
        """Return the fingerprints that have an answer."""

    def append(self, *completions: Completion) -> None:
        """Write records; they survive the death of this process from here on."""


async def collect(
    endpoint: Answers,
    requests: Sequence[Request],
    folder: Journal,
    *,
    limits: Limits,
    on_event: Callable[[Event], None],
    stop: asyncio.Event,
    sleep: Sleep = asyncio.sleep,
    rng: random.Random | None = None,
    keep: Keep | None = None,
) -> RunSummary:
    """Ask an endpoint everything that the folder has no answer to.

    Failed requests become records with an error and are asked again by the next run.

    Args:
        endpoint: Opened.
        requests: In the order of asking.
        folder: Opened for writing; its header is the caller's matter.
        limits: How hard to ask.
        on_event: Called for everything that happens; it must be quick.
        stop: When set, requests in flight are finished and no other is begun.
        sleep: Waits; replaced in tests.
        rng: For the jitter of waits.
        keep: What is journaled of a completion; all of it when there is none. Its time
            counts as the request's: no other takes its place meanwhile.

    Raises:
        AuthError: At the first refusal of the key.
        CertificateError: At the first certificate that is not trusted.
        NotFoundError: At the first answer that path or model is not there.
        LaunchError: When a server that evalkit launched keeps dying.
        EndpointError: When the endpoint is down: `give_up_after` requests in a row failed, or
            a few that it refused one at a time, or the first one could not connect in all its
            tries; and a plain question is not answered either.
        StoreError: When a record cannot be written.
    """
    known = folder.answered()
    pending = without(requests, known)
    reused = len(requests) - len(pending)
    del known
    on_event(Planned(total=len(requests), reused=reused))
    run = _Run(endpoint, folder, limits, on_event, stop, sleep, rng or random.Random(), keep)
    summary = await run.drive(pending, reused)
    on_event(Finished(summary))
    return summary


class _Run:
    """The state that the workers of one run share."""

    def __init__(
        self,
        endpoint: Answers,
        folder: Journal,
        limits: Limits,
        on_event: Callable[[Event], None],
        stop: asyncio.Event,
        sleep: Sleep,
        rng: random.Random,
        keep: Keep | None,
    ) -> None:
        self._endpoint = endpoint
        self._folder = folder
        self._limits = limits
        self._on_event = on_event
        self._stop = stop
        self._sleep = sleep
        self._rng = rng
        self._keep = keep
        self._total = self._reused = self._answered = 0
        self._retries = self._prompt_tokens = self._completion_tokens = 0
        self._failures: Counter[str] = Counter()
        self._throttle = Throttle(
            limits.max_connections,
            first=limits.first_connections,
            hold_base=limits.backoff_base,
            hold_cap=limits.backoff_cap,
            rng=rng,
        )
        self._vitals = Vitals(endpoint, limits.give_up_after, self._throttle.alive)
        self._unwritten: list[Completion] = []

    async def drive(self, pending: Sequence[Request], reused: int) -> RunSummary:
        clock = time.perf_counter()
        self._reused, self._total = reused, reused + len(pending)
        queue = iter(pending)
        count = min(self._limits.max_connections, len(pending))
        workers = [asyncio.create_task(self._work(queue)) for _ in range(count)]
        opening = asyncio.get_running_loop().call_later(_OPENING_SECONDS, self._throttle.open)
        try:
            await asyncio.gather(*workers)
        finally:
            opening.cancel()
            for worker in workers:
                worker.cancel()
            try:
                # Before anything is waited for: another signal may cancel that too.
                self._write()
            finally:
                await asyncio.gather(*workers, return_exceptions=True)
        return RunSummary(
            total=self._total,
            reused=reused,
            answered=self._answered,
            failed=self._failed,
            failures=dict(self._failures.most_common()),
            retries=self._retries,
            slowdowns=self._throttle.slowdowns,
            least_connections=self._throttle.least if self._throttle.slowdowns else None,
            interrupted=self._answered + self._failed < len(pending),
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
            seconds=time.perf_counter() - clock,
        )

    async def _work(self, queue: Iterator[Request]) -> None:
        for request in queue:
            completion = await self._complete(request)
            if completion is None:
                return
            if self._keep is not None:
                completion = await self._keep(completion)
            await self._settle(completion)
            await self._vitals.make_sure(completion, kept=self._reused > 0)

    async def _complete(self, request: Request) -> Completion | None:
        """Ask until there is an answer or no sense in asking on; `None` when stopped."""
        attempts: list[Attempt] = []
        started = time.time()
        for number in itertools.count(1):
            ticket = await self._admit()
            if ticket is None:
                return None
            clock = time.perf_counter()
            try:
                reply = await self._endpoint.send(request.messages, request.sampling)
            except EndpointError as error:
                seconds = time.perf_counter() - clock
                attempts.append(Attempt(seconds, type(error).__name__, error.status))
                self._listen(error, ticket)
                if not self._again(error, number):
                    return failed(request, error, started, attempts)
                delay = self._delay(request, error, number)
            else:
                self._throttle.answered()
                attempts.append(Attempt(time.perf_counter() - clock))
                return answered(request, reply, attempts)
            finally:
                self._throttle.leave()
            if not await self._wait(delay):
                return None
        raise AssertionError("unreachable")

    async def _admit(self) -> int | None:
        """Wait until the endpoint may be asked: a ticket, or `None` when stopped."""
        waited = 0.0
        while not self._stop.is_set():
            until = self._throttle.not_before
            pause = until - time.monotonic()
            if until > waited and pause > 0:
                waited = until
                await self._wait(pause)
                await self._wait(self._rng.uniform(0, self._throttle.spread))
                continue
            ticket = self._throttle.enter()
            if ticket is not None:
                return ticket
            await self._or_stop(self._throttle.turn())
        return None

    def _listen(self, error: EndpointError, ticket: int) -> None:
        """Give an endpoint less that says it is overloaded."""
        late = isinstance(error, (RateLimited, Timeout)) or error.status in _OVERLOADED
        if not late:
            if error.status is not None and not isinstance(error, _REFUSALS):
                self._throttle.open()
            return
        pause = error.retry_after
        pause = None if pause is None else min(pause, self._limits.retry_after_cap)
        if self._throttle.overloaded(ticket, pause):
            places, rest = self._throttle.places, self._throttle.not_before - time.monotonic()
            self._on_event(Slowed(places, max(0.0, rest)))
            _log.info("overloaded: %d at once from now, pause %.1f s", places, max(0.0, rest))

    def _again(self, error: EndpointError, number: int) -> bool:
        """Whether another try makes sense.

        Raises:
            AuthError: At once.
            NotFoundError: Likewise.
        """
        if isinstance(error, _REFUSALS):
            raise error
        alone = self._throttle.holding
        hopeful = self._vitals.erred(error, alone=alone)
        if hopeful and error.retryable and number < self._limits.max_attempts:
            return True
        self._vitals.failed(error, alone=alone)
        return False

    def _delay(self, request: Request, error: EndpointError, number: int) -> float:
        """Return the seconds until the next try: full jitter, behind what the server asks for."""
        limits = self._limits
        ceiling = min(limits.backoff_cap, limits.backoff_base * 2 ** (number - 1))
        delay = self._rng.uniform(0, ceiling)
        delay += min(error.retry_after or 0.0, limits.retry_after_cap)
        self._retries += 1
        self._on_event(Retried(request.sample_id, number, type(error).__name__, delay))
        _log.info("%s: try %d failed (%s), next in %.1f s", request.sample_id, number, error, delay)
        return delay

    async def _wait(self, delay: float) -> bool:
        """Wait, unless stopped; say whether to go on."""
        if delay > 0 and not self._stop.is_set():
            await self._or_stop(asyncio.ensure_future(self._sleep(delay)))
        return not self._stop.is_set()

    async def _or_stop(self, awaited: asyncio.Future[Any]) -> None:
        """Wait for one thing, or for the order to stop."""
        waits = [awaited, asyncio.ensure_future(self._stop.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _write(self) -> None:
        if self._unwritten:
            self._folder.append(*self._unwritten)
            self._unwritten.clear()

    async def _settle(self, completion: Completion) -> None:
        """Write a record, count it and tell of it: in this order.

        Raises:
            StoreError: When it cannot be written.
        """
        self._unwritten.append(completion)
        # Replies that came in the same turn of the loop share one write: the first worker
        # to be resumed writes for all, and none goes on before its own record is written.
        await asyncio.sleep(0)
        self._write()
        if completion.error is None:
            self._answered += 1
            self._vitals.answered()
            self._prompt_tokens += completion.usage.prompt_tokens or 0
            self._completion_tokens += completion.usage.completion_tokens or 0
            self._on_event(Completed(completion, self._done, self._total, self._completion_tokens))
            return
        self._failures[completion.error.kind] += 1
        self._on_event(Failed(completion, self._done, self._total))

    @property
    def _failed(self) -> int:
        return self._failures.total()

    @property
    def _done(self) -> int:
        return self._reused + self._answered + self._failed
