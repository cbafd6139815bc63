"""What the command line does, for Python: compare, run, check, report."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.collect.interrupts import run_with_signals
from evalkit.collect.preflight import ProbeRecord
from evalkit.collect.redaction import Redaction
from evalkit.config import Config
from evalkit.errors import Interrupted, UsageError
from evalkit.policy import declaration
from evalkit.results import Comparison
from evalkit.stages.arms import comparison_name, resolve_arms
from evalkit.stages.checking import check_all, find_confounders, leave_out, require_sound
from evalkit.stages.collecting import (
    CollectedRun,
    OnEvent,
    collect_arm,
)
from evalkit.stages.ledger import Ledger, foreseen, subjects_of
from evalkit.stages.plan import Plan, make_plan
from evalkit.stages.probing import OnStage, check_arm
from evalkit.stages.recorded import recorded_run, shared_plan
from evalkit.stages.redacting import shared_redaction
from evalkit.stages.sandboxing import require_sandbox
from evalkit.stages.tuning import fix_connections

if TYPE_CHECKING:
    from evalkit.stages.comparing import GradedRun
    from evalkit.stages.grading import ScoredRun

DEFAULT_OUTPUT = Path("reports/out")


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what happens. Both must be quick."""

    on_event: OnEvent = lambda arm, event: None
    on_stage: OnStage = lambda text: None


@dataclass(frozen=True, slots=True)
class Compared:
    """A finished comparison and the folder that holds it."""

    comparison: Comparison
    folder: Path


def compare(
    targets: Sequence[str],
    config: Config,
    *,
    output: Path | None = None,
    fresh: bool = False,
    listener: Listener | None = None,
) -> Compared:
    """Check, ask what is missing, score, compare, and write `comparison.json`.

    Args:
        targets: The baseline, then candidates from safest to cheapest: names, `URL#model`,
            GGUF files or run folders. When empty, those of the configuration.
        config: How to ask and how to decide.
        output: Folder of the comparison.
        fresh: Throw recorded answers away first.
        listener: Told what happens.

    Raises:
        EvalKitError: One sentence with what to do; see `errors.py`.
    """
    listener = listener or Listener()
    arms = resolve_arms(_targets(targets, config), config)
    plan = shared_plan(arms, config, listener.on_stage)
    require_sandbox(plan)
    folder = output or _default_output(config) / comparison_name(arms)
    declared = declaration(config.policy)
    redaction = shared_redaction(arms, plan, config)
    names = [arm.name for arm in arms]
    warning = foreseen(folder, names, plan, config.policy, fresh=fresh)
    if warning is not None:
        listener.on_stage(warning)

    async def ask(stop: asyncio.Event) -> list[CollectedRun]:
        # What is on disk is read first: nothing is asked beside a run that is broken.
        recorded = {arm.name: recorded_run(arm, plan) for arm in arms if arm.recorded is not None}
        checks = await check_all(arms, plan, config, listener.on_stage, stop)
        arms_asked = leave_out(arms, checks.omitted)
        folders = {arm.name: folder / "runs" / arm.name for arm in arms}
        fixed = await fix_connections(
            arms_asked, plan, config, folders, listener.on_stage, stop=stop, fresh=fresh
        )
        runs = []
        for arm in arms_asked:
            if arm.name in recorded:
                runs.append(recorded[arm.name])
                continue
            collected = await collect_arm(
                arm,
                plan,
                folders[arm.name],
                fixed.applied(config),
                on_event=listener.on_event,
                notify=listener.on_stage,
                stop=stop,
                fresh=fresh,
                declared=declared,
                settings=fixed.settings(arm.name),
                redaction=redaction if config.redact else None,
                record=checks.records.get(arm.name),
                omitted=checks.omitted,
                repeat_share=config.aa if arm.name == arms[0].name else 0.0,
                inspect=partial(checks.add, arm.name) if arm.launched else None,
            )
            _refuse_interrupted(collected)
            runs.append(collected)
        return runs

    runs = run_with_signals(ask)
    return Compared(_decide(runs, plan, config, folder, listener, redaction), folder)


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
    require_sandbox(plan)
    folder = output or _default_output(config) / "runs" / arm.name
    declared = declaration(config.policy)
    redaction = shared_redaction([arm], plan, config)

    async def ask(stop: asyncio.Event) -> CollectedRun:
        fixed = await fix_connections(
            [arm], plan, config, {arm.name: folder}, listener.on_stage, stop=stop, fresh=fresh
        )
        return await collect_arm(
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

    collected = run_with_signals(ask)
    _refuse_interrupted(collected)
    listener.on_stage("scoring")
    from evalkit.stages.grading import tally

    return tally(collected, plan, allow_code=config.allow_code)


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
    arms = resolve_arms(_targets(targets, config), config)
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


def _grade(
    collected: CollectedRun, plan: Plan, config: Config, redaction: Redaction | None
) -> GradedRun:
    # Scorers and statistics cost a second to import: only after the answers are there.
    from evalkit.stages.comparing import GradedRun
    from evalkit.stages.grading import grade

    graded = grade(collected, plan, allow_code=config.allow_code, redaction=redaction)
    return GradedRun(collected, *graded)


def _decide(
    runs: Sequence[CollectedRun],
    plan: Plan,
    config: Config,
    folder: Path,
    listener: Listener,
    redaction: Redaction | None,
) -> Comparison:
    """Score all arms, compare them, and keep the result."""
    from evalkit.report.store import load_comparison
    from evalkit.stages.comparing import History, build_comparison
    from evalkit.stages.writing import write_comparison

    ledger, subjects = Ledger.read(folder), subjects_of(runs, plan)
    confounders = find_confounders(runs)
    listener.on_stage("scoring")
    baseline, *candidates = (_grade(run, plan, config, redaction) for run in runs)
    listener.on_stage("comparing")
    comparison = build_comparison(
        baseline,
        candidates,
        plan,
        config,
        confounders,
        history={
            arm: History(subject.asked, ledger.history(subject))
            for arm, subject in subjects.items()
        },
    )
    # A look counts from the moment at which its result could be read.
    ledger.add(comparison, subjects)
    write_comparison(folder, comparison)
    # What is shown now is what a later report will show: both are read from the file.
    return load_comparison(folder)


def _targets(targets: Sequence[str], config: Config) -> Sequence[str]:
    if targets:
        return targets
    if config.baseline is not None and config.candidates:
        return (config.baseline, *config.candidates)
    raise UsageError(
        "There is nothing to compare.",
        hint="Name a baseline and a candidate, e.g.: evalkit compare q8 q4",
    )


def _default_output(config: Config) -> Path:
    return Path(config.output) if config.output else DEFAULT_OUTPUT


def _refuse_interrupted(collected: CollectedRun) -> None:
    if collected.summary is not None and collected.summary.interrupted:
        done = collected.summary.reused + collected.summary.answered
        raise Interrupted(
            f"Interrupted: {done} of {collected.summary.total} answers of "
            f"'{collected.arm}' are kept.",
            hint="The same command goes on from there.",
        )
