"""What a prompt set can prove, before anything is spent.

Every metric that the gate will test is one `Question`. The outlook assumes that the arms
are truly equal and that a known share of pairs flips; the sizes are those of `sizes`, which
the report prints too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from evalkit.decision.metrics import MIN_CLUSTERS
from evalkit.decision.questions import Question
from evalkit.decision.sizes import (
    ScoreLaw,
    Stratum,
    chance,
    equal_arms,
    floor_of,
    score_law,
    size_for,
    size_where,
)
from evalkit.policy import Policy
from evalkit.stats.roots import find_root
from evalkit.stats.two_stage import stage_one_boundary, stage_two_boundary

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_FAR = 8.0


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the planned pairs can show of one question. Fractions.

    Attributes:
        floor: Pairs below which even zero flips prove nothing, at the present shares. Below
            it only a surplus of gains passes.
        needed: Pairs for the wanted power; `None` when no sensible number is enough.
        smallest_margin: Provable with the wanted power; 1 when there is none.
        power: Chance that the planned pairs show it.
    """

    question: Question
    floor: int
    needed: int | None
    smallest_margin: float
    power: float

    @property
    def provable(self) -> bool:
        """Whether the planned pairs show it when no answer flips."""
        return self.question.n >= self.floor


@dataclass(frozen=True, slots=True)
class TwoStage:
    """A plan with a second look at new prompts (STATISTICS.md, 1.9).

    Attributes:
        boundary_1: The z that stage 1 needs.
        boundary_2: The (z1 + z2) / sqrt(2) that both stages together need.
        per_stage: Pairs of each of two equal stages for the wanted power; `None` when no
            sensible number is enough.
        stops_early: Chance that stage 1 suffices.
    """

    boundary_1: float
    boundary_2: float
    alpha_1: float
    per_stage: int | None
    stops_early: float | None


def outlook(question: Question, policy: Policy) -> Outlook:
    """Work out what the planned pairs can show, if the arms are truly equal.

    >>> one = Question("accuracy", "math", 0.02, True, (Part(982, 0.06),))
    >>> look = outlook(one, Policy())
    >>> look.needed, look.floor, round(look.power, 2)
    (982, 133, 0.8)
    """
    margin, alpha = question.margin, policy.alpha
    still = _strata(question.with_flip_rate(0.0))
    floor = max(floor_of(still, margin=margin, alpha=alpha), MIN_CLUSTERS)
    wanted = size_for(_strata(question), margin=margin, alpha=alpha, power=policy.power)
    return Outlook(
        question=question,
        floor=floor,
        needed=None if wanted is None else max(wanted, floor),
        smallest_margin=_smallest_margin(question, policy),
        power=power_at(question, 1.0, policy.alpha),
    )


def power_at(question: Question, scale: float, alpha: float) -> float:
    """Chance to show non-inferiority when every part is `scale` times as large."""
    return chance(_strata(question), margin=question.margin, alpha=alpha, scale=scale)


def power_curve(
    question: Question, sizes: Sequence[int], factors: Sequence[float], alpha: float
) -> tuple[tuple[float, ...], ...]:
    """Chance to show it: a row for each number of pairs, a column for each factor on flips."""
    columns = [question.with_flips(factor) for factor in factors]
    return tuple(
        tuple(power_at(column, size / question.n, alpha) for column in columns) for size in sizes
    )


def two_stage(question: Question, policy: Policy) -> TwoStage:
    """Plan two equal stages for the wanted power."""
    first, alpha_1 = _first_stage(policy.alpha)
    second = stage_two_boundary(policy.alpha, alpha_1)

    def law(scale: float) -> ScoreLaw:
        return score_law(_strata(question), margin=question.margin, scale=scale)

    def excess(scale: float) -> float:
        return _two_stage_power(law(scale), first, second) - policy.power

    size = size_where(excess, question.n)
    stops = None if size is None else _passes(law(size / question.n), first)
    return TwoStage(first, second, alpha_1, size, stops)


def _first_stage(alpha: float) -> tuple[float, float]:
    # A tenth of the level, as in the plan whose error rates are simulated (0.005 of 0.05).
    return stage_one_boundary(alpha / 10), alpha / 10


def _two_stage_power(law: ScoreLaw, first: float, second: float) -> float:
    early = _passes(law, first)
    low, high = -_FAR, min(_FAR, float(law.deviate(first)))
    if not low < high:
        return early
    half = (high - low) / 2
    u = low + half * (_NODES + 1)
    density = np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)
    # What the first stage leaves for the second to reach.
    reached = ndtr(-law.deviate(second * math.sqrt(2) - law.at(u)))
    return min(1.0, early + half * float(_WEIGHTS @ (density * reached)))


def _passes(law: ScoreLaw, boundary: float) -> float:
    return float(ndtr(-law.deviate(boundary)))


def _strata(question: Question) -> list[Stratum]:
    return [equal_arms(part.n, part.flip_rate) for part in question.parts]


def _smallest_margin(question: Question, policy: Policy) -> float:
    def excess(margin: float) -> float:
        return power_at(replace(question, margin=margin), 1.0, policy.alpha) - policy.power

    # A pooled limit cannot lie lower than all families' limits together.
    highest = (1 - 1e-6) / math.sqrt(len(question.parts))
    return find_root(excess, 1e-6, highest) if excess(highest) >= 0 else 1.0
