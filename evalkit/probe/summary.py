"""From rounds to figures: quantiles, throughput, goodput, and ratios between arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

import numpy as np

from evalkit.estimates import Estimate
from evalkit.performance import (
    LATENCIES,
    RATES,
    SHARES,
    ArmPoint,
    Goodput,
    Load,
    Point,
    Repeat,
    Slo,
)
from evalkit.probe.load import Round, Shot
from evalkit.probe.rounds import Rounds, Taken
from evalkit.stats.quantiles import median_of, quantile
from evalkit.stats.rates import wilson
from evalkit.stats.ratios import paired_ratio

_OF_SHOT: Mapping[str, Callable[[Shot], float | None]] = {
    "ttft": lambda shot: shot.ttft,
    "tpot": lambda shot: shot.tpot,
    "e2e": lambda shot: shot.e2e,
    "decode": lambda shot: shot.decode,
    "prefill": lambda shot: shot.prefill,
}
THROUGHPUT = "throughput"


def point(
    asked: int,
    context: int,
    load: Load,
    rounds: Mapping[str, Rounds],
    slo: Slo | None,
    seed: int,
) -> Point:
    """Sum up one point.

    Args:
        asked: Tokens of the prompt that were asked for.
        context: That were made.
        load: The load.
        rounds: By arm, the baseline first.
        slo: What a good request keeps.
        seed: Of resampling.
    """
    arms = {name: arm_point(one, slo) for name, one in rounds.items()}
    baseline, *candidates = arms
    ratios = {name: _ratios(arms[baseline], arms[name], seed) for name in candidates}
    return Point(asked, context, load, arms, ratios)


def arm_point(rounds: Rounds, slo: Slo | None) -> ArmPoint:
    """Sum up one arm at one point."""
    counted = rounds.counted
    shots = [shot for one in counted for shot in one.round.shots] or [*rounds.failed]
    answered = [shot for shot in shots if shot.error is None]
    prompts = [s.prompt_tokens for s in answered if s.prompt_tokens is not None]
    completions = [s.completion_tokens for s in answered if s.completion_tokens is not None]
    again = {one.number for one in rounds.taken if one.again}
    repeats = tuple(_repeat(one, replaced=one.number in again) for one in rounds.taken)
    walls = [one.round.ended - one.round.began for one in counted]
    served = [
        sum(shot.error is None for shot in one.round.shots) / wall
        for one, wall in zip(counted, walls, strict=True)
        if wall > 0
    ]
    return ArmPoint(
        n_requests=len(shots),
        n_answered=len(answered),
        failures=dict(sorted(Counter(s.error for s in shots if s.error is not None).items())),
        quantiles={name: _quantiles(name, counted) for name in (*LATENCIES, *RATES)},
        prompt_tokens=(min(prompts), max(prompts)) if prompts else None,
        completion_tokens=float(median(completions)) if completions else None,
        throughput=median_of(_known(_throughput(one.round) for one in counted)),
        requests_per_second=median_of(served),
        goodput=None if slo is None or not shots else _goodput(shots, slo, sum(walls)),
        latest=max((shot.sent - shot.due for shot in shots), default=0.0),
        warm_up=tuple(rounds.warm_up),
        steady=rounds.steady,
        odd_first=rounds.odd,
        resent=sum(shot.twice for shot in shots),
        repeats=repeats,
    )


def keeps(shot: Shot, slo: Slo) -> bool:
    """Whether a request keeps a target; what was not measured is not kept, nor is no answer."""
    limits = ((slo.ttft, shot.ttft), (slo.itl, shot.tpot), (slo.e2e, shot.e2e))
    answered = shot.error is None and shot.completion_tokens != 0
    return answered and all(
        limit is None or (found is not None and found <= limit) for limit, found in limits
    )


def _goodput(shots: Sequence[Shot], slo: Slo, seconds: float) -> Goodput:
    kept = sum(keeps(shot, slo) for shot in shots)
    return Goodput(wilson(kept, len(shots)), kept / seconds if seconds > 0 else 0.0)


def _quantiles(name: str, counted: Sequence[Taken]) -> tuple[Estimate, ...]:
    values: list[float] = []
    clusters: list[int] = []
    for one in counted:
        found = [value for shot in one.round.shots for value in _values(name, shot)]
        values += found
        clusters += [one.number] * len(found)
    # A rate is bad when it is low: its p90 is what nine of ten reach.
    shares = [1 - share for share in SHARES] if name in RATES else SHARES
    return tuple(quantile(values, share, clusters) for share in shares)


def _values(name: str, shot: Shot) -> Iterable[float]:
    if name == "itl":
        return shot.gaps
    value = _OF_SHOT[name](shot)
    return () if value is None else (value,)


def _repeat(one: Taken, *, replaced: bool) -> Repeat:
    shots = one.round.shots
    medians = {name: _median(get(shot) for shot in shots) for name, get in _OF_SHOT.items()}
    return Repeat(
        number=one.number,
        again=one.again,
        replaced=replaced and not one.again,
        wall_seconds=one.round.ended - one.round.began,
        medians=medians,
        throughput=_throughput(one.round),
    )


def _throughput(one: Round) -> float | None:
    """Completion tokens a second; `None` where some answer's are not told."""
    tokens = [shot.completion_tokens for shot in one.shots if shot.error is None]
    known = [count for count in tokens if count is not None]
    wall = one.ended - one.began
    return sum(known) / wall if known and len(known) == len(tokens) and wall > 0 else None


def _ratios(baseline: ArmPoint, candidate: ArmPoint, seed: int) -> Mapping[str, Estimate]:
    sides = [by_number(baseline), by_number(candidate)]
    found = {}
    for name in (*_OF_SHOT, THROUGHPUT):
        pairs = [
            (before[name], after[name])
            for number, before in sides[0].items()
            if (after := sides[1].get(number)) is not None
        ]
        known = [(b, c) for b, c in pairs if b is not None and c is not None and b > 0 and c > 0]
        found[name] = paired_ratio(
            [b for b, _ in known], [c for _, c in known], rng=np.random.default_rng(seed)
        )
    return found


def by_number(arm: ArmPoint) -> Mapping[int, Mapping[str, float | None]]:
    """Return the figures of the rounds that count, by their number."""
    return {
        one.number: {**one.medians, THROUGHPUT: one.throughput}
        for one in arm.repeats
        if not one.replaced
    }


def _median(values: Iterable[float | None]) -> float | None:
    known = _known(values)
    return median(known) if known else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
