"""From how many requests in flight on speculative decoding slows a server down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evalkit.estimates import Estimate
from evalkit.speculation import Crossover, Standing
from evalkit.stats.ratios import FEW_PAIRS

_RESAMPLES = 2000
_METHOD = "log-linear between loads, bootstrap of rounds"


def standing(ratio: Estimate | None, *, low_is_good: bool = False) -> Standing:
    """Say where a ratio stands: an interval that leaves 1 out, or not.

    From fewer than six pairs no interval of a median covers it in 95%.

    >>> standing(Estimate(1.3, 1.1, 1.5, "", 6)), standing(Estimate(1.3, 0.9, 1.5, "", 6))
    ('faster', 'unclear')
    """
    if ratio is None or ratio.value is None:
        return "not_measured"
    if ratio.n < FEW_PAIRS or ratio.low is None or ratio.high is None:
        return "few"
    if ratio.low <= 1 <= ratio.high:
        return "unclear"
    return "faster" if (ratio.low > 1) != low_is_good else "slower"


def find_crossover(
    ratios: Mapping[int, Estimate], pairs: Mapping[int, Sequence[tuple[float, float]]], seed: int
) -> Crossover:
    """Find where throughput with speculation falls below that without.

    Args:
        ratios: With ÷ without, by requests in flight.
        pairs: Throughput without and with of each round, by requests in flight.
        seed: Of resampling.
    """
    known = {level: standing(ratio) for level, ratio in ratios.items()}
    levels = sorted(at for at, one in known.items() if one not in ("few", "not_measured"))
    if len(levels) < 2:
        return Crossover("not_measured")
    stands = [known[level] for level in levels]
    ahead = next((at for at, one in enumerate(stands) if one != "faster"), len(levels))
    behind = next((at for at, one in enumerate(reversed(stands)) if one != "slower"), len(levels))
    faster = levels[ahead - 1] if ahead else None
    slower = levels[len(levels) - behind] if behind else None
    if ahead == len(levels):
        return Crossover("none", faster_up_to=faster)
    if behind == len(levels):
        return Crossover("always_slower", slower_from=slower)
    between = faster is not None and slower is not None
    between = between and "faster" not in stands[ahead:]
    if not between:
        return Crossover("unclear", faster, slower)
    return Crossover("between", faster, slower, _estimate(levels, pairs, seed))


def _estimate(
    levels: Sequence[int], pairs: Mapping[int, Sequence[tuple[float, float]]], seed: int
) -> Estimate:
    logs = [np.log([on / off for off, on in pairs[level]]) for level in levels]
    value = _crossing(levels, [float(np.median(one)) for one in logs])
    rng = np.random.default_rng(seed)
    drawn = [
        np.median(one[rng.integers(0, one.size, size=(_RESAMPLES, one.size))], axis=1)
        for one in logs
    ]
    found = [_crossing(levels, row) for row in np.stack(drawn, axis=1).tolist()]
    low, high = (float(end) for end in np.quantile(found, (0.025, 0.975)))
    return Estimate(
        value, min(low, value), max(high, value), _METHOD, min(one.size for one in logs)
    )


def _crossing(levels: Sequence[int], logs: Sequence[float]) -> float:
    """Return where the line through the points first falls below 0; an end where it does not."""
    if logs[0] <= 0:
        return float(levels[0])
    for at in range(1, len(levels)):
        if logs[at] < 0:
            early, late = math.log(levels[at - 1]), math.log(levels[at])
            share = logs[at - 1] / (logs[at - 1] - logs[at])
            return math.exp(early + share * (late - early))
    return float(levels[-1])
