from __future__ import annotations

import asyncio
import random

import pytest

from evalkit.collect.throttle import Throttle


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def throttle(most: int = 16, first: int = 4, clock: Clock | None = None) -> Throttle:
    return Throttle(
        most,
        first=first,
        hold_base=1.0,
        hold_cap=8.0,
        rng=random.Random(0),
        clock=clock or Clock(),
    )


def ticket(one: Throttle) -> int:
    found = one.enter()
    assert found is not None
    return found


def test_it_begins_with_a_few_and_opens_at_the_first_answer() -> None:
    one = throttle()
    for _ in range(4):
        ticket(one)
    assert one.enter() is None
    one.answered()
    assert one.places == 16
    assert one.enter() is not None


def test_few_places_are_all_there_is() -> None:
    one = throttle(most=2)
    assert (one.places, ticket(one), ticket(one), one.enter()) == (2, 1, 2, None)


def test_a_burst_of_refusals_halves_once() -> None:
    one = throttle()
    one.open()
    burst = [ticket(one) for _ in range(16)]
    assert [one.overloaded(t, None) for t in burst] == [True] + [False] * 15
    assert (one.places, one.slowdowns, one.least) == (8, 1, 8)
    assert one.not_before == 0.0
    for _ in burst:
        one.leave()
    assert one.overloaded(ticket(one), None)
    assert one.places == 4


def test_answers_bring_back_one_more_each_round() -> None:
    one = throttle()
    one.open()
    one.overloaded(ticket(one), None)
    one.leave()
    answers = 0
    while one.places < 16:
        one.answered()
        answers += 1
    assert answers == pytest.approx(sum(range(8, 16)), rel=0.1)


def test_few_refusals_cost_little_and_many_cost_much() -> None:
    def settled(refused_of_ten: int) -> float:
        one = throttle(most=64, first=64)
        rng = random.Random(1)
        seen = []
        for _ in range(300):
            burst = [ticket(one) for _ in range(one.places)]
            for t in burst:
                one.leave()
                if rng.random() < refused_of_ten / 10:
                    one.overloaded(t, None)
                else:
                    one.answered()
            seen.append(one.places)
        return sum(seen[100:]) / 200

    rare, often = settled(1), settled(8)
    assert rare > 12, "DCTCP settles near 2 / share"
    assert often < 4


def test_a_pause_is_for_all_and_is_left_one_by_one() -> None:
    clock = Clock()
    one = throttle(clock=clock)
    one.open()
    burst = [ticket(one) for _ in range(16)]
    for t in burst:
        one.overloaded(t, 5.0)
        one.leave()
    assert one.not_before == 105.0, "sixteen refusals are one pause"
    assert (one.places, one.spread) == (8, 2.0)


def test_a_later_longer_pause_counts_and_a_shorter_one_does_not() -> None:
    clock = Clock()
    one = throttle(clock=clock)
    one.overloaded(ticket(one), 5.0)
    clock.now = 101.0
    one.overloaded(ticket(one) if one.places > 1 else 2, 9.0)
    assert one.not_before == 110.0
    one.overloaded(3, 1.0)
    assert one.not_before == 110.0


def test_an_endpoint_that_refuses_even_one_gets_growing_pauses() -> None:
    clock = Clock()
    one = throttle(most=1, first=1, clock=clock)
    holds = []
    for _ in range(6):
        one.overloaded(ticket(one), None)
        one.leave()
        holds.append(one.not_before - clock.now)
        clock.now = one.not_before
    ceilings = [1, 2, 4, 8, 8, 8]
    assert all(c / 2 <= hold <= c for hold, c in zip(holds, ceilings, strict=True))
    one.answered()
    one.overloaded(ticket(one), None)
    assert one.not_before - clock.now <= 1.0, "an answer ends it"


def test_who_waits_is_let_in_when_there_is_room() -> None:
    async def go() -> list[bool]:
        one = throttle(most=2)
        ticket(one), ticket(one)
        turns = [one.turn() for _ in range(3)]
        turns[0].cancel()
        one.leave()
        return [turn.done() and not turn.cancelled() for turn in turns]

    assert asyncio.run(go()) == [False, True, False]


def test_pauses_stay_short_while_it_takes_other_requests() -> None:
    clock = Clock()
    one = throttle(most=1, clock=clock)

    def pause() -> float:
        assert one.overloaded(ticket(one), None)
        one.leave()
        return one.not_before - clock.now

    for _ in range(3):
        clock.now += pause()
    one.alive()
    for _ in range(3):
        found = pause()
        assert 0.5 <= found <= 1.0
        clock.now += found
    one.answered()
    for _ in range(3):
        clock.now += pause()
    assert pause() > 3.9, "an answer of its own: the next overload is one"
