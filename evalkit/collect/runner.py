"""The schedule: bounded concurrency, retries, one record for each request."""

from __future__ import annotations

import asyncio
import itertools
import logging
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence

from evalkit.collect.events import (
    Completed,
    Event,
    Failed,
    Finished,
    Limits,
    Planned,
    Retried,
    RunSummary,
)
from evalkit.collect.journal import RunFolder
from evalkit.endpoints.base import Endpoint
from evalkit.errors import AuthError, ConnectError, EndpointError, NotFoundError
from evalkit.types import Attempt, Completion, CompletionError, Reply, Request, Timing, Usage

Sleep = Callable[[float], Awaitable[object]]

_log = logging.getLogger(__name__)


async def collect(
    endpoint: Endpoint,
    requests: Sequence[Request],
    folder: RunFolder,
    *,
    limits: Limits,
    on_event: Callable[[Event], None],
    stop: asyncio.Event,
    sleep: Sleep = asyncio.sleep,
    rng: random.Random | None = None,
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

    Raises:
        AuthError: At the first refusal of the key.
        NotFoundError: At the first answer that path or model is not there.
        EndpointError: When the endpoint is down: nothing was ever answered and a request
            could not connect in all its tries, or `give_up_after` requests in a row failed.
        StoreError: When a record cannot be written.
    """
    answered = folder.answered()
    pending = [request for request in requests if request.fingerprint not in answered]
    reused = len(requests) - len(pending)
    del answered
    on_event(Planned(total=len(requests), reused=reused))
    run = _Run(endpoint, folder, limits, on_event, stop, sleep, rng or random.Random())
    summary = await run.drive(pending, reused)
    on_event(Finished(summary))
    return summary


class _Run:
    """The state that the workers of one run share."""

    def __init__(
        self,
        endpoint: Endpoint,
        folder: RunFolder,
        limits: Limits,
        on_event: Callable[[Event], None],
        stop: asyncio.Event,
        sleep: Sleep,
        rng: random.Random,
    ) -> None:
        self._endpoint = endpoint
        self._folder = folder
        self._limits = limits
        self._on_event = on_event
        self._stop = stop
        self._sleep = sleep
        self._rng = rng
        self._total = self._reused = self._answered = self._failed = 0
        self._retries = self._prompt_tokens = self._completion_tokens = 0
        self._failed_in_a_row = 0
        self._heard = False
        self._not_before = 0.0

    async def drive(self, pending: Sequence[Request], reused: int) -> RunSummary:
        clock = time.perf_counter()
        self._reused, self._total = reused, reused + len(pending)
        queue = iter(pending)
        count = min(self._limits.max_connections, len(pending))
        workers = [asyncio.create_task(self._work(queue)) for _ in range(count)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return RunSummary(
            total=self._total,
            reused=reused,
            answered=self._answered,
            failed=self._failed,
            retries=self._retries,
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
            self._settle(completion)

    async def _complete(self, request: Request) -> Completion | None:
        """Ask until there is an answer or no sense in asking on; `None` when stopped."""
        attempts: list[Attempt] = []
        started = time.time()
        for number in itertools.count(1):
            if not await self._wait(self._not_before - time.monotonic()):
                return None
            clock = time.perf_counter()
            try:
                reply = await self._endpoint.send(request.messages, request.sampling)
            except EndpointError as error:
                seconds = time.perf_counter() - clock
                attempts.append(Attempt(seconds, type(error).__name__, error.status))
                if not self._again(error, number):
                    return _failure(request, error, started, attempts)
                self._retries += 1
                if not await self._back_off(request, error, number):
                    return None
            else:
                attempts.append(Attempt(time.perf_counter() - clock))
                return _success(request, reply, attempts)
        raise AssertionError("unreachable")

    def _again(self, error: EndpointError, number: int) -> bool:
        """Whether another try makes sense.

        Raises:
            EndpointError: When no further request makes sense at all.
        """
        if isinstance(error, (AuthError, NotFoundError)):
            raise error
        self._heard = self._heard or error.status is not None
        if error.retryable and number < self._limits.max_attempts:
            return True
        if isinstance(error, ConnectError) and not self._heard:
            raise error
        # A refused request is an answer too: only tries used up are a sign of an outage.
        self._failed_in_a_row = self._failed_in_a_row + 1 if error.retryable else 0
        return False

    async def _back_off(self, request: Request, error: EndpointError, number: int) -> bool:
        """Wait with full jitter; `False` when stopped meanwhile.

        A server that asks for a pause gets one from all workers.
        """
        limits = self._limits
        ceiling = min(limits.backoff_cap, limits.backoff_base * 2 ** (number - 1))
        delay = self._rng.uniform(0, ceiling)
        if error.retry_after is not None:
            pause = min(error.retry_after, limits.retry_after_cap)
            delay += pause
            self._not_before = max(self._not_before, time.monotonic() + pause)
        self._on_event(Retried(request.sample_id, number, type(error).__name__, delay))
        _log.info("%s: try %d failed (%s), next in %.1f s", request.sample_id, number, error, delay)
        return await self._wait(delay)

    async def _wait(self, delay: float) -> bool:
        """Wait, unless stopped; say whether to go on."""
        if self._stop.is_set():
            return False
        if delay <= 0:
            return True
        waits = [
            asyncio.ensure_future(self._sleep(delay)),
            asyncio.ensure_future(self._stop.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
        return not self._stop.is_set()

    def _settle(self, completion: Completion) -> None:
        """Write a record, count it and tell of it.

        Raises:
            EndpointError: When too many requests in a row failed.
            StoreError: When it cannot be written.
        """
        self._folder.append(completion)
        if completion.error is None:
            self._answered += 1
            self._heard, self._failed_in_a_row = True, 0
            self._prompt_tokens += completion.usage.prompt_tokens or 0
            self._completion_tokens += completion.usage.completion_tokens or 0
            self._on_event(Completed(completion, self._done, self._total, self._completion_tokens))
            return
        self._failed += 1
        self._on_event(Failed(completion, self._done, self._total))
        if self._failed_in_a_row >= self._limits.give_up_after:
            raise self._outage(completion.error)

    def _outage(self, last: CompletionError) -> EndpointError:
        return EndpointError(
            f"Endpoint '{self._endpoint.name}' seems to be down: {self._failed_in_a_row} "
            f"requests in a row failed. The last error: {last.message}",
            hint="What was answered is kept; the same command goes on from there.",
            status=last.status,
        )

    @property
    def _done(self) -> int:
        return self._reused + self._answered + self._failed


def _success(request: Request, reply: Reply, attempts: Sequence[Attempt]) -> Completion:
    return Completion(
        sample_id=request.sample_id,
        taskset=request.taskset,
        epoch=request.epoch,
        prompt_hash=request.prompt_hash,
        fingerprint=request.fingerprint,
        text=reply.text,
        reasoning=reply.reasoning,
        finish_reason=reply.finish_reason,
        usage=reply.usage,
        timing=reply.timing,
        attempts=tuple(attempts),
    )


def _failure(
    request: Request, error: EndpointError, started: float, attempts: Sequence[Attempt]
) -> Completion:
    return Completion(
        sample_id=request.sample_id,
        taskset=request.taskset,
        epoch=request.epoch,
        prompt_hash=request.prompt_hash,
        fingerprint=request.fingerprint,
        text=None,
        reasoning=None,
        finish_reason=None,
        usage=Usage(),
        timing=Timing(started=started, total=time.time() - started),
        attempts=tuple(attempts),
        error=CompletionError(type(error).__name__, error.message, error.status),
    )
