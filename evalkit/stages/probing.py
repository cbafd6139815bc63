"""What the preflight must know of a run, and the watch while it goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from evalkit.collect.canary import WatchedEndpoint
from evalkit.collect.preflight import ProbeOptions, ProbeRecord, probe
from evalkit.config import Config
from evalkit.endpoints.base import Answers, Endpoint, parse_endpoint
from evalkit.stages.arms import Arm, endpoint_options
from evalkit.stages.cost import estimated_tokens
from evalkit.stages.opening import opened
from evalkit.stages.plan import Plan
from evalkit.types import Identity

OnStage = Callable[[str], None]


def probe_options(
    config: Config, plan: Plan | None, arm: Arm, *, context: int | None = None
) -> ProbeOptions:
    """Return what the preflight must know of the run; without a plan: of its settings.

    Args:
        config: How to ask.
        plan: What will be asked.
        arm: Who.
        context: Tokens up to which long prompts are tried, without a plan.
    """
    streams = bool((arm.raw or {}).get("stream"))
    if plan is None:
        return ProbeOptions(config.sampling.temperature, context, streams=streams)
    longest = max((plan.sampling_for(t).max_tokens for t in plan.tasksets), default=None)
    prompts = [
        sum(estimated_tokens(message.content) for message in sample.messages)
        for taskset in plan.tasksets
        for sample in taskset.samples
    ]
    return ProbeOptions(
        temperature=plan.sampling.temperature,
        context=round(max(prompts, default=0.0)) + (longest or 0),
        longest=longest,
        streams=streams,
    )


async def check_arm(
    arm: Arm,
    config: Config,
    notify: OnStage,
    stop: asyncio.Event,
    plan: Plan | None = None,
    *,
    context: int | None = None,
) -> ProbeRecord:
    """Reach one endpoint, find out what it is, and try what a run rests on.

    Args:
        arm: With an endpoint.
        config: How to ask.
        notify: Told in a sentence about what takes long.
        stop: When set before it is open, it is given up.
        plan: What the run will ask.
        context: Tokens up to which long prompts are tried, without a plan.

    Raises:
        EndpointError: When it cannot be used; one sentence.
        Interrupted: When told to stop.
    """
    if arm.raw is None:
        raise ValueError("a recorded run has no endpoint to check")
    endpoint = parse_endpoint(arm.name, arm.raw, endpoint_options(config, None, notify))
    async with opened(endpoint, stop):
        return await probe(endpoint, probe_options(config, plan, arm, context=context))


class Watch:
    """An endpoint while a run goes on: what is asked, and the last look at its end.

    An engine of evalkit's own cannot become another one, and is not looked at.
    """

    def __init__(
        self, endpoint: Endpoint, identity: Identity, record: ProbeRecord, config: Config
    ) -> None:
        self.endpoint: Answers = endpoint
        self._watched: WatchedEndpoint | None = None
        if identity.kind != "local":
            every = config.requests.canary_every
            self._watched = WatchedEndpoint(endpoint, identity, record.canaries, every)
            self.endpoint = self._watched

    async def look(self, stop: asyncio.Event) -> None:
        """Look whether it is still the same, unless told to stop or nothing was asked.

        Raises:
            IdentityChanged: When it is another one.
        """
        if self._watched is not None and self._watched.sent and not stop.is_set():
            await self._watched.look()
