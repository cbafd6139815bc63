"""The noise floor: how often the baseline differs from itself, and the candidate beyond that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evalkit.decision.attribution import transition
from evalkit.decision.metrics import MIN_CLUSTERS
from evalkit.decision.pairing import Answer, Key, Pair
from evalkit.decision.tables import unit_codes
from evalkit.estimates import Estimate
from evalkit.noisefloor import NoiseFloor, NoiseScope
from evalkit.policy import Policy
from evalkit.results import POOLED
from evalkit.stats.rates import wilson, wilson_clustered
from evalkit.stats.repeats import excess_flips
from evalkit.types import REPEAT_EPOCH

_FLIPS = frozenset({"regression", "improvement"})


def measure_noise(
    pairs: Sequence[Pair], repeats: Mapping[Key, Answer], *, temperature: float
) -> NoiseFloor | None:
    """Compare the baseline with itself, and the candidate with that.

    The repeats never enter a pair or a rate of an arm: no metric and no state depends on them.

    Args:
        pairs: All pairs; the first epoch of a sample is what its repeat is compared with.
        repeats: What the baseline answered the second time, by (taskset, sample id,
            `REPEAT_EPOCH`).
        temperature: That both times were sampled at.

    Returns:
        `None` when nothing was answered twice.
    """
    if not repeats:
        return None
    again = [
        (pair, Pair(pair.sample, 0, pair.baseline, repeat))
        for pair in pairs
        if pair.epoch == 0
        for repeat in (repeats.get((pair.sample.taskset, pair.sample.id, REPEAT_EPOCH)),)
        if repeat is not None
    ]
    if not any(twice.complete for _, twice in again):
        return None
    families: dict[str, list[tuple[Pair, Pair]]] = {}
    for both in again:
        families.setdefault(both[0].sample.family.value, []).append(both)
    scopes = [_scope(family, group) for family, group in families.items()]
    return NoiseFloor(
        source="sampling" if temperature > 0 else "batching",
        asked=len(repeats),
        all_flips=_rate([pair for pair in pairs if pair.complete], _flipped),
        pooled=_scope(POOLED, again),
        families=tuple(scope for scope in scopes if _units(scope.excess) >= MIN_CLUSTERS),
    )


def flips_high(noise: NoiseFloor | None, policy: Policy) -> bool:
    """Whether more answers flip than noise and the policy's allowance explain.

    Read from the estimate (its interval is printed), and from ten independent samples on.
    """
    if noise is None:
        return False
    excess = noise.pooled.excess
    if excess.value is None or _units(excess) < MIN_CLUSTERS:
        return False
    return excess.value > policy.excess_flips / 100


def _scope(name: str, again: Sequence[tuple[Pair, Pair]]) -> NoiseScope:
    twice = [repeat for _, repeat in again if repeat.complete]
    thrice = [(pair, repeat) for pair, repeat in again if pair.complete and repeat.complete]
    candidate, baseline = [pair for pair, _ in thrice], [repeat for _, repeat in thrice]
    return NoiseScope(
        scope=name,
        repeat_flips=_rate(twice, _flipped),
        same_text=_rate(twice, _same_text),
        candidate_flips=_rate(candidate, _flipped),
        excess=excess_flips(_flipped(candidate), _flipped(baseline), unit_codes(candidate)),
    )


def _flipped(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    return np.array([transition(pair) in _FLIPS for pair in pairs], dtype=np.float64)


def _same_text(pairs: Sequence[Pair]) -> NDArray[np.float64]:
    return np.array([pair.same_text for pair in pairs], dtype=np.float64)


def _rate(pairs: Sequence[Pair], read: Callable[[Sequence[Pair]], NDArray[np.float64]]) -> Estimate:
    values, codes = read(pairs), unit_codes(pairs)
    if codes is None:
        return wilson(float(values.sum()), values.size)
    return wilson_clustered(values, codes)


def _units(estimate: Estimate) -> int:
    return estimate.n if estimate.n_clusters is None else estimate.n_clusters
