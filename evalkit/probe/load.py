"""Load on one endpoint: each request with the clock that a user would read."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.endpoints.base import Timed, TimedReply
from evalkit.errors import ConnectError, EndpointError
from evalkit.performance import Load
from evalkit.types import Message, Reply, Sampling

Make = Callable[[int], tuple[Message, ...]]
"""The prompt of a request, by its place in the round."""

# How long before its time a request is woken: timers come up to a millisecond late.
_AHEAD = 0.003
# A connection that is closed shows at once; one that is refused later is a failure.
_CLOSED_WITHIN = 1.0
# No model is that fast: what comes faster was held back on its way, and came in one piece.
_FASTEST_TOKEN = 50e-6


@dataclass(frozen=True, slots=True)
class Shot:
    """One request. Times are of `time.perf_counter`.

    Attributes:
        due: When it should have been sent: latencies count from here, so that what a stalled
            server holds up is in them.
        sent: When it was.
        texts: When each part with text came.
        ended: When the answer was complete, or failed.
        error: Why there is no answer, by its class; `None` for an answer.
        twice: Whether its connection was closed, so that it was sent on a new one.
        sizes: Characters of each part with text; empty where they are not told.
    """

    due: float
    sent: float
    texts: tuple[float, ...]
    ended: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str | None = None
    twice: bool = False
    sizes: tuple[int, ...] = ()

    @property
    def ttft(self) -> float | None:
        """Seconds to the first token."""
        return self.texts[0] - self.due if self.texts else None

    @property
    def e2e(self) -> float | None:
        """Seconds to the end."""
        return self.ended - self.due if self.error is None else None

    @property
    def later_tokens(self) -> int | None:
        """Tokens after the first part, by the server's own count of all.

        That part holds a share of them like its share of the text, and no part holds none: the
        first token often comes alone, and then several in each part.
        """
        tokens, parts = self.completion_tokens, len(self.texts)
        if tokens is None or parts < 2:
            return None
        share = self.sizes[0] / sum(self.sizes) if self.sizes else 1 / parts
        return max(0, tokens - max(1, min(round(tokens * share), tokens - parts + 1)))

    @property
    def span(self) -> float | None:
        """Seconds from the first part to the last; `None` where all came in one piece."""
        tokens = self.later_tokens
        if not tokens:
            return None
        span = self.texts[-1] - self.texts[0]
        return span if span > tokens * _FASTEST_TOKEN else None

    @property
    def tpot(self) -> float | None:
        """Mean seconds from token to token after the first part."""
        tokens, span = self.later_tokens, self.span
        return span / tokens if span is not None and tokens else None

    @property
    def decode(self) -> float | None:
        """Tokens a second after the first part."""
        return None if self.tpot is None else 1 / self.tpot

    @property
    def prefill(self) -> float | None:
        """Tokens of the prompt a second, until the first token: queue and way included."""
        if self.ttft is None or self.ttft <= 0 or not self.prompt_tokens:
            return None
        return self.prompt_tokens / self.ttft

    @property
    def gaps(self) -> tuple[float, ...]:
        """Seconds from token to token, one by one; several in one part share its time."""
        if self.span is None or not self.later_tokens:
            return ()
        each = self.later_tokens / (len(self.texts) - 1)
        pairs = zip(self.texts, self.texts[1:], strict=False)
        return tuple((late - early) / each for early, late in pairs)


@dataclass(frozen=True, slots=True)
class Round:
    """All requests of one round, and when it began and ended."""

    shots: tuple[Shot, ...]
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Asking:
    """An endpoint and how it is asked."""

    endpoint: Timed
    sampling: Sampling
    extra: Mapping[str, Any]

    async def shoot(self, messages: tuple[Message, ...], due: float | None = None) -> Shot:
        """Send one request; an error is what came of it.

        Args:
            messages: The prompt.
            due: When it should be sent; `None`: now.
        """
        return (await self.hear(messages, due))[0]

    async def hear(
        self, messages: tuple[Message, ...], due: float | None = None
    ) -> tuple[Shot, Reply | None]:
        """Send one request, and return what was answered beside it; see `shoot`."""
        sent = time.perf_counter()
        due = sent if due is None else due
        try:
            timed, twice = await self._send(messages, sent)
        except EndpointError as error:
            return Shot(due, sent, (), time.perf_counter(), error=type(error).__name__), None
        shot = Shot(
            due,
            sent,
            timed.texts,
            timed.ended,
            timed.reply.usage.prompt_tokens,
            timed.reply.usage.completion_tokens,
            twice=twice,
            sizes=timed.sizes,
        )
        return shot, timed.reply

    async def _send(self, messages: tuple[Message, ...], sent: float) -> tuple[TimedReply, bool]:
        """Send a request; once more at once when its connection turns out to be closed.

        Servers close a connection that rested, at times in the very moment of a request. The
        clock runs on meanwhile.
        """
        try:
            return await self.endpoint.send_timed(messages, self.sampling, self.extra), False
        except ConnectError:
            if time.perf_counter() - sent > _CLOSED_WITHIN:
                raise
            return await self.endpoint.send_timed(messages, self.sampling, self.extra), True


def arrivals(rate: float, n: int, seed: str) -> tuple[float, ...]:
    """Return the times of n requests that come at random (Poisson), in seconds from 0."""
    rng = random.Random(seed)
    times, now = [], 0.0
    for _ in range(n):
        now += rng.expovariate(rate)
        times.append(now)
    return tuple(times)


async def run_round(asking: Asking, load: Load, n: int, make: Make, seed: str) -> Round:
    """Put one load on an endpoint until n requests came to their end.

    Args:
        asking: Whom, and how.
        load: Closed: whoever is answered asks the next; open: requests come by the clock.
        n: How many in all.
        make: Their prompts.
        seed: Of the arrivals.
    """
    prompts = [make(place) for place in range(n)]
    began = time.perf_counter()
    if load.mode == "open":
        due = [began + _AHEAD + late for late in arrivals(load.level, n, seed)]
        shots = await _open(asking, prompts, due)
    else:
        shots = await _closed(asking, prompts, int(load.level))
    return Round(tuple(shots), began, max((s.ended for s in shots), default=began))


async def _closed(
    asking: Asking, prompts: Sequence[tuple[Message, ...]], workers: int
) -> list[Shot]:
    waiting = iter(prompts)
    shots: list[Shot] = []

    async def work() -> None:
        for messages in waiting:
            shots.append(await asking.shoot(messages))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(workers, len(prompts))):
            group.create_task(work())
    return shots


async def _open(
    asking: Asking, prompts: Sequence[tuple[Message, ...]], due: Sequence[float]
) -> list[Shot]:
    async def send(messages: tuple[Message, ...], when: float) -> Shot:
        await _until(when)
        return await asking.shoot(messages, when)

    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(send(messages, when))
            for messages, when in zip(prompts, due, strict=True)
        ]
    return [task.result() for task in tasks]


async def _until(when: float) -> None:
    left = when - time.perf_counter()
    if left > _AHEAD:
        await asyncio.sleep(left - _AHEAD)
    # The last moment is not slept: a timer's lag would be told as the server's.
    while time.perf_counter() < when:  # noqa: ASYNC110
        await asyncio.sleep(0)
