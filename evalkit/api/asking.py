"""Asking one endpoint after another: run, check."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.api.settings import default_output, targets_of
from evalkit.collect.interrupts import run_with_signals
from evalkit.collect.preflight import ProbeRecord
from evalkit.config import Config
from evalkit.errors import Interrupted, UsageError
from evalkit.garbage import rare_collections
from evalkit.policy import declaration
from evalkit.stages.arms import resolve_arms
from evalkit.stages.checking import require_sound
from evalkit.stages.collecting import CollectedRun, OnEvent, collect_arm
from evalkit.stages.judge_asking import judge_runs, reach_judge
from evalkit.stages.judge_choosing import judge_for, refuse_unjudged
from evalkit.stages.plan import make_plan
from evalkit.stages.probing import OnStage, check_arm
from evalkit.stages.redacting import shared_redaction
from evalkit.stages.repeating import check_repeats
from evalkit.stages.sandboxing import require_sandbox
from evalkit.stages.tuning import fix_connections

if TYPE_CHECKING:
    from evalkit.stages.grading import ScoredRun


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what happens. Both must be quick."""

    on_event: OnEvent = lambda arm, event: None
    on_stage: OnStage = lambda text: None


@rare_collections()
def run(
    target: str,
    config: Config,
    *,
    output: Path | None = None,
    fresh: bool = False,
    repeat_share: float = 0.0,
    listener: Listener | None = None,
) -> ScoredRun:
    """Ask one endpoint, and score its answers.

    Args:
        target: A name, `URL#model` or a GGUF file.
        config: How to ask.
        output: The run folder.
        fresh: Throw recorded answers away first.
        repeat_share: Share of the prompts that is asked a second time, for a run that will
            be a baseline.
        listener: Told what happens.

    Raises:
        EvalKitError: One sentence with what to do.
    """
    listener = listener or Listener()
    arm = resolve_arms([target], config)[0]
    if arm.raw is None:
        raise UsageError(f"'{target}' is a recorded run already.", hint="Name an endpoint.")
    plan = make_plan(config)
    check_repeats(plan, config.pass_at, listener.on_stage)
    require_sandbox(plan)
    folder = output or default_output(config) / "runs" / arm.name
    declared = declaration(config.policy)
    redaction = shared_redaction([arm], plan, config)
    judge = judge_for(config, plan.tasksets, redacted=redaction is not None)
    refuse_unjudged(config, plan.tasksets, [None])

    async def ask(stop: asyncio.Event) -> CollectedRun:
        await reach_judge(judge, config, listener.on_stage, stop)
        fixed = await fix_connections(
            [arm], plan, config, {arm.name: folder}, listener.on_stage, stop=stop, fresh=fresh
        )
        collected = await collect_arm(
            arm,
            plan,
            folder,
            fixed.applied(config),
            on_event=listener.on_event,
            notify=listener.on_stage,
            stop=stop,
            fresh=fresh,
            declared=declared,
            settings=fixed.settings(arm.name),
            redaction=redaction,
            repeat_share=repeat_share,
            inspect=lambda record: require_sound(record, config),
        )
        refuse_interrupted(collected)
        await judge_runs(
            judge,
            [(collected, plan)],
            config,
            on_event=listener.on_event,
            notify=listener.on_stage,
            stop=stop,
            fresh=fresh,
        )
        return collected

    collected = run_with_signals(ask)
    listener.on_stage("scoring")
    from evalkit.stages.grading import tally

    return tally(collected, plan, allow_code=config.allow_code, tries=config.pass_at)


def check(
    targets: Sequence[str],
    config: Config,
    *,
    context: int | None = None,
    listener: Listener | None = None,
) -> dict[str, ProbeRecord]:
    """Reach each endpoint, find out what it is, and try what a run rests on.

    Args:
        targets: Endpoints.
        config: How to ask.
        context: Tokens up to which long prompts are tried.
        listener: Told what happens.

    Raises:
        EndpointError: For the first that cannot be used.
    """
    listener = listener or Listener()
    arms = resolve_arms(targets_of(targets, config), config)
    for arm in arms:
        if arm.recorded is not None:
            raise UsageError(
                f"{arm.recorded} is a recorded run: there is no endpoint to reach.",
                hint="Name the endpoint that it asked.",
            )

    async def ask(stop: asyncio.Event) -> dict[str, ProbeRecord]:
        found = {}
        for arm in arms:
            listener.on_stage(f"checking {arm.name}")
            found[arm.name] = await check_arm(arm, config, listener.on_stage, stop, context=context)
        return found

    return run_with_signals(ask)


def refuse_interrupted(collected: CollectedRun) -> None:
    """Stop where a run was.

    Raises:
        Interrupted: When it did not come to its end.
    """
    if collected.summary is not None and collected.summary.interrupted:
        done = collected.summary.reused + collected.summary.answered
        raise Interrupted(
            f"Interrupted: {done} of {collected.summary.total} answers of "
            f"'{collected.arm}' are kept.",
            hint="The same command goes on from there.",
        )
