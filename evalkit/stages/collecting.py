"""From an arm to a run folder with all its completions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from evalkit.collect.awaited import Awaited
from evalkit.collect.canary import refuse_change
from evalkit.collect.events import Event, Limits, RunSummary
from evalkit.collect.header import (
    DEATHS,
    add_deaths,
    adopt_header,
    check_header,
    identity_of,
    make_header,
    mark_changed,
)
from evalkit.collect.journal import RunFolder, open_run
from evalkit.collect.preflight import ProbeRecord, probe, read_record
from evalkit.collect.redaction import Redaction, quiet, recorded_redaction
from evalkit.collect.requests import (
    Requests,
    build_repeats,
    build_requests,
    fingerprints_of,
)
from evalkit.collect.runner import collect
from evalkit.config import Config
from evalkit.endpoints.base import Endpoint, Launched, parse_endpoint
from evalkit.errors import IdentityChanged, StoreError
from evalkit.stages.arms import Arm, endpoint_options
from evalkit.stages.live_scoring import LiveScores, hearing
from evalkit.stages.opening import opened
from evalkit.stages.plan import Plan
from evalkit.stages.probing import OnStage, Watch, probe_options
from evalkit.stages.redacting import keeper, scorers_of
from evalkit.types import REPEAT_EPOCH, Completion, Identity, Request

OnEvent = Callable[[str, Event], None]
OnPreflight = Callable[[ProbeRecord], None]


@dataclass(frozen=True, slots=True)
class CollectedRun:
    """One arm's answers, on disk.

    Attributes:
        arm: Its name.
        label: What it is, for readers.
        identity: What it was found to be.
        folder: Where its answers are.
        requests: What it was asked.
        summary: What this call did; `None` for a recorded run.
        redaction: Keys of its hashes; `None` when its texts are kept.
        record: What the preflight saw, if it was recorded.
        omitted: Sampling fields that were not sent.
        changed: How the endpoint became another one in the middle of the run.
        repeats: What it was asked a second time, to measure its noise floor.
        live: Scores that were made meanwhile, and perhaps the answers too.
        log: What is known of the log that it was read from, where another tool recorded it.
    """

    arm: str
    label: str
    identity: Identity
    folder: RunFolder
    requests: Sequence[Request]
    summary: RunSummary | None = None
    redaction: Redaction | None = None
    record: ProbeRecord | None = None
    omitted: tuple[str, ...] = ()
    changed: str | None = None
    repeats: Sequence[Request] = ()
    live: LiveScores | None = None
    log: Mapping[str, Any] | None = None

    def deaths(self) -> list[str]:
        """Return why its server died while it was asked, as far as evalkit had started it."""
        return list((self.folder.read_header() or {}).get(DEATHS, ()))

    def stream(self, *, repeats: bool = False) -> Iterator[Completion]:
        """Yield the completion of each request, where there is one.

        Args:
            repeats: Also those of what was asked a second time (epoch `REPEAT_EPOCH`).

        Raises:
            StoreError: When a recorded run holds answers, and not one to what it says it asked.
        """
        held = None if self.live is None else self.live.completions()
        if held is not None:
            return held if repeats else (c for c in held if c.epoch != REPEAT_EPOCH)
        wanted, n = fingerprints_of(self.requests), len(self.requests)
        if repeats:
            wanted, n = chain(wanted, fingerprints_of(self.repeats)), n + len(self.repeats)
        found = self.folder.completions(Awaited(wanted, n))
        return found if self.summary is not None else self._of_its_own(found)

    def _of_its_own(self, found: Iterator[Completion]) -> Iterator[Completion]:
        first = next(found, None)
        if first is not None:
            yield first
            yield from found
        elif next(self.folder.records(), None) is not None:
            raise StoreError(
                f"{self.folder.path} holds answers, but none to what its header says was asked: "
                "another version of evalkit made it, or its header was changed.",
                hint="Use the version that its header names, or run it anew with --fresh.",
            )

    def completions(self) -> list[Completion]:
        """Return the completion of each request, where there is one."""
        return list(self.stream())


async def collect_arm(
    arm: Arm,
    plan: Plan,
    path: Path,
    config: Config,
    *,
    on_event: OnEvent,
    notify: OnStage,
    stop: asyncio.Event,
    fresh: bool,
    declared: Mapping[str, Any],
    settings: Mapping[str, Any],
    redaction: Redaction | None = None,
    record: ProbeRecord | None = None,
    omitted: Sequence[str] = (),
    inspect: OnPreflight | None = None,
    repeat_share: float = 0.0,
    hold: bool = False,
) -> CollectedRun:
    """Ask one endpoint everything that its folder has no answer to.

    Args:
        arm: With an endpoint.
        plan: What to ask.
        path: The run folder.
        config: How to ask.
        on_event: Told the arm's name and what happens.
        notify: Told in a sentence about what takes long.
        stop: When set, what is in flight is finished and the rest is left.
        fresh: Throw away what the folder holds.
        declared: What is fixed before the first request (the policy); kept in the header.
        settings: Recorded in the header (connections and the like).
        redaction: Keys under which texts are kept as hashes; `None` keeps the texts.
        record: What the preflight saw; without it, it is done here.
        omitted: Sampling fields that are not sent, because some endpoint refuses them.
        inspect: Given what the preflight saw, where it is done here, before anything else is
            asked; it may raise.
        repeat_share: Share of the prompts that is asked a second time.
        hold: Whether to hold all answers in memory, for who needs them there anyway.

    Raises:
        IdentityChanged: When the endpoint becomes another one meanwhile.
        EndpointError: When the endpoint is down or refuses.
        Interrupted: When told to stop before it is open.
        StoreError: When the folder cannot be used.
    """
    if arm.raw is None:
        raise ValueError("a recorded run cannot be collected again")
    folder = RunFolder.create_or_open(path)
    # An engine's log may hold what it was asked.
    log_path = folder.log_path if redaction is None else None
    endpoint = parse_endpoint(arm.name, arm.raw, endpoint_options(config, log_path, notify))
    keeping = nullcontext() if redaction is None else keeper(plan, redaction)
    with folder, keeping as keep:
        if fresh:
            folder.discard()
        finished = _finished(endpoint, folder, plan, redaction, repeat_share)
        if finished is not None:
            notify(f"{arm.name} has answered everything; it is not started")
            if finished.record is not None and inspect is not None:
                inspect(finished.record)
            return finished
        async with opened(endpoint, stop):
            identity = await endpoint.identity()
            sampling = {t.name: plan.sampling_for(t) for t in plan.tasksets}
            facts = {
                "plan": plan.record(),
                "declared": dict(declared),
                "settings": dict(settings),
                **_redaction_record(plan, redaction),
            }
            # What a folder cannot take is said before anything is asked.
            check_header(folder, make_header(endpoint, identity, sampling, **facts))
            if record is not None:
                refuse_change(arm.name, record.identity, identity)
            else:
                record = await probe(endpoint, probe_options(config, plan, arm))
                if inspect is not None:
                    inspect(record)
            kept = record if redaction is None else record.without_texts()
            identity = replace(identity, canary_hash=record.identity.canary_hash)
            omitted = tuple(sorted({*omitted, *record.refused}))
            share = max(repeat_share, recorded_share(folder.read_header() or {}))
            facts |= {
                "omitted": list(omitted),
                "preflight": kept.plain(),
                "repeat_share": share,
            }
            header = make_header(endpoint, identity, sampling, **facts)
            adopt_header(folder, header)
            requests = _requests(plan, identity, redaction)
            repeats = _repeats(plan, identity, repeat_share, redaction)
            asked = endpoint if redaction is None else quiet(endpoint)
            watch = Watch(asked, identity, record, config)
            live = (
                LiveScores(plan.tasksets, plan.samples(), hold=hold) if redaction is None else None
            )
            try:
                summary = await collect(
                    watch.endpoint,
                    requests.spread(repeats),
                    folder,
                    limits=_limits(config),
                    on_event=hearing(partial(on_event, arm.name), live),
                    stop=stop,
                    keep=keep,
                )
                await watch.look(stop)
            except IdentityChanged as error:
                mark_changed(folder, error.message)
                raise
            finally:
                if isinstance(endpoint, Launched):
                    add_deaths(folder, endpoint.deaths)
    return CollectedRun(
        arm.name,
        endpoint.label,
        identity,
        folder,
        requests,
        summary,
        redaction,
        record=kept,
        omitted=omitted,
        repeats=repeats,
        live=live,
    )


def load_run(arm: Arm, plan: Plan) -> CollectedRun:
    """Open a recorded run.

    Raises:
        StoreError: When the folder is none, or incomplete.
    """
    if arm.recorded is None:
        raise ValueError("this arm is not recorded")
    folder = open_run(arm.recorded)
    header = folder.read_header() or {}
    identity = identity_of(header)
    redaction = recorded_redaction(header, plan.tasksets, str(arm.recorded))
    requests = _requests(plan, identity, redaction)
    label = str(header.get("endpoint", {}).get("label", arm.name))
    return CollectedRun(
        arm.name,
        label,
        identity,
        folder,
        requests,
        redaction=redaction,
        repeats=_repeats(plan, identity, recorded_share(header), redaction),
        **_recorded(header, identity),
    )


def recorded_share(header: Mapping[str, Any]) -> float:
    """Return the share of prompts of which a run may hold a second answer."""
    share = header.get("repeat_share", 0.0)
    return float(share) if isinstance(share, int | float) and 0 <= share <= 1 else 0.0


def _requests(plan: Plan, identity: Identity, redaction: Redaction | None) -> Requests:
    return build_requests(
        plan.tasksets, identity, plan.sampling_for, plan.epochs, plan.seed, redaction
    )


def _repeats(plan: Plan, identity: Identity, share: float, redaction: Redaction | None) -> Requests:
    return build_repeats(
        plan.tasksets, identity, plan.sampling_for, plan.epochs, plan.seed, share, redaction
    )


def _redaction_record(plan: Plan, redaction: Redaction | None) -> dict[str, Any]:
    if redaction is None:
        return {}
    return {"redaction": {**redaction.record(), "scorers": scorers_of(plan)}}


def unanswered(run: CollectedRun, completions: Iterable[Completion]) -> int:
    """Count requests that came to no end at all: an interrupted run has some."""
    done = {completion.fingerprint for completion in completions}
    return sum(fingerprint not in done for fingerprint in fingerprints_of(run.requests))


def _finished(
    endpoint: Endpoint,
    folder: RunFolder,
    plan: Plan,
    redaction: Redaction | None,
    repeat_share: float,
) -> CollectedRun | None:
    """Return a run that is whole, where starting the same command again would add nothing."""
    header = folder.read_header()
    if header is None or header.get("changed") or not isinstance(endpoint, Launched):
        return None
    identity = identity_of(header)
    # What does not fit is refused with its reason, as for every other endpoint.
    if identity.command_hash != endpoint.command_hash() or header.get(
        "redaction"
    ) != _redaction_record(plan, redaction).get("redaction"):
        return None
    requests = _requests(plan, identity, redaction)
    repeats = _repeats(plan, identity, repeat_share, redaction)
    answered = folder.answered()
    if not answered.issuperset(requests.spread(repeats).fingerprints()):
        return None
    return CollectedRun(
        endpoint.name,
        endpoint.label,
        identity,
        folder,
        requests,
        redaction=redaction,
        repeats=repeats,
        **_recorded(header, identity),
    )


def _recorded(header: Mapping[str, Any], identity: Identity) -> dict[str, Any]:
    """Return what a header keeps of the preflight and of the watch."""
    return {
        "record": read_record(header.get("preflight"), identity),
        "omitted": tuple(header.get("omitted", ())),
        "changed": header.get("changed"),
        "log": log if isinstance(log := header.get("recorded"), Mapping) else None,
    }


def _limits(config: Config) -> Limits:
    return Limits(
        max_connections=config.connections,
        max_attempts=config.requests.max_attempts,
        backoff_base=config.requests.backoff_base,
        backoff_cap=config.requests.backoff_cap,
    )
