"""What a prompt set can prove, before anything is spent.

Every metric that the gate will test is one `Question`. The outlook assumes that the arms
are truly equal and that a known share of pairs flips. For one family the sizes are those of
`stats.power`; for pooled families the same formula is applied to the pooled score that the
gate computes (MOVER, equal weights), so that unequal families and few flips are paid for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evalkit.decision.metrics import MIN_CLUSTERS
from evalkit.decision.needed import prompts_needed
from evalkit.decision.questions import Part, Question
from evalkit.policy import Policy
from evalkit.stats.distributions import normal_cdf, normal_quantile
from evalkit.stats.engine import PairedSummary
from evalkit.stats.paired import tango_z
from evalkit.stats.pooling import mover_z
from evalkit.stats.roots import find_root
from evalkit.stats.two_stage import stage_one_boundary, stage_two_boundary

# Sizes beyond this are no plan, they are a sign to revisit the margin.
_CAP = 10**9
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
    still = [_expected(Part(part.n, 0.0), 1.0) for part in question.parts]
    proof = prompts_needed(still, margin=question.margin, policy=policy).floor
    floor = max(proof, MIN_CLUSTERS)
    wanted = _size(question, lambda scale: power_at(question, scale, policy.alpha) - policy.power)
    return Outlook(
        question=question,
        floor=floor,
        needed=None if wanted is None else max(wanted, floor),
        smallest_margin=_smallest_margin(question, policy),
        power=power_at(question, 1.0, policy.alpha),
    )


def power_at(question: Question, scale: float, alpha: float) -> float:
    """Chance to show non-inferiority when every part is `scale` times as large.

    The normal approximation of Nam 1997, on the pooled score.
    """
    mean, spread = _score_law(question, scale)
    critical = -normal_quantile(alpha)
    if spread == 0:
        return float(mean >= critical)
    return normal_cdf((mean - critical) / spread)


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

    def excess(scale: float) -> float:
        return _two_stage_power(*_score_law(question, scale), first, second) - policy.power

    size = _size(question, excess)
    stops = None
    if size is not None:
        mean, spread = _score_law(question, size / question.n)
        stops = float(mean >= first) if spread == 0 else normal_cdf((mean - first) / spread)
    return TwoStage(first, second, alpha_1, size, stops)


def _first_stage(alpha: float) -> tuple[float, float]:
    # A tenth of the level, as in the plan whose error rates are simulated (0.005 of 0.05).
    return stage_one_boundary(alpha / 10), alpha / 10


def _two_stage_power(mean: float, spread: float, first: float, second: float) -> float:
    if spread == 0:
        return float(mean >= first or math.sqrt(2) * mean >= second)
    low, high = mean - _FAR * spread, min(first, mean + _FAR * spread)
    early = 1 - normal_cdf((first - mean) / spread)
    if low >= high:
        return early
    half = (high - low) / 2
    later = 0.0
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        z1 = low + half * (float(node) + 1)
        density = math.exp(-(((z1 - mean) / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
        reached = normal_cdf((mean - (second * math.sqrt(2) - z1)) / spread)
        later += float(weight) * half * density * reached
    return min(1.0, early + later)


def _score_law(question: Question, scale: float) -> tuple[float, float]:
    """Mean and standard deviation of the gate's z when the arms are equal.

    The mean is the z of the expected counts. Its inverse is the standard error that the
    test assumes at the margin; the true one is that of the flips.
    """
    parts = [_expected(part, scale) for part in question.parts]
    margin = question.margin
    one = len(parts) == 1
    mean = tango_z(*parts[0].counts, -margin) if one else mover_z(parts, None, -margin)
    weight = 1 / len(parts)
    variance = math.fsum(weight**2 * part.flip_rate / (part.n * scale) for part in question.parts)
    return mean, mean * math.sqrt(variance) / margin


def _expected(part: Part, scale: float) -> PairedSummary:
    """Return the counts that equal arms are expected to give, `scale` times as many."""
    half = part.n * part.flip_rate / 2
    return PairedSummary(half, half, part.n, part.n, scale, False, round(2 * half))


def _size(question: Question, excess: Callable[[float], float]) -> int | None:
    """Return the pairs at which a growing function of the scale turns positive."""
    n = question.n
    low, high = math.log(1 / n), math.log(_CAP / n)
    if excess(math.exp(high)) < 0:
        return None
    root = find_root(lambda log_scale: excess(math.exp(log_scale)), low, high)
    # A size that is whole but for rounding must not be rounded up to the next.
    return math.ceil(n * math.exp(root) - 1e-6)


def _smallest_margin(question: Question, policy: Policy) -> float:
    def excess(margin: float) -> float:
        return power_at(replace(question, margin=margin), 1.0, policy.alpha) - policy.power

    # A pooled limit cannot lie lower than all families' limits together.
    highest = (1 - 1e-6) / math.sqrt(len(question.parts))
    return find_root(excess, 1e-6, highest) if excess(highest) >= 0 else 1.0
