"""A planned second look: more prompts after an inconclusive first stage.

Stage 1 passes only on strong evidence (alpha1); otherwise new prompts are drawn, as many
as the first stage suggests, and the two stages are combined with fixed equal weights. The
statistics are standard normal at the border of the hypothesis, as `tango_z` and `mover_z`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from evalkit.stats.distributions import normal_quantile
from evalkit.stats.roots import find_root

ALPHA_STAGE_1 = 0.005
# Stage 1 may use a tenth of the level, whatever the level is.
STAGE_1_SHARE = 0.1
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)
_FAR = 12.0


def stage_one_boundary(alpha1: float = ALPHA_STAGE_1) -> float:
    """The z that stage 1 needs.

    >>> round(stage_one_boundary(), 4)
    2.5758
    """
    return -normal_quantile(alpha1)


@lru_cache(maxsize=64)
def stage_two_boundary(alpha: float = 0.05, alpha1: float = ALPHA_STAGE_1) -> float:
    """The combined z that stage 2 needs, so that the chance of a false pass is alpha.

    Args:
        alpha: One-sided, of both stages together.
        alpha1: One-sided, of stage 1; less than alpha.

    Raises:
        ValueError: Unless 0 < alpha1 < alpha < 1.

    Source: Bauer & Koehne 1994; Cui, Hung & Wang 1999.

    >>> round(stage_two_boundary(), 6)
    1.659655
    """
    if not 0 < alpha1 < alpha < 1:
        raise ValueError(f"needs 0 < alpha1 < alpha < 1, got {alpha1} and {alpha}")

    def excess(boundary: float) -> float:
        return _chance_to_pass(alpha1, boundary) - alpha

    return find_root(excess, -_FAR, _FAR)


def _chance_to_pass(alpha1: float, boundary: float) -> float:
    """Chance to pass at the border of the hypothesis: at stage 1, or both stages together."""
    half = (stage_one_boundary(alpha1) + _FAR) / 2
    z1 = (_NODES + 1) * half - _FAR
    density = np.exp(-(z1**2) / 2) / math.sqrt(2 * math.pi) * _WEIGHTS * half
    second = ndtr(z1 - boundary * math.sqrt(2))
    return alpha1 + float(density @ second)


def combine(z1: float, z2: float) -> float:
    """Combined statistic; z2 is of the new prompts alone.

    >>> round(combine(1.2, 1.5), 4)
    1.9092
    """
    return (z1 + z2) / math.sqrt(2)


def two_stage_passes(
    z1: float, z2: float | None = None, *, alpha: float = 0.05, alpha1: float = ALPHA_STAGE_1
) -> bool:
    """Whether the plan passes: after stage 1 (no z2), or after stage 2.

    >>> two_stage_passes(2.0), two_stage_passes(2.0, 1.0)
    (False, True)
    """
    if z1 >= stage_one_boundary(alpha1):
        return True
    return z2 is not None and combine(z1, z2) >= stage_two_boundary(alpha, alpha1)


def two_stage_pvalue(z1: float, z2: float | None = None) -> float:
    """The smallest level at which the plan passes, a tenth of it spent on stage 1.

    Reading it against alpha is the same as reading the statistics against the boundaries
    of that alpha.

    Args:
        z1: Of stage 1.
        z2: Of the new prompts alone; `None` while there are none.

    >>> round(two_stage_pvalue(2.5758), 4), round(two_stage_pvalue(1.0, 1.3471), 4)
    (0.05, 0.05)
    """
    first = min(1.0, float(ndtr(-z1)) / STAGE_1_SHARE)
    if z2 is None:
        return first
    combined = combine(z1, z2)

    def excess(alpha: float) -> float:
        return alpha - _chance_to_pass(STAGE_1_SHARE * alpha, combined)

    tiny = 1e-16
    if excess(tiny) >= 0:
        return tiny
    return min(first, find_root(excess, tiny, 1.0))


def needed_of_stage_two(z1: float, *, alpha: float = 0.05) -> float:
    """The z that the new prompts alone must reach, given stage 1.

    >>> round(needed_of_stage_two(1.0), 4)
    1.3471
    """
    return stage_two_boundary(alpha, STAGE_1_SHARE * alpha) * math.sqrt(2) - z1
