"""How large a canary must be, and which loss in it speaks for going back."""

from __future__ import annotations

import math

from evalkit.alerts import CanarySize
from evalkit.estimates import Cells
from evalkit.results import CandidateResult
from evalkit.stats.distributions import normal_quantile
from evalkit.stats.power import n_mcnemar, n_two_samples
from evalkit.stats.rates import most_by_chance, upper_bound

ALPHA = 0.05
POWER = 0.8


def canary_size(result: CandidateResult) -> CanarySize | None:
    """Return what a canary needs to see a loss of the margin in at least 80%.

    Each at one-sided 5%. `None` where the baseline was right too seldom to lose so much.
    """
    metric, accuracy = result.pooled.accuracy, result.pooled.baseline.accuracy.value
    margin = metric.margin
    if accuracy is None or not 0 < margin <= accuracy:
        return None
    split = max(1, math.ceil(n_two_samples(accuracy, margin, alpha=ALPHA, power=POWER)))
    noise = math.sqrt(2 * accuracy * (1 - accuracy) / split)
    low = metric.difference.low
    share, limit = _share(result.degenerate.cells)
    return CanarySize(
        margin=margin,
        accuracy=accuracy,
        split=split,
        mirrored=_mirrored(result.pooled.flips, margin),
        step_back=-normal_quantile(ALPHA) * noise,
        worst_loss=None if low is None else max(0.0, -low),
        degenerate=share,
        degenerate_limit=limit,
        degenerate_most=None if limit is None else most_by_chance(split, limit, alpha=ALPHA),
    )


def _share(cells: Cells | None) -> tuple[float | None, float | None]:
    """How often the candidate has it, with the upper bound."""
    if cells is None or cells.n < 1:
        return None, None
    held = cells.both + cells.gained
    return held / cells.n, upper_bound(held, cells.n).high


def _mirrored(flips: Cells, margin: float) -> int | None:
    """Pairs that show such a loss where as many answers flip as were seen to."""
    if flips.n < 1:
        return None
    rate = max((flips.gained + flips.lost) / flips.n, margin)
    gained, lost = (rate - margin) / 2, (rate + margin) / 2
    return math.ceil(n_mcnemar(gained, lost, alpha=ALPHA, power=POWER, two_sided=False))
