"""Repeats of a prompt: what is asked of them, and when they prove nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from evalkit.decision.pairing import Pair
from evalkit.errors import UsageError
from evalkit.results import Threat
from evalkit.stages.plan import Plan
from evalkit.stages.probing import OnStage


def check_tries(wanted: Collection[int], answers: int) -> None:
    """Refuse a pass@k of more tries than there are answers to a prompt.

    Raises:
        UsageError: Names the k.
    """
    too_many = [k for k in wanted if k > answers]
    if too_many:
        k = max(too_many)
        raise UsageError(
            f"pass@{k} needs {k} answers to a prompt, and there "
            f"{'is' if answers == 1 else 'are'} {answers}.",
            hint=f"Ask with --epochs {k} or more, at a temperature above 0.",
        )


def check_repeats(plan: Plan, wanted: Collection[int], on_stage: OnStage) -> None:
    """Refuse what the epochs of a plan cannot give, and say when they will prove nothing.

    Raises:
        UsageError: For a pass@k of more tries than epochs.
    """
    check_tries(wanted, plan.epochs)
    warning = greedy_warning(plan.epochs, plan.sampling.temperature)
    if warning is not None:
        on_stage(warning)


def greedy_warning(epochs: int, temperature: float) -> str | None:
    """Say before anything is asked that repeats will prove nothing; `None` when they may."""
    if epochs < 2 or temperature > 0:
        return None
    return (
        f"{epochs} epochs at temperature 0: repeats are most likely identical and prove "
        "nothing that one did not; set sampling.temperature above 0, or ask more prompts instead"
    )


def greedy_repeats(plan: Plan, pairs: Sequence[Pair]) -> list[Threat]:
    """Warn of repeats at temperature 0, with how many prompts had one answer every time."""
    if greedy_warning(plan.epochs, plan.sampling.temperature) is None:
        return []
    texts: defaultdict[tuple[str, str], set[tuple[str | None, str | None]]] = defaultdict(set)
    for pair in pairs:
        if pair.complete:
            said = pair.baseline.said, pair.candidate.said
            texts[pair.sample.taskset, pair.sample.id].add(said)
    identical = sum(len(said) == 1 for said in texts.values())
    values = {"epochs": plan.epochs, "identical": identical, "n": len(texts)}
    return [Threat("GREEDY_EPOCHS", "warn", values)]
