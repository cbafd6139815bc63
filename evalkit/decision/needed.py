"""How many prompts a decision would need (STATISTICS.md, rule 2, step 3)."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.decision.sizes import Stratum, equal_arms, floor_of, size_for, smoothed_flips
from evalkit.policy import Policy
from evalkit.results import PromptsNeeded
from evalkit.stats.engine import PairedSummary

# Beyond this factor on the present size more data will not settle it.
_TOO_MANY = 10


def prompts_needed(
    parts: Sequence[PairedSummary], *, margin: float, policy: Policy
) -> PromptsNeeded:
    """Return the sizes that one metric needs, as `evalkit plan` does from the same flips.

    Families keep their shares of the whole. Pooling with equal weights costs prompts when
    the families are unequal or small, and clusters cost prompts when their members agree;
    both are in the sizes.

    Args:
        parts: The summary of each pooled family, or of one family alone.
        margin: As a fraction.
        policy: Level and power.
    """
    n = sum(part.n for part in parts)
    floor = floor_of([_without_flips(part) for part in parts], margin=margin, alpha=policy.alpha)
    equal = _size([_equal(part, n) for part in parts], margin, policy)
    equal = None if equal is None else max(equal, floor)
    observed = _size([_seen(part) for part in parts], margin, policy)
    return PromptsNeeded(
        equal_models=equal,
        observed=observed,
        floor=floor,
        more=max(0, (equal or floor) - n),
        near_margin=observed is None or observed > _TOO_MANY * n,
    )


def _size(strata: Sequence[Stratum], margin: float, policy: Policy) -> int | None:
    return size_for(strata, margin=margin, alpha=policy.alpha, power=policy.power)


def _without_flips(part: PairedSummary) -> Stratum:
    # Members of a cluster that all agree are worth one pair together.
    return equal_arms(part.n, 0.0, part.n_clusters / part.n)


def _equal(part: PairedSummary, n: int) -> Stratum:
    flips = smoothed_flips(part.gains + part.losses, part.n, part.n / n)
    return equal_arms(part.n, flips, _effective(part))


def _seen(part: PairedSummary) -> Stratum:
    return Stratum(part.n, part.gains / part.n, part.losses / part.n, _effective(part))


def _effective(part: PairedSummary) -> float:
    # What graded scores gain in precision is not counted on.
    return min(1.0, part.r)
