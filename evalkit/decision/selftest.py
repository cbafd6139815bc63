"""How often the gate catches known damage, and how often it cries wolf without any.

A recorded run stands for both arms. In each repeat a prompt set like its own is drawn, the
two arms are made to differ as equal endpoints do, and each damage in turn is done to the
candidate. Then the whole decision rule runs: pairing, metrics, Holm, validity, verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evalkit.decision.comparison import Decision, decide_pairs
from evalkit.decision.damage import Damage, DamageKind, flipped, inflict
from evalkit.decision.pairing import Answer, Key, pair
from evalkit.decision.redraw import Drawn, make_pool
from evalkit.estimates import Estimate
from evalkit.policy import Policy
from evalkit.results import POOLED, MetricName, VerdictState
from evalkit.stats.rates import wilson
from evalkit.types import Sample, Taskset


@dataclass(frozen=True, slots=True)
class Setting:
    """What is simulated.

    Attributes:
        flips: Share of pairs of equal endpoints that differ in being right, by family.
        repeats: Of each damage.
        prompts: In all; `None` for as many as were recorded.
    """

    flips: Mapping[str, float]
    repeats: int
    prompts: int | None = None


@dataclass(frozen=True, slots=True)
class DamageResult:
    """What the gate said of one damage. Fractions.

    Attributes:
        states: Share of runs with each verdict; 95% intervals (Wilson) of the simulation.
        codes: Runs in which each reason code stood, by verdict.
        accuracy_lost: Mean loss of accuracy that was injected, in the damaged family, else
            pooled as the gate pools it; `None` where nothing could be measured.
        hallucination_gained: The same for hallucination.
        degenerate_gained: The same for degenerate output, over all answers.
    """

    damage: Damage
    states: Mapping[VerdictState, Estimate]
    codes: Mapping[VerdictState, Mapping[str, int]]
    accuracy_lost: float | None
    hallucination_gained: float | None
    degenerate_gained: float | None


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The operating characteristics of one gate on one kind of prompt set.

    Attributes:
        prompts: Of each simulated run; the mean, where units differ in size.
        independent: Units among them.
        results: The undamaged run first.
    """

    setting: Setting
    prompts: int
    independent: int
    results: tuple[DamageResult, ...]


@dataclass(slots=True)
class _Tally:
    states: Counter[VerdictState] = field(default_factory=Counter)
    codes: dict[VerdictState, Counter[str]] = field(default_factory=dict)
    changes: dict[MetricName, list[float]] = field(default_factory=dict)


def selftest(
    answers: Mapping[Key, Answer],
    tasksets: Sequence[Taskset],
    policy: Policy,
    damages: Sequence[Damage],
    setting: Setting,
    *,
    rng: np.random.Generator,
    on_repeat: Callable[[], None] = lambda: None,
) -> SelfTest:
    """Put the gate to the test.

    All damages of a repeat share prompts, flips and luck, so that rows differ by their
    damage alone. A damage's result does not depend on which others are asked for.

    Args:
        answers: Of the recorded run: at least one.
        tasksets: What it was asked.
        policy: The gate.
        damages: `none` is added in front.
        setting: Flips, repeats, size.
        rng: Where chance comes from.
        on_repeat: Called after each repeat.
    """
    samples = {(s.taskset, s.id): s for taskset in tasksets for s in taskset.samples}
    pool = make_pool(answers, samples)
    asked = [taskset for taskset in tasksets if taskset.name in pool.units]
    hallucinating = frozenset(t.name for t in asked if t.measures_hallucination)
    sizes = pool.sizes(setting.prompts)
    none = Damage(DamageKind.NONE)
    tallies = {damage: _Tally() for damage in (none, *damages)}
    for chance in rng.spawn(setting.repeats):
        drawn = pool.draw(sizes, chance)
        baseline, candidate = _equal_arms(drawn, setting.flips, hallucinating, chance)
        marks = _marks(drawn, chance)
        clean = None
        for damage, tally in tallies.items():
            harmed = inflict(
                damage, candidate, drawn.samples, marks, hallucination_tasksets=hallucinating
            )
            decision = decide_pairs(pair(baseline, harmed, drawn.samples), asked, policy)
            clean = clean or decision
            _count(tally, damage, decision, clean)
        on_repeat()
    return SelfTest(
        setting=setting,
        prompts=pool.expected_prompts(sizes),
        independent=sum(sizes.values()),
        results=tuple(_result(damage, tally) for damage, tally in tallies.items()),
    )


def _marks(drawn: Drawn, rng: np.random.Generator) -> dict[Key, float]:
    return dict(zip(drawn.answers, rng.random(len(drawn.answers)).tolist(), strict=True))


def _equal_arms(
    drawn: Drawn,
    flips: Mapping[str, float],
    hallucinating: frozenset[str],
    rng: np.random.Generator,
) -> tuple[dict[Key, Answer], dict[Key, Answer]]:
    """Flip a share of the pairs, in either arm with equal chance: neither is the better one."""
    baseline, candidate = dict(drawn.answers), dict(drawn.answers)
    for key, mark in _marks(drawn, rng).items():
        sample: Sample = drawn.samples[key[:2]]
        rate = flips[sample.family.value]
        if mark < rate:
            arm = baseline if mark < rate / 2 else candidate
            arm[key] = flipped(arm[key], hallucination=key[0] in hallucinating)
    return baseline, candidate


def _count(tally: _Tally, damage: Damage, decision: Decision, clean: Decision) -> None:
    verdict = decision.verdict
    tally.states[verdict.state] += 1
    tally.codes.setdefault(verdict.state, Counter()).update({c.code for c in verdict.codes})
    scope = POOLED if damage.family is None else damage.family.value
    for before, after in zip(clean.metrics, decision.metrics, strict=True):
        # Degenerate output is one rate over all answers and has no scope but the pooled one.
        if before.scope != (POOLED if before.metric == "degenerate" else scope):
            continue
        if before.difference.value is not None and after.difference.value is not None:
            change = after.difference.value - before.difference.value
            tally.changes.setdefault(before.metric, []).append(change)


def _result(damage: Damage, tally: _Tally) -> DamageResult:
    runs = tally.states.total()
    lost = _mean(tally, "accuracy")
    return DamageResult(
        damage=damage,
        states={state: wilson(tally.states[state], runs) for state in VerdictState},
        codes={state: dict(sorted(found.items())) for state, found in tally.codes.items()},
        accuracy_lost=None if lost is None else 0.0 - lost,
        hallucination_gained=_mean(tally, "hallucination"),
        degenerate_gained=_mean(tally, "degenerate"),
    )


def _mean(tally: _Tally, metric: MetricName) -> float | None:
    changes = tally.changes.get(metric)
    return None if not changes else float(np.mean(changes))
