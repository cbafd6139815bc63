"""From answers to figures: acceptance, speed-up, equality of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Literal

import numpy as np

from evalkit.estimates import Estimate
from evalkit.performance import ArmPoint, Load
from evalkit.probe.crossover import find_crossover
from evalkit.probe.speculation import Answer, Heard, drafted_of
from evalkit.probe.summary import THROUGHPUT, by_number, point
from evalkit.speculation import (
    OFF,
    WORKLOADS,
    Acceptance,
    Crossover,
    Equality,
    LoadArm,
    WorkloadArm,
)
from evalkit.stats.paired import tango
from evalkit.stats.quantiles import median_of
from evalkit.stats.rates import wilson_clustered
from evalkit.stats.ratios import paired_ratio
from evalkit.types import DraftCounts


def acceptance(
    counts: Sequence[DraftCounts], source: Literal["metrics", "timings"]
) -> Acceptance | None:
    """Sum up what was drafted and accepted, a prompt a cluster; `None` for nothing."""
    if not counts:
        return None
    drafted, accepted = sum(one.drafted for one in counts), sum(one.accepted for one in counts)
    steps: list[int] = [one.drafts for one in counts if one.drafts is not None]
    placed = [one for one in counts if one.drafts]
    n_steps = sum(steps)
    whole = len(steps) == len(counts)
    longest = max((len(one.positions) for one in placed), default=0) if whole else 0
    positions = [
        _share([(_at(one, place), one.drafts or 0) for one in placed]) for place in range(longest)
    ]
    return Acceptance(
        rate=_share([(one.accepted, one.drafted) for one in counts]),
        positions=tuple(positions),
        drafted=drafted,
        accepted=accepted,
        drafts=n_steps if whole else None,
        a_step=1 + accepted / n_steps if whole and n_steps else None,
        source=source,
    )


def _at(one: DraftCounts, place: int) -> int:
    return one.positions[place] if place < len(one.positions) else 0


def _share(pairs: Sequence[tuple[int, int]]) -> Estimate:
    """Return hits ÷ trials over prompts, with Wilson's interval for clusters."""
    values = [np.repeat([1.0, 0.0], [hits, trials - hits]) for hits, trials in pairs]
    clusters = np.repeat(np.arange(len(pairs)), [trials for _, trials in pairs])
    return wilson_clustered(np.concatenate(values), clusters)


def workloads_of(heard: Heard, off: Heard | None, seed: int) -> Mapping[str, WorkloadArm]:
    """Sum up one arm by kind of work.

    Args:
        heard: The arm.
        off: The arm without speculation; `None` for that one itself, and where there is none.
        seed: Of resampling.
    """
    source: Literal["metrics", "timings"] = "metrics" if heard.source == "metrics" else "timings"
    found = {}
    for name in WORKLOADS:
        answers = [one for one in heard.answers.values() if one.prompt.workload == name]
        if not answers:
            continue
        shots = [one.shot for one in answers]
        failures = Counter(shot.error for shot in shots if shot.error is not None)
        ratios = {}
        if off is not None:
            ratios = {key: ratio(heard, off, key, seed, {name}) for key in ("ttft", "decode")}
        found[name] = WorkloadArm(
            n_asked=len(answers),
            failures=dict(sorted(failures.items())),
            prompt_tokens=_median(shot.prompt_tokens for shot in shots),
            completion_tokens=_median(shot.completion_tokens for shot in shots),
            acceptance=acceptance(drafted_of(heard.answers, name), source),
            ttft=median_of(_known(shot.ttft for shot in shots)),
            decode=median_of(_known(one.decode for one in answers)),
            ratios=ratios,
        )
    return found


def ratio(heard: Heard, other: Heard, metric: str, seed: int, workloads: Iterable[str]) -> Estimate:
    """Return one arm's figure ÷ another's, paired by prompt.

    Args:
        heard: The numerator.
        other: The denominator.
        metric: `decode` or `ttft`.
        seed: Of resampling.
        workloads: Kinds of work that count.
    """
    wanted = set(workloads)
    pairs = [
        (_figure(other.answers[key], metric), _figure(one, metric))
        for key, one in heard.answers.items()
        if one.prompt.workload in wanted and key in other.answers
    ]
    known = [(b, c) for b, c in pairs if b is not None and c is not None and b > 0 and c > 0]
    return paired_ratio(
        [b for b, _ in known], [c for _, c in known], rng=np.random.default_rng(seed)
    )


def _figure(answer: Answer, metric: str) -> float | None:
    return answer.decode if metric == "decode" else answer.shot.ttft


def loads_of(
    heard: Heard, off: Heard | None, seed: int
) -> tuple[Mapping[int, LoadArm], Crossover | None]:
    """Sum up one arm under load, and find where speculation begins to slow down.

    Args:
        heard: The arm.
        off: The arm without speculation; `None` for that one itself, and where there is none.
        seed: Of resampling.
    """
    loads: dict[int, LoadArm] = {}
    pairs: dict[int, list[tuple[float, float]]] = {}
    for level, rounds in sorted(heard.loads.items()):
        other = None if off is None else off.loads.get(level)
        sides = {OFF: other, "on": rounds} if other is not None else {"on": rounds}
        summed = point(
            0,
            0,
            Load("closed", float(level)),
            {name: side for name, side in sides.items() if side is not None},
            None,
            seed,
        )
        arm = summed.arms["on"]
        found = summed.ratios["on"][THROUGHPUT] if other is not None else None
        loads[level] = LoadArm(arm.n_requests, arm.failures, arm.throughput, found)
        if other is not None:
            pairs[level] = _paired(summed.arms[OFF], arm)
    if off is None:
        return loads, None
    ratios = {level: one.ratio for level, one in loads.items() if one.ratio is not None}
    return loads, find_crossover(ratios, pairs, seed)


def _paired(off: ArmPoint, on: ArmPoint) -> list[tuple[float, float]]:
    """Return throughput without and with speculation of each round that both have."""
    sides = by_number(off), by_number(on)
    pairs = [
        (sides[0][at][THROUGHPUT], sides[1][at][THROUGHPUT]) for at in sides[0] if at in sides[1]
    ]
    return [(before, after) for before, after in pairs if before and after]


def equality(heard: Heard, off: Heard) -> Equality:
    """Say whether speculation changes texts beyond what the same server does by itself."""
    changed, noisy, shares = [], [], []
    for key, first in off.answers.items():
        on, again = heard.answers.get(key), off.again.get(key)
        texts = [None if one is None else one.said for one in (first, on, again)]
        if texts[0] is None or texts[1] is None or texts[2] is None:
            continue
        changed.append(texts[1] != texts[0])
        noisy.append(texts[2] != texts[0])
        if changed[-1]:
            shares.append(_common(texts[0], texts[1]) / max(len(texts[0]), len(texts[1])))
    n = len(changed)
    if not n:
        return Equality(0, 0, 0, None, "not_measured")
    gained = sum(c and not a for c, a in zip(changed, noisy, strict=True))
    lost = sum(a and not c for c, a in zip(changed, noisy, strict=True))
    excess = tango(gained, lost, n)
    beyond = excess.low is not None and excess.low > 0
    finding: Literal["equal", "beyond", "within"] = "beyond" if beyond else "within"
    return Equality(
        different=sum(changed),
        noise=sum(noisy),
        n=n,
        excess=excess,
        finding=finding if any(changed) else "equal",
        agreement=median(shares) if shares else None,
    )


def _common(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = zip(one, other, strict=False)
    different = (at for at, (a, b) in enumerate(pairs) if a != b)
    return next(different, min(len(one), len(other)))


def depth_of(heard: Heard) -> int | None:
    """Return the length of the longest draft whose places were counted."""
    counts = drafted_of(heard.answers)
    return max((len(one.positions) for one in counts), default=0) or None


def _median(values: Iterable[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]
