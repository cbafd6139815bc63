"""Opening the arms of a probe, measuring them point by point, and what must be said of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from evalkit import __version__
from evalkit.config import Config
from evalkit.endpoints.base import parse_endpoint
from evalkit.errors import Interrupted, UsageError
from evalkit.performance import PERFORMANCE_VERSION, Load, MeasuredArm, Performance, Remark
from evalkit.probe.memory import held_now
from evalkit.probe.plan import ProbePlan
from evalkit.probe.prompts import Prompts
from evalkit.probe.rounds import Rounds, measure
from evalkit.probe.subject import Subject, get_to_know
from evalkit.probe.summary import point
from evalkit.stages.arms import Arm, endpoint_options
from evalkit.stages.opening import opened
from evalkit.stages.probing import OnStage
from evalkit.stages.remarks import remarks_of
from evalkit.stages.speculating import SpeculativeWork

_Key = tuple[int, int, str, float]


async def measure_arms(
    arms: Sequence[Arm], plan: ProbePlan, config: Config, on_stage: OnStage, stop: asyncio.Event
) -> Performance:
    """Measure endpoints side by side; servers that evalkit starts one after another.

    Args:
        arms: Endpoints, the baseline first.
        plan: What is measured.
        config: How to ask.
        on_stage: Told in a sentence what is measured.
        stop: When set, all is given up.

    Raises:
        EndpointError: When an endpoint cannot be used.
        UsageError: When nothing can be measured as asked.
        Interrupted: When told to stop.
    """
    work = asyncio.create_task(_Session(arms, plan, config, on_stage, stop).run())
    watch = asyncio.create_task(stop.wait())
    await asyncio.wait((work, watch), return_when=asyncio.FIRST_COMPLETED)
    watch.cancel()
    if work.done():
        return work.result()
    work.cancel()
    await asyncio.wait((work,))
    if not work.cancelled() and work.exception() is None:
        return work.result()
    raise Interrupted("Interrupted: a probe that is cut short keeps nothing.")


@dataclass(slots=True)
class _Session:
    arms: Sequence[Arm]
    plan: ProbePlan
    config: Config
    on_stage: OnStage
    stop: asyncio.Event
    found: dict[_Key, dict[str, Rounds]] = field(default_factory=dict)
    measured: dict[str, MeasuredArm] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    work: SpeculativeWork | None = None

    async def run(self) -> Performance:
        self.work = SpeculativeWork.of(self.plan, self.arms, self.on_stage)
        groups = _groups(self.arms, together=self.plan.together)
        for group in groups:
            await self._measure_group(group)
        if len(groups) > 1:
            self.remarks.append(Remark("NOT_INTERLEAVED"))
        order = [arm.name for arm in self.arms]
        points = [
            point(
                asked,
                context,
                Load("open" if mode == "open" else "closed", level),
                {name: rounds[name] for name in order if name in rounds},
                self.plan.slo,
                self.plan.seed,
            )
            for (asked, context, mode, level), rounds in self.found.items()
        ]
        speculation = () if self.work is None else self.work.summary(points, self.measured)
        return Performance(
            schema_version=PERFORMANCE_VERSION,
            evalkit_version=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            settings=_settings(self.plan),
            slo=self.plan.slo,
            price=self.plan.price,
            arms=tuple(self.measured[name] for name in order),
            points=tuple(points),
            remarks=(*self.remarks, *self._more(), *remarks_of(points, self.plan.output_tokens)),
            prices=self.plan.prices,
            speculation=speculation,
        )

    def _more(self) -> Iterator[Remark]:
        if self.plan.prefix_cache:
            yield Remark("PREFIX_CACHE")
        if self.work is not None:
            yield from self.work.remarks()
        for arm in self.measured.values():
            if not arm.memory:
                yield Remark("NO_MEMORY", {"endpoint": arm.name})

    async def _measure_group(self, group: Sequence[Arm]) -> None:
        async with AsyncExitStack() as stack:
            subjects = [await self._open(arm, stack) for arm in group]
            for subject in subjects:
                self.remarks += subject.remarks
            await self._measure_points(subjects)
            if self.work is not None:
                await self.work.ask(subjects, _held(subjects))
            for subject in subjects:
                self.measured[subject.name] = MeasuredArm(
                    subject.name,
                    subject.label,
                    asdict(subject.identity),
                    await subject.runner.memory.found(),
                )

    async def _open(self, arm: Arm, stack: AsyncExitStack) -> Subject:
        if arm.raw is None:
            raise UsageError(
                f"{arm.recorded} is a recorded run: there is no endpoint to measure.",
                hint="Name the endpoint that it asked.",
            )
        self.on_stage(f"opening {arm.name}")
        held = held_now()
        endpoint = parse_endpoint(
            arm.name, arm.raw, endpoint_options(self.config, None, self.on_stage)
        )
        await stack.enter_async_context(opened(endpoint, self.stop))
        return await get_to_know(arm.name, endpoint, self.plan.output_tokens, held)

    async def _measure_points(self, subjects: Sequence[Subject]) -> None:
        plan = self.plan
        prompts = Prompts(subjects[0].count, plan.seed, shared=plan.prefix_cache)
        await prompts.calibrate()
        sizes, capped = capped_contexts(plan, _held(subjects), prompts.least)
        self.remarks += [one for one in capped if one not in self.remarks]
        for asked, context in sizes:
            await prompts.fit(context)
            for load in plan.loads(asked):
                names = " and ".join(subject.name for subject in subjects)
                kind = "in flight" if load.mode == "closed" else "requests a second"
                self.on_stage(f"measuring {names}: {context:,} tokens, {load.level:g} {kind}")
                rounds = await measure([s.runner for s in subjects], prompts, plan, context, load)
                key = (asked, context, load.mode, load.level)
                self.found.setdefault(key, {}).update(rounds)
            for subject in subjects:
                await subject.runner.memory.measure_gpu()


def capped_contexts(
    plan: ProbePlan, limit: int | None, least: int
) -> tuple[list[tuple[int, int]], list[Remark]]:
    """Return the contexts as asked and as they fit, each once, and what was cut.

    Args:
        plan: What is asked for.
        limit: Tokens that every endpoint holds, prompt and answer together; `None`: unknown.
        least: Tokens of the shortest prompt.

    Raises:
        UsageError: When none fits.
    """
    sizes: list[tuple[int, int]] = []
    remarks = []
    for asked in plan.contexts:
        context = asked if limit is None else min(asked, limit - plan.output_tokens)
        if context < least:
            raise UsageError(
                f"A prompt of {context:,} tokens cannot be measured: the shortest has {least:,}.",
                hint="Ask for a longer context, or for shorter answers (--output-tokens).",
            )
        new = context not in {size for _, size in sizes}
        if context < asked:
            values = {"asked": f"{asked:,}", "context": f"{context:,}", "limit": f"{limit:,}"}
            remarks.append(Remark("CAPPED" if new else "LEFT_OUT", values))
        if new:
            sizes.append((asked, context))
    return sizes, remarks


def _held(subjects: Sequence[Subject]) -> int | None:
    """Return the tokens that each of them holds, prompt and answer together."""
    limits = [s.identity.context_length for s in subjects if s.identity.context_length]
    return min(limits, default=None)


def _groups(arms: Sequence[Arm], *, together: bool) -> list[list[Arm]]:
    """Return who is measured at the same time: a server that is started needs its device."""
    running = [arm for arm in arms if together or not arm.launched]
    alone = [[arm] for arm in arms if arm not in running]
    return [running, *alone] if running else alone


def _settings(plan: ProbePlan) -> Mapping[str, Any]:
    apart = ("slo", "price", "prices")
    kept = {key: value for key, value in asdict(plan).items() if key not in apart}
    return {**kept, "contexts": list(plan.contexts), "concurrency": list(plan.concurrency)}
