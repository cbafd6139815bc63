"""A comparison from the endpoints' names to `comparison.json`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.api.asking import Listener, refuse_interrupted
from evalkit.api.comparison import Comparison
from evalkit.api.settings import checked_config, default_output, targets_of
from evalkit.collect.interrupts import run_with_signals
from evalkit.collect.preflight import ProbeRecord
from evalkit.collect.redaction import Redaction
from evalkit.config import Config
from evalkit.errors import UsageError
from evalkit.garbage import rare_collections
from evalkit.policy import Policy, declaration
from evalkit.results import Comparison as Content
from evalkit.stages.against import Release, Terms, agree, find_release, named_apart
from evalkit.stages.against_change import (
    describe,
    release_changes,
    release_confounders,
    require_like_release,
)
from evalkit.stages.arms import Arm, comparison_name, resolve_arms
from evalkit.stages.checking import check_all, find_confounders, leave_out
from evalkit.stages.collecting import CollectedRun, collect_arm
from evalkit.stages.importing import import_logs
from evalkit.stages.judge_asking import judge_runs, reach_judge
from evalkit.stages.judge_choosing import judge_for, refuse_unjudged
from evalkit.stages.ledger import Ledger, foreseen, subjects_of
from evalkit.stages.live_scoring import loading
from evalkit.stages.plan import Plan
from evalkit.stages.recorded import recorded_run, shared_plan
from evalkit.stages.redacting import shared_redaction
from evalkit.stages.repeating import check_repeats
from evalkit.stages.sandboxing import require_sandbox
from evalkit.stages.tuning import fix_connections

if TYPE_CHECKING:
    from evalkit.report.explorer import Exploration
    from evalkit.stages.comparing import GradedRun

_AT_THE_END = (
    "evalkit.stages.comparing",
    "evalkit.stages.exploring",
    "evalkit.stages.grading",
    "evalkit.stages.writing",
    "evalkit.report.store",
)


@rare_collections()
def compare(
    *targets: str | Path,
    config: Config | Mapping[str, Any] | str | Path | None = None,
    policy: Policy | Mapping[str, Any] | str | Path | None = None,
    against: str | Path | None = None,
    against_arm: str | None = None,
    output: str | Path | None = None,
    fresh: bool = False,
    listener: Listener | None = None,
    **settings: Any,
) -> Comparison:
    """Check, ask what is missing, score, compare, and write `comparison.json`.

    It also works where an event loop is running, as in a notebook; the loop stands still
    meanwhile. As on the command line, the same call goes on where it was interrupted.

    Args:
        targets: The baseline, then candidates from safest to cheapest: names, `URL#model`,
            GGUF files or run folders. When empty, those of the configuration. With `against`
            the candidates alone.
        config: How to ask and how to decide: a file, or its content.
        policy: The decision rule's numbers, or a file with them, or the name of one that
            ships; instead of the configuration's.
        against: A run or comparison folder of an earlier release, to stand as the baseline.
        against_arm: Which arm of that comparison: `baseline`, `candidate` or its name. By
            default the one that was recommended.
        output: Folder of the comparison; by default one under `reports/out`.
        fresh: Throw recorded answers away first.
        listener: Told what happens.
        settings: Keys of the configuration, e.g. `tasks=["facts"], limit=50`; they win over
            what `config` says.

    Raises:
        EvalKitError: One sentence with what to do; see `errors.py`.
    """
    listener = listener or Listener()
    config = checked_config(config, settings, policy)
    words = [str(target) for target in targets]
    release: Release | None = None
    terms: Terms | None = None
    if against is None:
        if against_arm is not None:
            raise UsageError("An arm of which release?", hint="Name its folder with --against.")
        arms = resolve_arms(targets_of(words, config), config)
        folder = _folder(output, config, arms)
        arms = import_logs(arms, config, folder, listener.on_stage)
        plan = shared_plan(arms, config, listener.on_stage)
    else:
        release = find_release(Path(against), against_arm, listener.on_stage)
        words = words or list(config.candidates)
        if not words:
            raise UsageError("There is no candidate.", hint="Name what is to be released.")
        arms = named_apart(release, resolve_arms(words, config))
        folder = _folder(output, config, arms)
        arms = [arms[0], *import_logs(arms[1:], config, folder, listener.on_stage)]
        terms = agree(release, arms[1:], config, listener.on_stage)
        config, plan = terms.config, terms.plan
    check_repeats(plan, config.pass_at, listener.on_stage)
    require_sandbox(plan)
    declared = declaration(config.policy)
    redaction = shared_redaction(arms, plan, config)
    judge = judge_for(config, plan.tasksets, redacted=redaction is not None)
    refuse_unjudged(config, plan.tasksets, [arm.recorded for arm in arms])
    names = [arm.name for arm in arms]
    warning = foreseen(folder, names, plan, config.policy, fresh=fresh)
    if warning is not None:
        listener.on_stage(warning)

    on_event = loading(listener.on_event, _load)

    async def ask(stop: asyncio.Event) -> list[CollectedRun]:
        await reach_judge(judge, config, listener.on_stage, stop)
        # What is on disk is read first: nothing is asked beside a run that is broken.
        recorded = {arm.name: recorded_run(arm, plan) for arm in arms if arm.recorded is not None}
        checks = await check_all(arms, plan, config, listener.on_stage, stop)
        stored = recorded[arms[0].name] if release is not None else None
        for record in checks.records.values():
            _require_like(stored, record, config)
        omitted = sorted({*checks.omitted, *(() if stored is None else stored.omitted)})
        arms_asked = leave_out(arms, omitted)

        def inspect(name: str, record: ProbeRecord) -> None:
            checks.add(name, record)
            _require_like(stored, record, config)

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
                on_event=on_event,
                notify=listener.on_stage,
                stop=stop,
                fresh=fresh,
                declared=declared,
                settings=fixed.settings(arm.name),
                redaction=redaction if config.redact else None,
                record=checks.records.get(arm.name),
                omitted=omitted,
                repeat_share=config.aa if arm.name == arms[0].name else 0.0,
                inspect=partial(inspect, arm.name) if arm.launched else None,
                hold=True,
            )
            refuse_interrupted(collected)
            runs.append(collected)
        await judge_runs(
            judge,
            [(collected, plan) for collected in runs],
            config,
            on_event=listener.on_event,
            notify=listener.on_stage,
            stop=stop,
            fresh=fresh,
        )
        return runs

    runs = run_with_signals(ask)
    stands_on = None if release is None or terms is None else (release, terms)
    content, pairs = _decide(runs, plan, config, folder, listener, redaction, stands_on)
    return Comparison(content, folder, pairs)


def _load() -> None:
    """Load what the end of a comparison needs."""
    for module in _AT_THE_END:
        import_module(module)
    from evalkit.report.html import compile_templates

    compile_templates()


def _folder(output: str | Path | None, config: Config, arms: Sequence[Arm]) -> Path:
    return Path(output) if output is not None else default_output(config) / comparison_name(arms)


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
    stands_on: tuple[Release, Terms] | None,
) -> tuple[Content, Exploration | None]:
    """Score all arms, compare them, and keep the result."""
    from evalkit.report.store import load_comparison
    from evalkit.stages.comparing import History, build_comparison
    from evalkit.stages.exploring import explore_held
    from evalkit.stages.places import write_places
    from evalkit.stages.writing import write_comparison

    ledger, subjects = Ledger.read(folder), subjects_of(runs, plan)
    changes = {} if stands_on is None else release_changes(runs)
    confounders = release_confounders(runs, changes) if changes else find_confounders(runs)
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
        against=None if stands_on is None else describe(*stands_on, changes, folder),
    )
    # A look counts from the moment at which its result could be read.
    ledger.add(comparison, subjects)
    write_places(folder, runs)
    write_comparison(folder, comparison)
    # What is shown now is what a later report will show: both are read from the file.
    content = load_comparison(folder)
    return content, explore_held((baseline, *candidates), plan, content)


def _require_like(stored: CollectedRun | None, record: ProbeRecord, config: Config) -> None:
    if stored is not None:
        require_like_release(stored, record, config)
