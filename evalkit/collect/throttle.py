"""How many requests an endpoint is given at once, and when it is left alone.

Congestion control as DCTCP has it (RFC 8257): an endpoint that refuses for overload gets
fewer requests at once, by half the share that it refused; answers bring back one more for
each round of them.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable

# How quickly the share that is refused is learnt anew.
_GAIN = 0.25
_SPREAD_SECONDS = 2.0


class Throttle:
    """Places in flight, shared by the workers of one run.

    It begins with a few, so that a key or a model that is refused costs few requests, and
    opens at the first sign of life. From then on there are as many as the configuration
    says, unless the endpoint asks for less.

    Attributes:
        not_before: Time, by `clock`, until which no request may begin.
        spread: Seconds over which those that wait for it begin, each at a random time.
        slowdowns: How often the endpoint was given less.
        least: The smallest number of places since it was opened.
    """

    def __init__(
        self,
        most: int,
        *,
        first: int,
        hold_base: float,
        hold_cap: float,
        rng: random.Random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._places: float = min(first, most)
        self._share = 1.0
        self._answered = self._refused = 0
        self._hold_base, self._hold_cap, self._hold = hold_base, hold_cap, 0.0
        self._alive = False
        self._rng = rng
        self._clock = clock
        self._open = False
        self._in_flight = self._sent = self._round = 0
        self._queue: deque[asyncio.Future[None]] = deque()
        self.not_before = self.spread = 0.0
        self.slowdowns = 0
        self.least = most

    @property
    def places(self) -> int:
        """How many requests may be in flight now."""
        return int(self._places)

    @property
    def holding(self) -> bool:
        """Whether the endpoint refused even one request at a time, and has not answered since."""
        return self._hold > 0

    def enter(self) -> int | None:
        """Take a place: its ticket, or `None` when all are taken."""
        if self._in_flight >= self.places:
            return None
        self._in_flight += 1
        self._sent += 1
        return self._sent

    def turn(self) -> asyncio.Future[None]:
        """Return what is done when a place may be free. Cancel it when it is not wanted."""
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        return turn

    def leave(self) -> None:
        """Give a place back."""
        self._in_flight -= 1
        self._wake()

    def open(self) -> None:
        """Give all places, unless the endpoint has asked for less already."""
        if not self._open:
            self._open = True
            self._places = self._most
            self._wake()

    def answered(self) -> None:
        """Give more, after an endpoint was given less and now has answered."""
        self._hold, self._alive = 0.0, False
        self._answered += 1
        if not self._open:
            self.open()
        elif self._places < self._most:
            self._places = min(self._most, self._places + 1 / self._places)
            self._wake()

    def alive(self) -> None:
        """Keep pauses short until the next answer: it takes requests, only not those it was given.

        A thousand prompts that it refuses as if it were overloaded would else take days.
        """
        self._hold, self._alive = 0.0, True

    def overloaded(self, ticket: int, pause: float | None) -> bool:
        """Give less; say whether this changed anything.

        Several requests of one burst are refused together and count once.

        Args:
            ticket: Of the request that was refused.
            pause: Seconds that the endpoint asked for, if it did: nothing begins in them.
        """
        news = ticket > self._round
        if news:
            self._learn()
            self._round = self._sent
            before = self._places if self._open else self._most
            if pause is None and self._places <= 1:
                pause = self._longer_hold()
            self._places = max(1.0, min(self._places, before * (1 - self._share / 2)))
            self._open = True
            self.slowdowns += 1
            self.least = min(self.least, self.places)
        self._refused += 1
        if pause:
            self.spread = min(pause / 2, _SPREAD_SECONDS)
            self.not_before = max(self.not_before, self._clock() + pause)
        return news

    def _learn(self) -> None:
        """Update the share that is refused, by what happened since it was given less."""
        if self._refused:
            share = self._refused / (self._refused + self._answered)
            self._share += _GAIN * (share - self._share)
        self._answered = self._refused = 0

    def _longer_hold(self) -> float:
        """Return a pause for an endpoint that refuses even one request at a time."""
        longest = self._hold_base if self._alive else self._hold_cap
        self._hold = min(longest, max(self._hold_base, 2 * self._hold))
        return self._rng.uniform(self._hold / 2, self._hold)

    def _wake(self) -> None:
        free = self.places - self._in_flight
        while free > 0 and self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1
