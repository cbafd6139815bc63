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
    first = stage_one_boundary(alpha1)
    half = (first + _FAR) / 2
    z1 = (_NODES + 1) * half - _FAR
    density = np.exp(-(z1**2) / 2) / math.sqrt(2 * math.pi) * _WEIGHTS * half

    def excess(boundary: float) -> float:
        second = ndtr(z1 - boundary * math.sqrt(2))
        return alpha1 + float(density @ second) - alpha

    return find_root(excess, -_FAR, _FAR)


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
