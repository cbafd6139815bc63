"""How many prompts a decision would need (STATISTICS.md, rule 2, step 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy.special import ndtri

from evalkit.policy import Policy
from evalkit.results import PromptsNeeded
from evalkit.stats.engine import PairedSummary
from evalkit.stats.power import n_floor, n_noninferiority

# Sizes beyond this are no plan, they are a sign to revisit the margin.
_CAP = 10**9


def prompts_needed(
    parts: Sequence[PairedSummary], *, margin: float, policy: Policy
) -> PromptsNeeded:
    """Return the sizes that one metric needs.

    Families keep their shares of the whole. Pooling with equal weights costs prompts when
    the shares are unequal, and clusters cost prompts when their members agree; both are
    in the sizes.

    Args:
        parts: The summary of each pooled family, or of one family alone.
        margin: As a fraction.
        policy: Level and power.
    """
    n = sum(part.n for part in parts)
    gains = sum(part.gains for part in parts)
    losses = sum(part.losses for part in parts)
    inflation = _design_effect(parts) * _allocation_effect(parts)
    flips = min((gains + losses + 1) / (n + 2), 1.0)
    floor = _floor(parts, margin, policy.alpha)
    equal = _size(flips / 2, flips / 2, margin, policy, inflation)
    equal = None if equal is None else max(equal, floor)
    observed = _size(gains / n, losses / n, margin, policy, inflation)
    more = max(0, (equal or floor) - n)
    return PromptsNeeded(
        equal_models=equal,
        observed=observed,
        floor=floor,
        more=more,
        near_margin=observed is None or observed > 10 * n,
    )


def _size(
    gained: float, lost: float, margin: float, policy: Policy, inflation: float
) -> int | None:
    gap = gained - lost + margin
    if abs(gap) < 1e-12:
        return None
    size = n_noninferiority(gained, lost, margin=margin, alpha=policy.alpha, power=policy.power)
    if not math.isfinite(size) or size * inflation > _CAP:
        return None
    return math.ceil(size * inflation)


def _design_effect(parts: Sequence[PairedSummary]) -> float:
    n = sum(part.n for part in parts)
    return max(1.0, sum(part.n / part.r for part in parts) / n)


def _allocation_effect(parts: Sequence[PairedSummary]) -> float:
    n = sum(part.n for part in parts)
    weight = 1 / len(parts)
    return sum(weight**2 * n / part.n for part in parts)


def _floor(parts: Sequence[PairedSummary], margin: float, alpha: float) -> int:
    """Return the n below which zero flips prove nothing, at the present shares."""
    if len(parts) == 1:
        return n_floor(margin, alpha)
    n = sum(part.n for part in parts)
    z2 = float(ndtri(1 - alpha)) ** 2
    weight = 1 / len(parts)

    def lower(total: float) -> float:
        limits = (z2 / (total * part.n / n + z2) for part in parts)
        return math.sqrt(sum((weight * limit) ** 2 for limit in limits))

    low, high = 0.0, 1.0
    while lower(high) >= margin:
        low, high = high, 2 * high
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (middle, high) if lower(middle) >= margin else (low, middle)
    return math.ceil(high)
