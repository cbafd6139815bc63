"""Rounds of one point: warm up until steady, take turns, measure an odd first round again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Protocol

from evalkit.performance import Load
from evalkit.probe.load import Asking, Make, Round, Shot, run_round
from evalkit.probe.memory import MemoryWatch
from evalkit.probe.plan import ProbePlan
from evalkit.types import Message

_MOST_WARM_UPS = 5
_STEADY = 0.1
# How far a first round may lie from the rest: in robust standard deviations, and at least.
_ODD_SPREADS, _ODD_SHARE = 3.5, 0.15
_TO_SIGMA = 1.4826


class Making(Protocol):
    """What makes the prompts of rounds."""

    def make(self, tokens: int, *key: object) -> tuple[Message, ...]:
        """Return a prompt: of so many tokens, where it can choose; equal for equal keys."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A round as it was taken."""

    number: int
    again: bool
    round: Round


@dataclass(slots=True)
class Rounds:
    """What one arm did at one point.

    Attributes:
        warm_up: Median time to the end of each round before the first that counts.
        odd: Whether the first round was an outlier, so that it was measured again.
        failed: The last of two warm-ups without any answer: nothing was measured then.
    """

    warm_up: list[float | None] = field(default_factory=list)
    steady: bool = False
    taken: list[Taken] = field(default_factory=list)
    odd: bool = False
    failed: tuple[Shot, ...] = ()

    @property
    def counted(self) -> list[Taken]:
        """The rounds that count, in the order of their numbers."""
        again = {one.number for one in self.taken if one.again}
        kept = [one for one in self.taken if one.again or one.number not in again]
        return sorted(kept, key=lambda one: one.number)


@dataclass(frozen=True, slots=True)
class Runner:
    """One arm, ready to be measured."""

    name: str
    asking: Asking
    memory: MemoryWatch


async def measure(
    runners: Sequence[Runner], prompts: Making, plan: ProbePlan, context: int, load: Load
) -> Mapping[str, Rounds]:
    """Measure arms at one point, each in its turn so that drift hits all of them alike.

    Args:
        runners: The arms; never two at once.
        prompts: Fitted to the context. Every arm is asked the same ones.
        plan: How often.
        context: Tokens of the prompt.
        load: On each arm.
    """
    found = {runner.name: Rounds() for runner in runners}
    size = plan.round_size(load)

    async def turn(runner: Runner, number: int, *, again: bool = False) -> None:
        make = _maker(prompts, context, load, "again" if again else "round", number)
        seed = f"{plan.seed}:{context}:{load.mode}:{load}:{number}"
        got = await _watched(runner, run_round(runner.asking, load, size, make, seed))
        found[runner.name].taken.append(Taken(number, again, got))

    for runner in runners:
        await _warm_up(runner, prompts, context, load, found[runner.name])
    runners = [runner for runner in runners if not found[runner.name].failed]
    for number in range(plan.repeats):
        # Who goes first changes each time.
        for runner in runners if number % 2 == 0 else reversed(runners):
            await turn(runner, number)
    for runner in runners:
        rounds = found[runner.name]
        rounds.odd = odd_first([_pace(one.round) for one in rounds.taken])
    if any(rounds.odd for rounds in found.values()):
        # All of them, so that what is paired also stood side by side.
        for runner in runners:
            await turn(runner, 0, again=True)
    return found


def odd_first(paces: Sequence[float | None]) -> bool:
    """Whether the first of some figures lies far from all others.

    >>> odd_first([13.8, 24.5, 24.4, 24.9, 24.6, 24.2])
    True
    >>> odd_first([24.1, 24.5, 24.4, 24.9, 24.6, 24.2])
    False
    """
    first, *others = paces
    known = [pace for pace in others if pace is not None]
    if first is None or len(known) < 2:
        return first is None and bool(known)
    middle = median(known)
    spread = _TO_SIGMA * median(abs(pace - middle) for pace in known)
    return abs(first - middle) > max(_ODD_SPREADS * spread, _ODD_SHARE * middle)


async def _warm_up(
    runner: Runner, prompts: Making, context: int, load: Load, rounds: Rounds
) -> None:
    """Ask until two rounds in a row take the same time, or it is no use."""
    workers = int(load.level) if load.mode == "closed" else 1
    closed = Load("closed", float(workers))
    while len(rounds.warm_up) < _MOST_WARM_UPS and not rounds.steady:
        make = _maker(prompts, context, load, "warm", len(rounds.warm_up))
        got = await run_round(runner.asking, closed, workers, make, "")
        rounds.warm_up.append(_seconds(got))
        rounds.steady = _is_steady(rounds.warm_up)
        if rounds.warm_up[-2:] == [None, None]:
            rounds.failed = got.shots
            break


def _maker(prompts: Making, context: int, load: Load, *key: object) -> Make:
    return lambda place: prompts.make(context, load.mode, str(load), *key, place)


def _is_steady(seconds: Sequence[float | None]) -> bool:
    if len(seconds) < 2 or seconds[-1] is None or seconds[-2] is None:
        return False
    return abs(seconds[-1] - seconds[-2]) <= _STEADY * min(seconds[-1], seconds[-2])


def _seconds(one: Round) -> float | None:
    ended = [shot.e2e for shot in one.shots if shot.e2e is not None]
    return median(ended) if ended else None


def _pace(one: Round) -> float | None:
    """What tells an odd round: tokens a second where they are known, else the time."""
    rates = [shot.decode for shot in one.shots if shot.decode is not None]
    return median(rates) if rates else _seconds(one)


async def _watched(runner: Runner, act: Awaitable[Round]) -> Round:
    await runner.memory.look_around()
    stop = asyncio.Event()
    watching = asyncio.create_task(runner.memory.watching(stop))
    try:
        return await act
    finally:
        stop.set()
        await watching
