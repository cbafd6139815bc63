"""What the command line does, for Python: compare, run, check, report."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.collect.interrupts import run_with_signals
from evalkit.collect.journal import open_run
from evalkit.collect.preflight import Finding, Preflight, compare_identities
from evalkit.config import Config
from evalkit.errors import Interrupted, InvalidComparison, StoreError, UsageError
from evalkit.results import Comparison, ReasonCode
from evalkit.stages.arms import Arm, comparison_name, resolve_arms
from evalkit.stages.collecting import (
    CollectedRun,
    OnEvent,
    OnStage,
    check_arm,
    collect_arm,
    load_run,
    unanswered,
)
from evalkit.stages.plan import Plan, make_plan, plan_difference, recorded_plan
from evalkit.types import Identity

if TYPE_CHECKING:
    from evalkit.stages.comparing import GradedRun

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
    plan = _shared_plan(arms, config, listener)
    folder = output or _default_output(config) / comparison_name(arms)
    settings = {"policy_hash": config.policy.fingerprint}

    async def ask(stop: asyncio.Event) -> list[CollectedRun]:
        # What is on disk is read first: nothing is asked beside a run that is broken.
        recorded = {arm.name: _recorded(arm, plan) for arm in arms if arm.recorded is not None}
        await _check_all(arms, config, listener)
        runs = []
        for arm in arms:
            if arm.name in recorded:
                runs.append(recorded[arm.name])
                continue
            collected = await collect_arm(
                arm,
                plan,
                folder / "runs" / arm.name,
                config,
                on_event=listener.on_event,
                notify=listener.on_stage,
                stop=stop,
                fresh=fresh,
                settings=settings,
            )
            _refuse_interrupted(collected)
            runs.append(collected)
        return runs

    runs = run_with_signals(ask)
    return Compared(_decide(runs, plan, config, folder, listener), folder)


def run(
    target: str,
    config: Config,
    *,
    output: Path | None = None,
    fresh: bool = False,
    listener: Listener | None = None,
) -> GradedRun:
    """Ask one endpoint, and score its answers.

    Raises:
        EvalKitError: One sentence with what to do.
    """
    listener = listener or Listener()
    arm = resolve_arms([target], config)[0]
    if arm.raw is None:
        raise UsageError(f"'{target}' is a recorded run already.", hint="Name an endpoint.")
    plan = make_plan(config)
    folder = output or _default_output(config) / "runs" / arm.name
    settings = {"policy_hash": config.policy.fingerprint}

    async def ask(stop: asyncio.Event) -> CollectedRun:
        return await collect_arm(
            arm,
            plan,
            folder,
            config,
            on_event=listener.on_event,
            notify=listener.on_stage,
            stop=stop,
            fresh=fresh,
            settings=settings,
        )

    collected = run_with_signals(ask)
    _refuse_interrupted(collected)
    listener.on_stage("scoring")
    return _grade(collected, plan, config)


def check(
    targets: Sequence[str], config: Config, *, listener: Listener | None = None
) -> dict[str, Preflight]:
    """Reach each endpoint and get one answer.

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

    async def ask(stop: asyncio.Event) -> dict[str, Preflight]:
        return {arm.name: await check_arm(arm, config, listener.on_stage) for arm in arms}

    return run_with_signals(ask)


def _grade(collected: CollectedRun, plan: Plan, config: Config) -> GradedRun:
    # Scorers and statistics cost a second to import: only after the answers are there.
    from evalkit.stages.comparing import GradedRun
    from evalkit.stages.grading import grade

    return GradedRun(collected, grade(collected, plan, allow_code=config.allow_code))


def _decide(
    runs: Sequence[CollectedRun], plan: Plan, config: Config, folder: Path, listener: Listener
) -> Comparison:
    """Score all arms, compare them, and keep the result."""
    from evalkit.stages.comparing import build_comparison
    from evalkit.stages.writing import write_comparison

    confounders = _confounders(runs)
    listener.on_stage("scoring")
    baseline, *candidates = (_grade(run, plan, config) for run in runs)
    listener.on_stage("comparing")
    comparison = build_comparison(baseline, candidates, plan, config, confounders)
    write_comparison(folder, comparison)
    return comparison


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


def _shared_plan(arms: Sequence[Arm], config: Config, listener: Listener) -> Plan:
    """Return what all arms were or will be asked; recorded runs decide when there are any."""
    if len(arms) < 2:
        raise UsageError("A comparison needs a baseline and at least one candidate.")
    plans = [
        (
            arm,
            recorded_plan(
                open_run(arm.recorded).read_header() or {},
                arm.recorded,
                allow_code=config.allow_code,
            ),
        )
        for arm in arms
        if arm.recorded is not None
    ]
    if not plans:
        return make_plan(config)
    first_arm, first = plans[0]
    for arm, plan in plans[1:]:
        differing = plan_difference(first, plan)
        if differing:
            raise StoreError(
                f"{first_arm.recorded} and {arm.recorded} were asked different things: "
                f"{', '.join(differing)}.",
                hint="Record both with the same tasks, limit, epochs, seed and sampling.",
            )
    _refuse_other_wishes(config, first, first_arm)
    listener.on_stage(f"asking what {first_arm.recorded} was asked")
    return first


def _refuse_other_wishes(config: Config, plan: Plan, arm: Arm) -> None:
    """A recorded run decides what is asked: a flag that says otherwise is not passed over."""
    record = plan.record()
    wishes = {
        "tasks": config.tasks and set(config.tasks) != {row["name"] for row in record["tasksets"]},
        "limit": config.limit is not None and config.limit != plan.limit,
        "languages": config.languages and config.languages != plan.languages,
        "epochs": config.epochs not in (1, plan.epochs),
        "seed": config.seed not in (0, plan.seed),
    }
    refused = [name for name, differs in wishes.items() if differs]
    if refused:
        raise UsageError(
            f"{arm.recorded} was asked other things than {', '.join(refused)} says.",
            hint="Leave that out, or ask the endpoint again.",
        )


def _recorded(arm: Arm, plan: Plan) -> CollectedRun:
    run = load_run(arm, plan)
    _refuse_incomplete(run)
    return run


async def _check_all(arms: Sequence[Arm], config: Config, listener: Listener) -> None:
    """Fail before the first token is spent: an endpoint is unusable, or two do not compare."""
    found: dict[str, Preflight] = {}
    for arm in arms:
        if arm.raw is not None:
            listener.on_stage(f"checking {arm.name}")
            found[arm.name] = await check_arm(arm, config, listener.on_stage)
            failed = [f for f in found[arm.name].findings if f.status == "failed"]
            if failed and not config.allow_confounded:
                raise InvalidComparison(
                    f"Endpoint '{arm.name}' fails the preflight: {failed[0].message}",
                    hint="Mend it, or go on all the same with --allow-confounded.",
                )
    baseline = found.get(arms[0].name)
    if baseline is not None and not config.allow_confounded:
        for name, preflight in found.items():
            if preflight is not baseline:
                _refuse_confounded(arms[0].name, baseline, name, preflight)


def _differing(a: Identity, b: Identity) -> list[Finding]:
    return [finding for finding in compare_identities(a, b) if finding.status == "differs"]


def _refuse_confounded(one: str, a: Preflight, other: str, b: Preflight) -> None:
    differing = _differing(a.identity, b.identity)
    if differing:
        raise InvalidComparison(
            f"'{one}' and '{other}' cannot be compared: {' '.join(f.message for f in differing)}",
            hint="Mend it, or decide all the same with --allow-confounded.",
        )


def _refuse_interrupted(collected: CollectedRun) -> None:
    if collected.summary is not None and collected.summary.interrupted:
        done = collected.summary.reused + collected.summary.answered
        raise Interrupted(
            f"Interrupted: {done} of {collected.summary.total} answers of "
            f"'{collected.arm}' are kept.",
            hint="The same command goes on from there.",
        )


def _refuse_incomplete(collected: CollectedRun) -> None:
    """Refuse a recorded run that was never finished; a run of this process cannot be one."""
    left = unanswered(collected, collected.completions())
    if left:
        raise StoreError(
            f"{collected.folder.path} is not complete: {left} of {len(collected.requests)} "
            "requests were never asked.",
            hint="Finish that run first: the same command goes on where it stopped.",
        )


def _confounders(runs: Sequence[CollectedRun]) -> Mapping[str, list[ReasonCode]]:
    baseline = runs[0]
    return {
        run.arm: [
            ReasonCode(
                "SAME_ENDPOINT" if finding.code == "distinct" else "CONFIG_MISMATCH",
                values={"finding": finding.code, "message": finding.message},
            )
            for finding in _differing(baseline.identity, run.identity)
        ]
        for run in runs[1:]
    }
