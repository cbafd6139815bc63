"""Opening an endpoint, keeping it busy, and judging what its journal holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalkit import __version__
from evalkit.collect.canary import changes
from evalkit.config import Config
from evalkit.endpoints.base import parse_endpoint
from evalkit.errors import StoreError, UsageError
from evalkit.probe.memory import held_now
from evalkit.probe.subject import Subject, get_to_know
from evalkit.soak.journal import VERSION, SoakJournal, read
from evalkit.soak.judging import (
    answers_of,
    bursts_of,
    failed_share,
    findings_of,
    measured,
    remarks_of,
    trends_of,
)
from evalkit.soak.mix import calibrated
from evalkit.soak.plan import SoakPlan
from evalkit.soak.session import Session
from evalkit.soak.watching import ServerWatch
from evalkit.soak.windows import summed_up
from evalkit.stability import STABILITY_VERSION, Fact, Stability
from evalkit.stages.arms import Arm, endpoint_options
from evalkit.stages.opening import opened
from evalkit.stages.probing import OnStage
from evalkit.types import Identity

SERVER_LOG = "soak.log"
# What a soak that goes on may have otherwise: how long, and what counts as wrong.
_FREE = ("seconds", "max_leak", "max_slowdown", "max_failed")


@dataclass(frozen=True, slots=True)
class Soaked:
    """What came of it.

    Attributes:
        interrupted: Whether it was told to stop before its time.
    """

    found: Stability
    interrupted: bool


async def soak_arm(
    arm: Arm,
    plan: SoakPlan,
    config: Config,
    folder: Path,
    on_stage: OnStage,
    stop: asyncio.Event,
    *,
    fresh: bool = False,
) -> Soaked:
    """Keep an endpoint busy for a time, or go on with it, and judge it.

    Args:
        arm: The endpoint.
        plan: How long, and how.
        config: How to ask.
        folder: Where its journal lies.
        on_stage: Told in a sentence how it goes.
        stop: When set, it ends early, and what ran is judged.
        fresh: Whether to begin anew.

    Raises:
        EndpointError: When the endpoint cannot be used from the start.
        StoreError: When the folder holds another soak, or takes no more.
    """
    if arm.raw is None:
        raise UsageError(
            f"{arm.recorded} is a recorded run: there is no endpoint to keep busy.",
            hint="Name the endpoint that it asked.",
        )
    journal = SoakJournal.open(folder, fresh=fresh)
    end = "time"
    try:
        if journal.head is not None:
            _same_soak(journal.head, arm.name, plan, folder)
        if journal.at < plan.seconds:
            end = await _keep_busy(arm, plan, config, folder, journal, on_stage, stop)
    finally:
        journal.close()
    return Soaked(judge(folder, plan), end == "stopped")


def judge(folder: Path, plan: SoakPlan | None = None) -> Stability:
    """Judge a soak from its journal alone.

    Args:
        folder: Where it lies.
        plan: Whose limits count; those of its beginning by default.

    Raises:
        StoreError: When the journal cannot be read.
        UsageError: When there is none.
    """
    head = next(iter(read(folder)), None)
    if head is None:
        raise UsageError(f"The soak in {folder} has not begun.")
    plan = plan or _plan_of(head, folder)
    seen = summed_up(lambda: read(folder))
    trends, bursts, answers = trends_of(seen, plan), bursts_of(seen), answers_of(seen, plan.seed)
    findings = tuple(findings_of(seen, plan, trends, bursts, answers))
    if not measured(seen):
        findings = (*findings, Fact("UNMEASURED", {"n": str(seen.n_requests - seen.n_failed)}))
        state = "unmeasured"
    else:
        state = "unstable" if findings else "stable"
    return Stability(
        schema_version=STABILITY_VERSION,
        evalkit_version=__version__,
        created=str(head.get("created", "")),
        endpoint=head["name"],
        label=head["label"],
        identity=head["identity"],
        settings=asdict(plan),
        state=state,  # type: ignore[arg-type]
        asked=plan.seconds,
        ran=seen.ran,
        n_requests=seen.n_requests,
        n_failed=seen.n_failed,
        failed=failed_share(seen),
        failures=dict(sorted(seen.failures.items())),
        trends=trends,
        bursts=bursts,
        outages=tuple(seen.outages),
        restarts=tuple(seen.restarts),
        answers=answers,
        windows=tuple(seen.windows),
        findings=findings,
        remarks=tuple(remarks_of(seen, plan, trends, str(head["identity"].get("kind")))),
    )


async def _keep_busy(
    arm: Arm,
    plan: SoakPlan,
    config: Config,
    folder: Path,
    journal: SoakJournal,
    on_stage: Callable[[str], None],
    stop: asyncio.Event,
) -> str:
    assert arm.raw is not None
    on_stage(f"opening {arm.name}")
    held = held_now()
    options = replace(
        endpoint_options(config, folder / SERVER_LOG, on_stage),
        max_connections=plan.concurrency + 1,
    )
    endpoint = parse_endpoint(arm.name, arm.raw, options)
    async with opened(endpoint, stop):
        subject = await get_to_know(arm.name, endpoint, plan.output_tokens[1], held)
        mix = await calibrated(
            subject.count,
            plan.seed,
            plan.prompt_tokens,
            plan.output_tokens,
            subject.identity.context_length,
        )
        _begin(journal, subject, plan)
        watch = ServerWatch(endpoint, subject.identity, plan.seconds, lambda: session.now())
        session = Session(endpoint, subject.runner.asking, mix, plan, journal, watch, on_stage)
        left = plan.seconds - journal.at
        on_stage(f"{arm.name}: {plan.concurrency} requests in flight for {left:,.0f} s")
        return await session.run(stop)


def _begin(journal: SoakJournal, subject: Subject, plan: SoakPlan) -> None:
    if journal.head is None:
        journal.add(
            {
                "k": "h",
                "version": VERSION,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "name": subject.name,
                "label": subject.label,
                "identity": asdict(subject.identity),
                "plan": asdict(plan),
            }
        )
        journal.flush()
        return
    found = changes(_identity_of(journal.head["identity"]), subject.identity)
    if found:
        journal.add({"k": "x", "t": journal.at, "s": "identity", "d": "; ".join(found)[:300]})


def _identity_of(raw: Mapping[str, Any]) -> Identity:
    known = {one.name for one in fields(Identity)}
    try:
        return Identity(**{name: value for name, value in raw.items() if name in known})
    except TypeError:
        raise StoreError("The soak's journal does not say what was asked.") from None


def _plan_of(head: Mapping[str, Any], folder: Path) -> SoakPlan:
    known = {one.name for one in fields(SoakPlan)}
    raw: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in head["plan"].items()
        if name in known
    }
    plan = replace(SoakPlan(), **raw)
    numbers = (plan.seconds, plan.max_leak, plan.max_slowdown, plan.max_failed)
    if not all(isinstance(one, (int, float)) and one > 0 for one in numbers):
        raise StoreError(f"The soak in {folder} does not say how it was made.")
    return plan


def _same_soak(head: Mapping[str, Any], name: str, plan: SoakPlan, folder: Path) -> None:
    """Refuse to go on with another endpoint, or another load.

    Raises:
        StoreError: Saying what differs.
    """
    hint = "Choose another -o, or begin anew with --fresh."
    if head["name"] != name:
        raise StoreError(f"{folder} holds a soak of '{head['name']}', not of '{name}'.", hint=hint)
    before = _plan_of(head, folder)
    for one in fields(SoakPlan):
        old, new = getattr(before, one.name), getattr(plan, one.name)
        if one.name not in _FREE and old != new:
            raise StoreError(f"{folder} holds a soak with {one.name} {old}, not {new}.", hint=hint)
