"""An endpoint that becomes another one in the middle of a run is found out, and noise is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest

from evalkit.collect.canary import WatchedEndpoint, changes
from evalkit.collect.preflight.answering import CAPITAL
from evalkit.collect.preflight.findings import Canary
from evalkit.collect.preflight.sampling import STORY
from evalkit.errors import IdentityChanged, ServerError, Timeout
from evalkit.types import Identity, Message, Reply, Sampling, Timing, Usage

IDENTITY = Identity(kind="openai", model="m", engine="vLLM", engine_version="1", template_hash="t")
CANARIES = (Canary("story", "Once", stable=True), Canary("capital", "Paris", stable=True))
QUESTION = (Message("user", "question"),)
SAMPLING = Sampling(max_tokens=8)
FIXED = {STORY: "Once", CAPITAL: "Paris"}


class Endpoint:
    """Answers as it is told, and counts."""

    def __init__(self) -> None:
        self.now = IDENTITY
        self.down = False
        self.sing: Callable[[tuple[Message, ...]], str] = lambda messages: FIXED[messages]
        self.asked: list[tuple[Message, ...]] = []
        self.in_flight = self.most_beside = 0
        self.name = self.label = "mine"

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def identity(self) -> Identity:
        if self.down:
            raise ServerError("loading")
        return self.now

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        self.asked.append(messages)
        self.in_flight += 1
        try:
            await asyncio.sleep(0)
            if messages in FIXED:
                self.most_beside = max(self.most_beside, self.in_flight - 1)
            text = self.sing(messages) if messages in FIXED else "answer"
            await asyncio.sleep(0)
        finally:
            self.in_flight -= 1
        return Reply(text, None, "stop", Usage(), Timing(0.0, 0.1))


def run(
    endpoint: Endpoint,
    *,
    questions: int = 12,
    every: int = 5,
    canaries: tuple[Canary, ...] = CANARIES,
    workers: int = 4,
) -> WatchedEndpoint:
    async def go() -> WatchedEndpoint:
        watched = WatchedEndpoint(endpoint, IDENTITY, canaries, every)
        queue = iter(range(questions))

        async def work() -> None:
            for _ in queue:
                await watched.send(QUESTION, SAMPLING)

        await asyncio.gather(*(work() for _ in range(workers)))
        await watched.look()
        return watched

    return asyncio.run(asyncio.wait_for(go(), 20))


def canaries_asked(endpoint: Endpoint) -> int:
    return sum(messages in FIXED for messages in endpoint.asked)


@pytest.mark.parametrize(("every", "looks"), [(5, 3), (12, 2), (0, 1)])
def test_it_is_looked_at_each_so_many_requests_and_at_the_end(every: int, looks: int) -> None:
    endpoint = Endpoint()
    assert run(endpoint, every=every, workers=1).sent == 12
    assert canaries_asked(endpoint) == looks * len(CANARIES)


@pytest.mark.parametrize(
    "changed",
    [
        replace(IDENTITY, engine_version="2"),
        replace(IDENTITY, template_hash="u"),
        replace(IDENTITY, model="n"),
    ],
)
def test_another_identity_stops_the_run(changed: Identity) -> None:
    endpoint = Endpoint()
    endpoint.now = changed
    with pytest.raises(IdentityChanged, match="became another one") as raised:
        run(endpoint, questions=200)
    assert "→" in raised.value.message
    assert raised.value.exit_code == 5
    # Stopped at the first look, not at the last.
    assert len(endpoint.asked) < 30


def test_other_answers_stop_the_run_though_the_words_are_the_same() -> None:
    endpoint = Endpoint()
    endpoint.sing = lambda messages: "London" if messages is CAPITAL else FIXED[messages]
    with pytest.raises(IdentityChanged, match="capital prompt"):
        run(endpoint)


def test_noise_under_load_is_no_change() -> None:
    """A text that differs beside others and is the old one alone: numbers of a batch."""
    endpoint = Endpoint()
    endpoint.sing = lambda messages: "Once" if endpoint.in_flight > 1 else FIXED[messages]
    run(endpoint, questions=40)
    flaky = count()
    endpoint.sing = lambda messages: FIXED[messages] if next(flaky) % 2 else "otherwise"
    run(endpoint, questions=40)


def test_a_canary_that_was_never_stable_says_nothing() -> None:
    endpoint = Endpoint()
    endpoint.sing = lambda messages: "anything"
    run(endpoint, canaries=tuple(replace(canary, stable=False) for canary in CANARIES))
    assert canaries_asked(endpoint) == 0


def test_an_endpoint_that_cannot_be_asked_is_not_another_one() -> None:
    endpoint = Endpoint()
    endpoint.down = True
    assert run(endpoint).sent == 12


def test_a_request_that_fails_is_not_held_up_nor_counted() -> None:
    endpoint = Endpoint()
    watched = WatchedEndpoint(endpoint, IDENTITY, CANARIES, 1)

    async def broken(messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        raise Timeout("late")

    endpoint.send = broken  # type: ignore[method-assign]

    async def go() -> None:
        for _ in range(3):
            with pytest.raises(Timeout):
                await watched.send(QUESTION, SAMPLING)

    asyncio.run(asyncio.wait_for(go(), 10))
    assert watched.sent == 0


def test_what_is_no_longer_told_is_no_change() -> None:
    before = replace(IDENTITY, details={"root": "/a"})
    assert changes(before, replace(before, engine=None, template_hash=None, details={})) == []
    assert changes(before, replace(before, details={"root": "/b"})) == ["root /a → /b"]
    # What is known of a later look only is none either, and nor is what the report shows.
    assert changes(IDENTITY, replace(IDENTITY, tokenizer_hash="k", hardware="cpu")) == []
