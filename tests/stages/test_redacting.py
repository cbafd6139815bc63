from __future__ import annotations

import asyncio
import threading
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest

from evalkit.collect.redaction import Redaction
from evalkit.collect.runner import Keep
from evalkit.config import SamplingOptions
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.stages.plan import Plan
from evalkit.stages.redacting import keeper
from evalkit.tasksets.catalogue import Selection
from evalkit.types import Outcome, Sample
from tests.builders import completion, sample, taskset


class Waits:
    """A scorer that ends when it is told to, and not before."""

    name, version = "waits", 1

    def __init__(self) -> None:
        self.go = threading.Event()

    def __call__(self, sample: Sample, text: str) -> Judgement:
        if not self.go.wait(10):
            raise TimeoutError("the event loop stood still")
        return Judgement(Outcome.CORRECT, 1.0, text, "fine")


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Waits:
    scorer = Waits()
    found = SCORERS.get
    monkeypatch.setattr(SCORERS, "get", lambda name: scorer if name == "waits" else found(name))
    return scorer


def make_keeper(samples: tuple[Sample, ...]) -> AbstractContextManager[Keep]:
    tasks = replace(taskset(samples), scorer="waits")
    plan = Plan(Selection((tasks,)), SamplingOptions(), None, 1, 0)
    return keeper(plan, Redaction.of([tasks], None))


def test_scoring_does_not_hold_up_the_event_loop(waits: Waits) -> None:
    async def go() -> None:
        with make_keeper((sample("s1"),)) as keep:
            task = asyncio.create_task(keep(completion(sample("s1"))))
            await asyncio.sleep(0)
            # Only reached while the scorer runs, if the loop goes on beside it.
            waits.go.set()
            kept = await task
        assert kept.text is None
        assert kept.redacted is not None
        assert kept.redacted.score.outcome is Outcome.CORRECT

    asyncio.run(go())


def test_a_run_that_is_cancelled_does_not_wait_for_its_scorers(waits: Waits) -> None:
    async def go() -> None:
        samples = tuple(sample(f"s{n}") for n in range(40))
        with make_keeper(samples) as keep:
            tasks = [asyncio.create_task(keep(completion(one))) for one in samples]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in done)
        waits.go.set()

    asyncio.run(go())
