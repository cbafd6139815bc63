"""Asking a judge about the answers of all arms together, each answer once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from evalkit.collect.canary import refuse_change
from evalkit.collect.events import Event, Limits, RunSummary
from evalkit.collect.header import adopt_header, make_header, mark_changed
from evalkit.collect.journal import RunFolder
from evalkit.collect.judge_prompt import PROMPT_VERSION, JudgeItem, sample_item
from evalkit.collect.judge_requests import (
    AGAIN,
    JudgeJournals,
    JudgeRequests,
)
from evalkit.collect.preflight import first_answer
from evalkit.collect.runner import collect
from evalkit.config import Config
from evalkit.endpoints.base import Endpoint, parse_endpoint
from evalkit.errors import IdentityChanged, Interrupted, UsageError
from evalkit.scoring.judging import decides_itself
from evalkit.stages.arms import endpoint_options
from evalkit.stages.collecting import CollectedRun, OnEvent
from evalkit.stages.judge_choosing import Judge, forget_judges
from evalkit.stages.judge_folders import (
    FOLDER,
    discard_verdicts,
    judge_mark,
    write_judged,
)
from evalkit.stages.judge_kept import first_asking, kept, unread
from evalkit.stages.opening import opened
from evalkit.stages.plan import Plan
from evalkit.types import Identity

_NAME = "judge"


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking a judge.

    Attributes:
        identity: What it was found to be.
        mark: See `judge_mark`.
        folder: Name of its folder in each run's `judge/`.
        summary: Of the asking.
    """

    identity: Identity
    mark: str
    folder: str
    summary: RunSummary


async def judge_runs(
    judge: Judge | None,
    runs: Sequence[tuple[CollectedRun, Plan]],
    config: Config,
    *,
    on_event: OnEvent,
    notify: Callable[[str], None],
    stop: asyncio.Event,
    fresh: bool = False,
) -> None:
    """Ask about every answer of all runs that no failure of the model decides already.

    Args:
        judge: Who, by what, and for which tasksets. `None` asks nothing; where the
            configuration says so (`none`), rules decide from then on.
        runs: Each with what it was asked.
        config: How to ask.
        on_event: Told what happens, under the name `judge`.
        notify: Told in a sentence about what takes long.
        stop: When set, what is in flight is finished and the rest is left.
        fresh: Throw away what was said before of runs that were asked now.

    Raises:
        EndpointError: When the judge is down or refuses.
        IdentityChanged: When it becomes another one meanwhile.
        Interrupted: When told to stop before its end; the same command goes on.
        StoreError: When a folder cannot be used.
        UsageError: For a redacted run.
    """
    if judge is None:
        if config.judge is not None:
            forget_judges(run.folder.path for run, _ in runs)
        return
    wanted: dict[Path, dict[str, JudgeItem]] = {}
    for run, plan in runs:
        if run.redaction is not None:
            raise UsageError(
                f"{run.folder.path} is redacted: it holds no text that a judge could read.",
                hint="Leave out the judge, or ask again without --redact.",
            )
        if fresh and run.summary is not None:
            discard_verdicts(run.folder.path)
        wanted[run.folder.path] = _items(judge, run, plan)
    asked = await ask_judge(judge, wanted, config, on_event=on_event, notify=notify, stop=stop)
    for run, plan in runs:
        names = {taskset.name for taskset in plan.tasksets}
        decided = [name for name in judge.tasksets if name in names]
        write_judged(run.folder.path, asked.folder, decided, asked.mark)


def _items(judge: Judge, run: CollectedRun, plan: Plan) -> dict[str, JudgeItem]:
    samples, found = plan.samples(), {}
    for completion in run.stream(repeats=True):
        if completion.taskset not in judge.tasksets or completion.text is None:
            continue
        sample = samples[completion.taskset, completion.sample_id]
        if not decides_itself(sample, completion):
            item = sample_item(judge.rubric, sample, completion.text)
            found[item.key] = item
    return found


async def reach_judge(
    judge: Judge | None, config: Config, notify: Callable[[str], None], stop: asyncio.Event
) -> None:
    """See that a judge answers, before hours are spent on what it is to read.

    What evalkit starts itself is only checked for how it is configured: it would take the
    device that the others need.

    Raises:
        ConfigError: For a configuration that is none.
        EndpointError: When it is down or refuses.
        Interrupted: When told to stop meanwhile.
    """
    if judge is None:
        return
    raw = judge.arm.raw or {}
    endpoint = parse_endpoint(judge.arm.name, raw, endpoint_options(config, None, notify))
    if raw.get("kind") != "openai":
        return
    notify(f"checking {judge.arm.name}, the judge")
    async with opened(endpoint, stop):
        await first_answer(endpoint, await endpoint.identity())


async def ask_judge(
    judge: Judge,
    wanted: Mapping[Path, Mapping[str, JudgeItem]],
    config: Config,
    *,
    on_event: OnEvent,
    notify: Callable[[str], None],
    stop: asyncio.Event,
) -> Asked:
    """Ask about items in one order by chance, and keep what is said in each run's folder.

    Args:
        judge: Who, and by what.
        wanted: From a folder to the items, by key, whose verdicts it needs.
        config: How to ask.
        on_event: Told what happens, under the name `judge`.
        notify: Told in a sentence about what takes long.
        stop: When set, what is in flight is finished and the rest is left.

    Raises:
        EndpointError, IdentityChanged, Interrupted, StoreError: As for `judge_runs`.
    """
    items = {key: item for found in wanted.values() for key, item in found.items()}
    log_path = _log_path(next(iter(wanted)))
    options = endpoint_options(config, log_path, notify)
    endpoint = parse_endpoint(judge.arm.name, judge.arm.raw or {}, options)
    done = kept(judge, endpoint, wanted, config.seed)
    if done is not None:
        notify(f"{judge.arm.name} has judged everything; it is not started")
        identity, name, summary = done
        return Asked(identity, judge_mark(identity, judge.rubric, judge.sampling), name, summary)
    notify(f"asking {judge.arm.name} to judge {len(items)} answers")
    async with opened(endpoint, stop):
        identity = await endpoint.identity()
        omitted = sorted(await first_answer(endpoint, identity))
        mark = judge_mark(identity, judge.rubric, judge.sampling)
        name = f"{re.sub(r'[^A-Za-z0-9._-]+', '-', judge.arm.name)[:60]}-{mark}"
        with ExitStack() as stack:
            folders = {}
            for run, needed in wanted.items():
                folder = RunFolder.create_or_open(run / FOLDER / name)
                stack.enter_context(folder)
                adopt_header(folder, _header(judge, endpoint, identity, omitted))
                folders[folder] = list(needed)
            journals = JudgeJournals(folders)
            journals.share()
            asking = _Asking(judge, endpoint, identity, journals, config, on_event, stop)
            summary = await asking.all(items, list(folders))
            if not stop.is_set():
                await _look_again(endpoint, identity, folders)
    if summary.interrupted:
        raise Interrupted(
            f"Interrupted: {summary.reused + summary.answered} of {summary.total} verdicts of "
            f"'{judge.arm.name}' are kept.",
            hint="The same command goes on from there.",
        )
    return Asked(identity, mark, name, summary)


async def _look_again(endpoint: Endpoint, identity: Identity, folders: Iterable[RunFolder]) -> None:
    try:
        refuse_change(_NAME, identity, await endpoint.identity())
    except IdentityChanged as error:
        for folder in folders:
            mark_changed(folder, error.message)
        raise


@dataclass(frozen=True, slots=True)
class _Asking:
    judge: Judge
    endpoint: Endpoint
    identity: Identity
    journals: JudgeJournals
    config: Config
    on_event: OnEvent
    stop: asyncio.Event

    async def all(self, items: Mapping[str, JudgeItem], folders: Sequence[RunFolder]) -> RunSummary:
        """Ask about each item; the drawn share twice; and again where nothing can be read."""
        asked = first_asking(self.judge, items.values(), self.config.seed)
        summary = await self.some(asked)
        if summary.interrupted:
            return summary
        left = unread(folders, items)
        if left:
            again = await self.some([(items[key], AGAIN) for key in left])
            if again.interrupted:
                return again
        return summary

    async def some(self, asked: Sequence[tuple[JudgeItem, int]]) -> RunSummary:
        judge, requests = self.judge, self.config.requests
        limits = Limits(
            max_connections=self.config.connections,
            max_attempts=requests.max_attempts,
            backoff_base=requests.backoff_base,
            backoff_cap=requests.backoff_cap,
        )

        def tell(event: Event) -> None:
            self.on_event(_NAME, event)

        return await collect(
            self.endpoint,
            JudgeRequests(asked, judge.rubric, judge.sampling, self.identity, self.config.seed),
            self.journals,
            limits=limits,
            on_event=tell,
            stop=self.stop,
        )


def _header(
    judge: Judge, endpoint: Endpoint, identity: Identity, omitted: Sequence[str]
) -> dict[str, object]:
    return make_header(
        endpoint,
        identity,
        {_NAME: judge.sampling},
        rubric=judge.rubric.plain(),
        rubric_hash=judge.rubric.hash,
        prompt_version=PROMPT_VERSION,
        repeat=judge.repeat,
        omitted=list(omitted),
    )


def _log_path(run: Path) -> Path:
    folder = run / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "log.txt"
