"""Speculation on and off, beside each other: each prompt asked one by one, then under load."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evalkit.endpoints.base import Endpoint
from evalkit.performance import Load
from evalkit.probe.draft_counters import Counters, added, counters_now, growth
from evalkit.probe.load import Asking, Shot
from evalkit.probe.plan import ProbePlan
from evalkit.probe.rounds import Rounds, measure
from evalkit.probe.subject import Subject
from evalkit.probe.workloads import MixedPrompts, WorkPrompt, marked
from evalkit.types import DraftCounts, Reply

# Answers end where they end: what comes after that is no work that anybody has.
_NATURAL = ("ignore_eos", "min_tokens")
_SETTLE_SECONDS, _SETTLE_EVERY = 1.0, 0.05
_WARM_UPS = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one prompt.

    Attributes:
        said: Reasoning and text; `None` without an answer.
        draft: What was drafted for it; `None` where nothing tells.
    """

    prompt: WorkPrompt
    shot: Shot
    said: str | None
    draft: DraftCounts | None

    @property
    def decode(self) -> float | None:
        """Tokens a second after the first token, which comes from the prompt alone.

        Several tokens come in one part where a draft was right, so that parts say nothing.
        """
        tokens, span = self.shot.completion_tokens, self.shot.span
        if tokens is None or tokens < LEAST_TOKENS or span is None:
            return None
        return (tokens - 1) / span


LEAST_TOKENS = 8
"""A shorter answer says nothing of the speed."""


@dataclass(slots=True)
class Heard:
    """All that one arm did.

    Attributes:
        answers: By the key of the prompt.
        again: The same prompts a second time, of the arm without speculation.
        loads: By requests in flight.
        lifetime: What the server had counted before it was asked anything here.
        source: What the counts were read from.
        foreign: Prompts during which the server answered somebody else too.
        resets: Prompts during which its counters were set back.
    """

    answers: dict[str, Answer] = field(default_factory=dict)
    again: dict[str, Answer] = field(default_factory=dict)
    loads: dict[int, Rounds] = field(default_factory=dict)
    lifetime: DraftCounts | None = None
    source: str = "timings"
    foreign: int = 0
    resets: int = 0


@dataclass(frozen=True, slots=True)
class Speculating:
    """One arm, ready to be asked."""

    subject: Subject
    asking: Asking
    heard: Heard
    twice: bool

    @classmethod
    def of(cls, subject: Subject, heard: Heard, *, twice: bool) -> Speculating:
        """Ask a subject so that its answers end where they end.

        Args:
            subject: Who.
            heard: Where its answers go.
            twice: Whether each prompt is asked once more, to see its noise.
        """
        asking = subject.runner.asking
        extra = {key: value for key, value in asking.extra.items() if key not in _NATURAL}
        return cls(subject, replace(asking, extra=extra), heard, twice)

    @property
    def endpoint(self) -> Endpoint:
        """What is asked."""
        return self.subject.asker.endpoint


async def ask_prompts(
    arms: Sequence[Speculating],
    prompts: Sequence[WorkPrompt],
    on_prompt: Callable[[int], None] = lambda asked: None,
) -> None:
    """Ask every prompt of every arm, one request at a time, another arm first each time.

    Args:
        arms: Whom.
        prompts: What. They are in the order of their kinds of work, and asked across them, so
            that drift hits all kinds alike.
        on_prompt: Told how many have been asked.
    """
    for arm in arms:
        arm.heard.lifetime = _lifetime(await counters_now(arm.endpoint))
        for prompt in prompts[:_WARM_UPS]:
            await arm.asking.shoot(marked(prompt, "warm"))
    for number, prompt in enumerate(_across(prompts)):
        for arm in arms if number % 2 == 0 else reversed(arms):
            arm.heard.answers[prompt.key] = await _ask(arm, prompt)
        for arm in arms:
            if arm.twice:
                arm.heard.again[prompt.key] = await _ask(arm, prompt)
        on_prompt(number + 1)


async def load_arms(
    arms: Sequence[Speculating], prompts: Sequence[WorkPrompt], plan: ProbePlan, level: int
) -> None:
    """Put one load of mixed work on every arm, in turns."""
    runners = [replace(arm.subject.runner, asking=arm.asking) for arm in arms]
    mixed = MixedPrompts(prompts, plan.seed)
    rounds = await measure(runners, mixed, plan, 0, Load("closed", float(level)))
    for arm in arms:
        arm.heard.loads[level] = rounds[arm.subject.name]


def _across(prompts: Sequence[WorkPrompt]) -> list[WorkPrompt]:
    """Take the first prompt of each kind of work, then the second of each."""
    places: dict[str, int] = {}
    numbered = []
    for prompt in prompts:
        place = places[prompt.workload] = places.get(prompt.workload, -1) + 1
        numbered.append((place, prompt))
    return [prompt for _, prompt in sorted(numbered, key=lambda pair: pair[0])]


async def _ask(arm: Speculating, prompt: WorkPrompt) -> Answer:
    before = await counters_now(arm.endpoint)
    shot, reply = await arm.asking.hear(prompt.messages)
    draft = await _counted(arm, before, shot, reply)
    return Answer(prompt, shot, None if reply is None else _said(reply), draft)


def _said(reply: Reply) -> str:
    return f"{reply.reasoning or ''}\n{reply.text or ''}"


async def _counted(
    arm: Speculating, before: Sequence[Counters | None], shot: Shot, reply: Reply | None
) -> DraftCounts | None:
    """Return what was drafted for an answer: by the metrics where they agree with it."""
    if reply is None:
        return None
    told = reply.draft
    if None in before or not before:
        return told
    wanted = shot.completion_tokens
    after = await _settled(arm.endpoint, before, wanted)
    grown = growth(before, after)
    if grown is None:
        arm.heard.resets += 1
        return told
    if grown.made is not None and wanted is not None and grown.made != wanted:
        arm.heard.foreign += 1
        return told
    if told is not None and (told.drafted, told.accepted) != (
        grown.draft.drafted,
        grown.draft.accepted,
    ):
        return told
    arm.heard.source = "metrics"
    return grown.draft


async def _settled(
    endpoint: Endpoint, before: Sequence[Counters | None], wanted: int | None
) -> Sequence[Counters | None]:
    """Read the counters once they know of an answer: servers count a moment later."""
    left = _SETTLE_SECONDS
    while True:
        after = await counters_now(endpoint)
        grown = growth(before, after)
        counted = grown is None or grown.made is None or wanted is None or grown.made >= wanted
        if counted or left <= 0:
            return after
        await asyncio.sleep(_SETTLE_EVERY)
        left -= _SETTLE_EVERY


def _lifetime(counters: Sequence[Counters | None]) -> DraftCounts | None:
    """Add up what servers counted since their start."""
    total: DraftCounts | None = None
    for one in counters:
        if one is None or one.accepted > one.drafted:
            return None
        counts = DraftCounts(one.drafted, one.accepted, one.drafts, one.positions)
        total = counts if total is None else added(total, counts)
    return total


def drafted_of(answers: Mapping[str, Answer], workload: str | None = None) -> list[DraftCounts]:
    """Return the counts of each prompt for which anything was drafted."""
    return [
        one.draft
        for one in answers.values()
        if one.draft is not None
        and one.draft.drafted
        and (workload is None or one.prompt.workload == workload)
    ]
