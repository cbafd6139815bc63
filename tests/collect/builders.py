"""Small things that tests of collecting are made of."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from evalkit.collect.events import Completed, Event, Limits, RunSummary
from evalkit.collect.journal import RunFolder
from evalkit.collect.requests import build_requests
from evalkit.collect.runner import collect
from evalkit.endpoints.base import EndpointOptions, parse_endpoint
from evalkit.types import (
    Attempt,
    Completion,
    CompletionError,
    Family,
    Identity,
    Message,
    Request,
    Sample,
    Sampling,
    Taskset,
    Timing,
    Usage,
)

IDENTITY = Identity(kind="openai", model="fake", base_url="http://h/v1")


def taskset(name: str = "quiz", count: int = 3, max_tokens: int = 8) -> Taskset:
    samples = tuple(
        Sample(
            id=f"{name}-{number:03}",
            taskset=name,
            family=Family.FACTS,
            language="en",
            category="all",
            messages=(Message("user", f"{name} question {number:03}"),),
            target={"answers": ["x"]},
        )
        for number in range(count)
    )
    return Taskset(
        name=name,
        version=1,
        family=Family.FACTS,
        description="",
        scorer="facts",
        max_tokens=max_tokens,
        margin=2.0,
        measures_hallucination=False,
        samples=samples,
        content_hash="0",
    )


def sampling_for(taskset: Taskset) -> Sampling:
    return Sampling(max_tokens=taskset.max_tokens)


def requests(count: int = 3, identity: Identity = IDENTITY) -> list[Request]:
    return build_requests([taskset(count=count)], identity, sampling_for, 1, 0)


def completion(
    number: int = 0, *, text: str | None = "yes", error: str | None = None
) -> Completion:
    return Completion(
        sample_id=f"s-{number}",
        taskset="quiz",
        epoch=0,
        prompt_hash=f"p-{number}",
        fingerprint=f"f-{number}",
        text=None if error else text,
        reasoning=None,
        finish_reason=None if error else "stop",
        usage=Usage(prompt_tokens=3, completion_tokens=1),
        timing=Timing(started=1.5, total=0.25),
        attempts=(Attempt(0.1, "ServerError", 500), Attempt(0.2)),
        error=CompletionError(error, "it broke", 500) if error else None,
    )


class FakeSleep:
    """Waits without waiting, and remembers for how long it was asked to."""

    def __init__(self) -> None:
        self.delays: list[float] = []

    async def __call__(self, delay: float) -> None:
        self.delays.append(delay)
        await asyncio.sleep(0)


class Collected:
    """What a run against a server came to."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.sleep = FakeSleep()
        self.stop = asyncio.Event()
        self.stop_after: int | None = None
        self.stop_at: type[Event] | None = None
        self.summary: RunSummary | None = None

    def on_event(self, event: Event) -> None:
        self.events.append(event)
        if self.stop_at is not None and isinstance(event, self.stop_at):
            self.stop.set()
        if isinstance(event, Completed) and len(self.of(Completed)) == self.stop_after:
            self.stop.set()

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def run(
        self,
        url: str | Sequence[str],
        asked: Sequence[Request],
        folder: RunFolder,
        *,
        limits: Limits | None = None,
        request_timeout: float = 5.0,
        idle_timeout: float = 5.0,
        stream: bool = False,
    ) -> RunSummary:
        raw = {"kind": "openai", "base_url": url, "model": "fake", "stream": stream}
        options = EndpointOptions(request_timeout=request_timeout, idle_timeout=idle_timeout)

        async def go() -> RunSummary:
            async with parse_endpoint("mine", raw, options) as endpoint:
                with folder:
                    return await collect(
                        endpoint,
                        asked,
                        folder,
                        limits=limits or Limits(),
                        on_event=self.on_event,
                        stop=self.stop,
                        sleep=self.sleep,
                    )

        self.summary = asyncio.run(go())
        return self.summary
