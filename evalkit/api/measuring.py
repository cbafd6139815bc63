"""Measuring how fast endpoints are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evalkit.api.asking import Listener
from evalkit.api.settings import targets_of
from evalkit.collect.interrupts import run_with_signals
from evalkit.config import Config
from evalkit.performance import Performance
from evalkit.probe.plan import ProbePlan
from evalkit.stages.arms import resolve_arms
from evalkit.stages.measuring import measure_arms


def probe(
    targets: Sequence[str],
    config: Config,
    plan: ProbePlan | None = None,
    *,
    listener: Listener | None = None,
) -> Performance:
    """Measure latency, throughput and memory of endpoints, side by side.

    Args:
        targets: Endpoints, the baseline first.
        config: How to ask.
        plan: What is measured.
        listener: Told what happens.

    Raises:
        EvalKitError: One sentence with what to do.
    """
    listener = listener or Listener()
    arms = resolve_arms(targets_of(targets, config), config)

    async def ask(stop: asyncio.Event) -> Performance:
        return await measure_arms(arms, plan or ProbePlan(), config, listener.on_stage, stop)

    return run_with_signals(ask)
