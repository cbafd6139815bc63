"""Probes' results for tests of reports, made of requests with times that are simple to check."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.performance import (
    PERFORMANCE_VERSION,
    Load,
    MeasuredArm,
    Memory,
    Performance,
    Point,
    Remark,
    Slo,
)
from evalkit.probe.load import Round, Shot
from evalkit.probe.rounds import Rounds, Taken
from evalkit.probe.summary import point
from evalkit.results import ArmInfo, Comparison

TOKENS = 11


def shot(due: float, first: float, gap: float, prompt: int = 1024) -> Shot:
    """A request with `first` seconds to its first token and `gap` between two."""
    texts = tuple(due + first + gap * place for place in range(TOKENS))
    return Shot(due, due, texts, texts[-1], prompt, TOKENS)


def rounds(first: float, gap: float, workers: int = 1) -> Rounds:
    """Six rounds of one request a worker, each a little slower than the one before."""
    taken = []
    for number in range(6):
        began, slower = number * 100.0, 1 + number / 1000
        shots = tuple(shot(began, first * slower, gap * slower) for _ in range(workers))
        taken.append(Taken(number, False, Round(shots, began, max(s.ended for s in shots))))
    return Rounds(warm_up=[1.0, 1.0], steady=True, taken=taken)


def points(baseline: str, candidates: Sequence[str]) -> tuple[Point, ...]:
    """Each candidate decodes twice as fast as the baseline and begins a tenth later."""
    made = []
    for workers in (1, 4):
        arms = {baseline: rounds(0.5, 0.05, workers)}
        arms |= {name: rounds(0.55, 0.025, workers) for name in candidates}
        load = Load("closed", float(workers))
        made.append(point(1024, 1024, load, arms, Slo(ttft=0.52), 0))
    return tuple(made)


def performance(made: Comparison, *remarks: Remark, price: float | None = 3.6) -> Performance:
    """A probe of the very builds of a comparison."""
    infos = (made.baseline, *made.candidates)
    return Performance(
        schema_version=PERFORMANCE_VERSION,
        evalkit_version="0.1.0",
        created="2026-11-30T20:00:00+00:00",
        settings={"repeats": 6, "output_tokens": TOKENS},
        slo=Slo(ttft=0.52),
        price=price,
        arms=tuple(_arm(info, 8 - place) for place, info in enumerate(infos)),
        points=points(infos[0].endpoint, [info.endpoint for info in infos[1:]]),
        remarks=remarks,
    )


def _arm(info: ArmInfo, gigabytes: int) -> MeasuredArm:
    memory = (Memory("processes", gigabytes * 10**9, 3),)
    return MeasuredArm(info.endpoint, info.label, info.identity, memory)
