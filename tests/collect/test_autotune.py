"""Finding how much an endpoint takes: simulated in virtual time, so that rates are exact."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evalkit.collect.autotune import Tuning, find_connections
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.errors import AuthError, BadRequest, EndpointError, RateLimited, ServerError
from evalkit.types import Identity, Message, Reply, Sampling, Timing, Usage
from tests.collect.builders import FakeSleep, requests
from tests.servers.fake import Script
from tests.servers.limited import LimitedServer
from tests.virtual_time import clock, run

ANSWER_SECONDS = 0.5


class Simulated:
    """Works on `slots` requests at once; more wait, and beyond `refuses` they fail."""

    name = label = "simulated"

    def __init__(
        self,
        slots: int,
        *,
        refuses: int | None = None,
        error: EndpointError | None = None,
        tokens: int | None = 10,
    ) -> None:
        self._slots = asyncio.Semaphore(slots)
        self._refuses = refuses
        self._error = error or RateLimited("slow down", status=429)
        self._tokens = tokens
        self.in_flight = self.most = 0
        self.prompts: list[str] = []

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        self.prompts.append(messages[-1].content)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            if self._refuses is not None and self.in_flight > self._refuses:
                raise self._error
            async with self._slots:
                await asyncio.sleep(ANSWER_SECONDS)
        finally:
            self.in_flight -= 1
        usage = Usage(1, self._tokens)
        return Reply("x", None, "stop", usage, Timing(0.0, ANSWER_SECONDS))

    async def identity(self) -> Identity:
        raise AssertionError

    async def __aenter__(self) -> Any:
        raise AssertionError

    async def __aexit__(self, *_: object) -> None:
        raise AssertionError


def tune(endpoint: Simulated, count: int = 1000, **more: Any) -> Tuning:
    async def go() -> Tuning:
        stop = asyncio.Event()
        return await find_connections(endpoint, requests(count), stop=stop, clock=clock, **more)

    return run(go())


@pytest.mark.parametrize("capacity", [1, 2, 3, 5, 6, 7, 8, 13])
def test_a_border_of_refusals_is_found_exactly(capacity: int) -> None:
    endpoint = Simulated(1000, refuses=capacity)
    assert tune(endpoint).connections == capacity


def test_a_high_border_is_found_closely() -> None:
    assert 90 <= tune(Simulated(1000, refuses=100), count=4000).connections <= 100


@pytest.mark.parametrize(("slots", "expected"), [(1, 1), (2, 2), (4, 4), (6, 8), (24, 32)])
def test_where_more_is_no_faster_it_stops(slots: int, expected: int) -> None:
    endpoint = Simulated(slots)
    assert tune(endpoint).connections == expected
    assert endpoint.most <= 4 * max(4, slots), "it does not flood a server that only queues"


def test_without_token_counts_answers_are_counted() -> None:
    tuning = tune(Simulated(4, tokens=None))
    assert tuning.connections == 4
    assert tuning.trials[0].rate == pytest.approx(1 / ANSWER_SECONDS)
    assert tune(Simulated(4)).trials[0].rate == pytest.approx(10 / ANSWER_SECONDS)


@pytest.mark.parametrize("count", [2, 20, 40, 100, 300, 1000])
def test_the_warm_up_is_short_against_the_plan(count: int) -> None:
    endpoint = Simulated(1000, refuses=90)
    tune(endpoint, count=count)
    assert len(endpoint.prompts) <= max(8, count / 2)


def test_a_short_plan_gets_a_small_number_and_most_is_never_exceeded() -> None:
    found = [tune(Simulated(1000), count=count).connections for count in (2, 40, 100, 1000)]
    assert found == [1, 2, 8, 64]
    endpoint = Simulated(1000)
    assert tune(endpoint, most=24).connections == 24
    assert endpoint.most == 24


def test_no_prompt_is_asked_twice_while_there_are_others() -> None:
    endpoint = Simulated(1000, refuses=6)
    tuning = tune(endpoint)
    assert len(endpoint.prompts) == len(set(endpoint.prompts))
    assert endpoint.prompts[0] == requests(1000)[-1].messages[-1].content
    assert tuning.requests <= len(endpoint.prompts)


def test_nothing_works_even_one_at_a_time() -> None:
    endpoint = Simulated(1, refuses=0, error=ServerError("broken", status=500))
    tuning = tune(endpoint)
    assert tuning.connections == 1
    assert [trial.error for trial in tuning.trials] == ["ServerError"]


def test_a_key_that_is_refused_stops_it() -> None:
    with pytest.raises(AuthError):
        tune(Simulated(1, refuses=0, error=AuthError("no", status=401)))


class Choosy(Simulated):
    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        if messages[-1].content.endswith("7"):
            raise BadRequest("too long", status=400)
        return await super().send(messages, sampling)


def test_prompts_that_do_not_fit_are_no_sign_of_load() -> None:
    tuning = tune(Choosy(1000), most=16)
    assert tuning.connections == 16
    assert not any(trial.error for trial in tuning.trials)


def test_it_waits_as_long_as_it_is_asked_to() -> None:
    sleep = FakeSleep()
    asked = RateLimited("slow down", status=429, retry_after=17.0)
    tune(Simulated(1000, refuses=2, error=asked), sleep=sleep)
    assert set(sleep.delays) == {17.0}
    longest = RateLimited("slow down", status=429, retry_after=1e6)
    sleep = FakeSleep()
    tune(Simulated(1000, refuses=2, error=longest), sleep=sleep)
    assert set(sleep.delays) == {60.0}


def test_time_is_up_after_the_trial_that_has_begun() -> None:
    tuning = tune(Simulated(1000), seconds=5.0)
    assert [trial.connections for trial in tuning.trials] == [1, 2]
    assert tuning.connections == 2


def test_an_interruption_ends_it() -> None:
    async def go() -> Tuning:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_later(1.0, stop.set)
        return await find_connections(Simulated(9), requests(999), stop=stop, clock=clock)

    assert len(run(go()).trials) == 1


def test_a_real_server_of_known_capacity() -> None:
    async def go(url: str) -> Tuning:
        raw = {"kind": "openai", "base_url": url, "model": "fake"}
        sleep = FakeSleep()
        async with parse_endpoint("mine", raw, EndpointOptions()) as endpoint:
            return await find_connections(
                endpoint, requests(100), stop=asyncio.Event(), sleep=sleep
            )

    with LimitedServer(3, Script(delay=0.1)) as server:
        assert asyncio.run(go(server.url)).connections == 3
