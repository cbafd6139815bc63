"""Keeping an endpoint busy for hours, and telling whether it stays what it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

from evalkit.api.asking import Listener
from evalkit.collect.interrupts import run_with_signals
from evalkit.config import Config
from evalkit.soak.plan import SoakPlan
from evalkit.stages.arms import resolve_arms
from evalkit.stages.soaking import Soaked, soak_arm


def soak(
    target: str,
    config: Config,
    plan: SoakPlan | None = None,
    *,
    output: Path,
    fresh: bool = False,
    listener: Listener | None = None,
) -> Soaked:
    """Keep an endpoint busy and judge memory, latency, failures, restarts and answers.

    Args:
        target: A name, `URL#model` or a GGUF file.
        config: How to ask.
        plan: How long, how, and what counts as wrong.
        output: Where its journal lies; one that ended early is gone on with.
        fresh: Whether to begin anew instead.
        listener: Told what happens.

    Raises:
        EvalKitError: One sentence with what to do.
    """
    listener = listener or Listener()
    (arm,) = resolve_arms([target], config)

    async def work(stop: asyncio.Event) -> Soaked:
        return await soak_arm(
            arm, plan or SoakPlan(), config, output, listener.on_stage, stop, fresh=fresh
        )

    return run_with_signals(work)
