"""The load itself: requests in flight, fixed prompts in between, an eye on the server."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from evalkit.collect.preflight.answering import CAPITAL, CAPITAL_SAMPLING
from evalkit.collect.preflight.choices import said
from evalkit.collect.preflight.sampling import STORY, STORY_SAMPLING
from evalkit.endpoints.base import Endpoint
from evalkit.errors import EndpointError
from evalkit.probe.load import Asking, Shot
from evalkit.soak.journal import SoakJournal
from evalkit.soak.mix import Asked, Mix
from evalkit.soak.plan import SoakPlan
from evalkit.soak.watching import ServerWatch
from evalkit.types import Message, Sampling

End = Literal["time", "stopped", "down"]

CANARIES: Final = {
    "capital": (CAPITAL, CAPITAL_SAMPLING),
    "story": (STORY, STORY_SAMPLING),
    "bamboo": (
        (Message("user", "请用两句话介绍竹子。"),),
        Sampling(max_tokens=48),
    ),
}
MOST_TEXT: Final = 400

_FLUSH: Final = 1.0
_TELL: Final = 30.0
# How long a request in flight is waited for at the end; older ones are told as unanswered.
_GRACE: Final = 10.0
UNANSWERED: Final = "Unanswered"
_GIVE_UP: Final = 300.0
_PAUSES: Final = (0.25, 2.0)
# In an open loop: arrivals that wait longer for a free place are left out.
_LATEST: Final = 5.0


@dataclass(slots=True)
class Session:
    """One stretch of load on one endpoint.

    Attributes:
        asking: How it is asked.
        tell: Told in a sentence how it goes.
    """

    endpoint: Endpoint
    asking: Asking
    mix: Mix
    plan: SoakPlan
    journal: SoakJournal
    watch: ServerWatch
    tell: Callable[[str], None]
    began: float = field(default_factory=time.perf_counter)
    _number: int = 0
    _answered: int = 0
    _failed: int = 0
    _skipped: int = 0
    _heard: float = field(default_factory=time.perf_counter)
    _failing: bool = False
    _over: asyncio.Event = field(default_factory=asyncio.Event)

    def now(self) -> float:
        """Seconds of load so far, former sessions included."""
        return round(self.journal.at + time.perf_counter() - self.began, 3)

    async def run(self, stop: asyncio.Event) -> End:
        """Keep the endpoint busy until the time is over, told to stop, or it is down for good.

        Raises:
            StoreError: When the disk takes no more.
        """
        self.began = self._heard = time.perf_counter()
        # Requests of a session that goes on must be others than before.
        self._number = int(self.now() * 1000) * 64
        self.journal.add({"k": "s", "t": self.now()})
        await self.watch.find()
        due = self._arrivals()
        workers = [asyncio.create_task(self._work(due)) for _ in range(self.plan.concurrency)]
        aside = [asyncio.create_task(self._look()), asyncio.create_task(self._sing())]
        clock = asyncio.create_task(self._until_over(stop))
        try:
            done, _ = await asyncio.wait(
                (clock, *aside, *workers), return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                task.result()
            self._over.set()
            await asyncio.wait(workers, timeout=_GRACE)
        finally:
            self._over.set()
            for task in (clock, *workers, *aside):
                task.cancel()
            results = await asyncio.gather(clock, *workers, *aside, return_exceptions=True)
            await self.watch.close()
            self.journal.flush()
        for result in results:
            if isinstance(result, Exception):
                raise result
        end: End = clock.result() if not clock.cancelled() else "stopped"
        self.journal.add({"k": "x", "t": self.now(), "s": "end", "d": end})
        if self._skipped:
            self.journal.add({"k": "x", "t": self.now(), "s": "skipped", "d": str(self._skipped)})
        self.journal.flush()
        return end

    async def _until_over(self, stop: asyncio.Event) -> End:
        told = time.perf_counter()
        while not stop.is_set():
            left = self.plan.seconds - self.now()
            if left <= 0:
                return "time"
            now = time.perf_counter()
            if self._failing and now - self._heard > _GIVE_UP:
                return "down"
            if now - told >= _TELL:
                told = now
                self.tell(
                    f"{self.endpoint.name}: {self.now():,.0f} of {self.plan.seconds:,.0f} s, "
                    f"{self._answered:,} answered, {self._failed:,} failed"
                )
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), min(left, 1.0))
        return "stopped"

    def _arrivals(self) -> Iterator[float] | None:
        if self.plan.rate is None:
            return None
        return _poisson(self.plan.rate, f"soak:{self.plan.seed}:{self._number}", self.began)

    async def _work(self, due: Iterator[float] | None) -> None:
        pause = 0.0
        while not self._over.is_set():
            if pause:
                await self._sleep(pause)
            if due is not None and not await self._arrived(due):
                continue
            asked = self.mix.make(self._number)
            self._number += 1
            shot = await self._shoot(asked)
            failed = shot.error is not None
            pause = min(max(2 * pause, _PAUSES[0]), _PAUSES[1]) if failed else 0.0

    async def _arrived(self, due: Iterator[float]) -> bool:
        when = next(due)
        late = time.perf_counter() - when
        if late > _LATEST:
            self._skipped += 1
            return False
        if late < 0:
            await self._sleep(-late)
        return not self._over.is_set()

    async def _sleep(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), seconds)

    async def _shoot(self, asked: Asked) -> Shot:
        extra = dict(self.asking.extra)
        if "min_tokens" in extra:
            extra["min_tokens"] = asked.output_tokens
        sampling = replace(self.asking.sampling, max_tokens=asked.output_tokens)
        sent = time.perf_counter()
        try:
            shot = await replace(self.asking, sampling=sampling, extra=extra).shoot(asked.messages)
        except asyncio.CancelledError:
            waited = time.perf_counter() - sent
            if waited > _GRACE:
                self._note(Shot(sent, sent, (), time.perf_counter(), error=UNANSWERED), asked)
            raise
        self._note(shot, asked)
        return shot

    def _note(self, shot: Shot, asked: Asked) -> None:
        self._failing = shot.error is not None
        if self._failing:
            self._failed += 1
        else:
            self._answered += 1
            self._heard = time.perf_counter()
        line = {
            "k": "r",
            "t": self.now(),
            "e": round(shot.ended - shot.sent, 5),
            "p": shot.prompt_tokens or asked.prompt_tokens,
            "o": shot.completion_tokens or asked.output_tokens,
        }
        if shot.ttft is not None:
            line["f"] = round(shot.ttft, 5)
        if shot.error is not None:
            line["x"] = shot.error
        self.journal.add(line)

    async def _look(self) -> None:
        """Look at the server, and bring to the disk what waits."""
        flushed = lag = 0.0
        while True:
            for line in await self.watch.look(lag):
                self.journal.add(line)
            if time.perf_counter() - flushed >= min(_FLUSH, self.plan.sample_every):
                flushed = time.perf_counter()
                self.journal.flush()
            slept = time.perf_counter()
            await asyncio.sleep(self.plan.sample_every)
            lag = max(0.0, time.perf_counter() - slept - self.plan.sample_every)

    async def _sing(self) -> None:
        """Ask the fixed prompts, under the load: its noise is there from the start."""
        while True:
            for name, (messages, sampling) in CANARIES.items():
                with suppress(EndpointError):
                    reply = await self.endpoint.send(messages, sampling)
                    text = said(reply.reasoning, reply.text) or ""
                    self.journal.add({"k": "c", "t": self.now(), "n": name, "x": text[:MOST_TEXT]})
            await asyncio.sleep(self.plan.canary_every)


def _poisson(rate: float, seed: str, began: float) -> Iterator[float]:
    rng = random.Random(seed)
    when = began
    while True:
        when += rng.expovariate(rate)
        yield when
