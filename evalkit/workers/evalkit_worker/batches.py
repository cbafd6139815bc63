"""Requests that came together are answered together.

A wave is what is in flight when the engine is free: evalkit keeps its number of connections
busy, so that a wave has that many requests. Within a wave the order is that of the prompts and
not of arrival: equal waves are equal batches.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

QUIET_SECONDS = 0.03
"""A wave is complete when nothing has come for so long."""


class Refused(Exception):
    """A request that cannot be answered; the others go on.

    Attributes:
        status: As in HTTP.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Fields:
    """How to sample; what vLLM and evalkit mean by these names.

    Attributes:
        top_k: 0 or less: every token.
        logprobs: How many of the likeliest tokens to tell at each place; `None`: nothing.
        ignore_eos: Whether to write on to `max_tokens`.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = -1
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    ignore_eos: bool = False


@dataclass(frozen=True)
class Place:
    """One token of an answer: the chosen one, and the likeliest ones with their logarithms."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Answer:
    """What the engine wrote; `finish_reason` is `stop` or `length`."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    places: tuple[Place, ...] | None = None


@dataclass(eq=False)
class Job:
    """One request on its way.

    Attributes:
        messages: Of a chat; `None` when a plain prompt was sent.
        ids: The prompt's tokens.
        template: Further arguments of the chat template.
        gone: Whether nobody waits for the answer any more.
    """

    ids: tuple[int, ...]
    fields: Fields
    messages: list[dict[str, str]] | None = None
    template: dict[str, Any] = field(default_factory=dict)
    gone: Callable[[], bool] = bool
    done: threading.Event = field(default_factory=threading.Event)
    answer: Answer | Refused | None = None

    def settle(self, answer: Answer | Refused) -> None:
        """Hand the answer to who waits for it."""
        self.answer = answer
        self.done.set()


class Engine(Protocol):
    """Loads a model when it is made, and answers waves of requests.

    Attributes:
        kind: As `/v1/models` calls the owner.
        root: Folder of the checkpoint, where it is known.
        context: Tokens of prompt and answer together, if there is a bound.
        facts: Further facts for `/v1/models`: bytes in memory, parameters, revision.
        tokenizer: Of transformers.
    """

    kind: str
    version: str
    root: str | None
    context: int | None
    facts: dict[str, Any]
    tokenizer: Any

    def answer(self, jobs: Sequence[Job]) -> Sequence[Answer | Refused]:
        """Answer requests, in their order. What is raised here ends the process."""


class Waves:
    """A queue that gives what came together."""

    def __init__(self, most: int | None = None) -> None:
        """Begin empty.

        Args:
            most: Requests in a wave at most.
        """
        self._most = most
        self._queue: queue.Queue[Job] = queue.Queue()
        self._held: list[Job] = []

    def put(self, job: Job) -> None:
        """Add a request; called by the threads that hold connections."""
        self._queue.put(job)

    def take(self) -> list[Job]:
        """Wait for requests and return a wave, without those that nobody waits for any more."""
        while True:
            if not self._held:
                self._held.append(self._queue.get())
            self._gather()
            self._held.sort(key=_order)
            wave, self._held = self._held[: self._most], self._held[self._most or len(self._held) :]
            gone = [job for job in wave if job.gone()]
            for job in gone:
                job.settle(Refused("Nobody waits for the answer", 499))
            if wave := [job for job in wave if job not in gone]:
                return wave

    def _gather(self) -> None:
        wanted = self._most or float("inf")
        while True:
            # What waits already is taken at once, also beyond a whole wave: the order is ours.
            quiet = QUIET_SECONDS if len(self._held) < wanted else 0.0
            try:
                self._held.append(self._queue.get(block=quiet > 0, timeout=quiet))
            except queue.Empty:
                return


def work(engine: Engine, waves: Waves) -> None:
    """Answer waves for ever; an engine that fails ends the process, and evalkit says why."""
    while True:
        wave = waves.take()
        for job, answer in zip(wave, engine.answer(wave), strict=True):
            job.settle(answer)


def in_groups(
    jobs: Sequence[Job],
    key: Callable[[int, Job], Hashable],
    together: Callable[[Sequence[Job]], Sequence[Answer | Refused]],
) -> list[Answer | Refused]:
    """Answer jobs with an equal key together; return the answers in the jobs' order."""
    groups: dict[Hashable, list[int]] = {}
    for index, job in enumerate(jobs):
        groups.setdefault(key(index, job), []).append(index)
    found: dict[int, Answer | Refused] = {}
    for indices in groups.values():
        answers = together([jobs[index] for index in indices])
        found.update(zip(indices, answers, strict=True))
    return [found[index] for index in range(len(jobs))]


def _order(job: Job) -> tuple[int, tuple[int, ...]]:
    return len(job.ids), job.ids
