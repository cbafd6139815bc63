"""What a probe found of speculative decoding: tables of finished strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from evalkit.estimates import Estimate
from evalkit.performance import Performance
from evalkit.report import numbers
from evalkit.report.performance_numbers import duration, estimate, rate, times
from evalkit.report.pieces import Table
from evalkit.report.speculation_routes import route_rows
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.speculation import (
    OFF,
    WORKLOADS,
    Acceptance,
    Crossover,
    Equality,
    Speculation,
    SpeculativeArm,
    WorkloadArm,
)

_Row = tuple[str, ...]
_Rows = Callable[[Words, Speculation], Iterator[_Row]]


def speculation_tables(words: Words, found: Performance) -> Iterator[Table]:
    """Yield the tables of every build: what to do first, then the figures that say so."""
    for one in found.speculation:
        group = "" if one.group is None else words("spec.of_group", group=one_line(one.group))
        for key, columns, rows, wordy in _TABLES:
            cells = tuple(rows(words, one))
            heads = tuple(words(f"spec.col.{name}") for name in columns)
            yield Table(words(f"spec.table.{key}", group=group), heads, cells, words=wordy)


def _acceptance(words: Words, found: Speculation) -> Iterator[_Row]:
    for arm, name, work in _works(found):
        told = work.acceptance
        if arm.label == OFF and told is None:
            continue
        yield (_label(words, arm, name), *_accepted(words, told))
    for arm in found.arms:
        lifetime = arm.lifetime
        if lifetime is None or not lifetime.drafted:
            continue
        share = numbers.percent(lifetime.accepted / lifetime.drafted)
        positions = [
            f"{place}: {numbers.percent(hits / lifetime.drafts, 0)}"
            for place, hits in enumerate(lifetime.positions, 1)
            if lifetime.drafts
        ]
        steps = 1 + lifetime.accepted / lifetime.drafts if lifetime.drafts else None
        yield (
            words("spec.lifetime", label=one_line(arm.label)),
            share,
            ", ".join(positions) or numbers.DASH,
            rate(steps),
            numbers.count(lifetime.drafted),
            words.name("spec.source", "metrics"),
        )


def _accepted(words: Words, told: Acceptance | None) -> _Row:
    if told is None:
        return (numbers.DASH,) * 5
    places = ", ".join(f"{place}: {_share(one, 0)}" for place, one in enumerate(told.positions, 1))
    return (
        _share(told.rate, 1),
        places or numbers.DASH,
        rate(told.a_step),
        numbers.count(told.drafted),
        words.name("spec.source", told.source),
    )


def _share(found: Estimate, digits: int) -> str:
    ends = [numbers.bare_percent(end, digits) for end in (found.low, found.high)]
    return f"{numbers.percent(found.value, digits)} {numbers.interval(*ends)}".strip()


def _alone(words: Words, found: Speculation) -> Iterator[_Row]:
    for arm, name, work in _works(found):
        ratios = work.ratios
        yield (
            _label(words, arm, name),
            *(estimate(ratios[key], times) if key in ratios else numbers.DASH for key in _ALONE),
            estimate(work.decode, rate),
            estimate(work.ttft, duration),
            _answered(work.n_asked, sum(work.failures.values())),
        )


_ALONE = ("decode", "ttft")


def _loads(words: Words, found: Speculation) -> Iterator[_Row]:
    for arm in found.arms:
        for level, load in sorted(arm.loads.items()):
            yield (
                words("spec.in_flight", label=one_line(arm.label), level=str(level)),
                numbers.DASH if load.ratio is None else estimate(load.ratio, times),
                estimate(load.throughput, rate),
                _answered(load.n_requests, sum(load.failures.values())),
            )


def _contexts(words: Words, found: Speculation) -> Iterator[_Row]:
    for arm in found.arms:
        for context, ratio in sorted(arm.contexts.items()):
            tokens = numbers.count(context)
            label = words("spec.at_tokens", label=one_line(arm.label), tokens=tokens)
            yield label, estimate(ratio, times)


def _findings(words: Words, found: Speculation) -> Iterator[_Row]:
    for arm in found.arms:
        if arm.label == OFF:
            continue
        label = one_line(arm.label)
        if arm.crossover is not None:
            yield label, words("spec.what.crossover"), _crossover(words, arm.crossover)
        if arm.equality is not None:
            yield label, words("spec.what.equality"), _equality(words, arm.equality)
        if arm.added_bytes is not None:
            size = numbers.size(abs(arm.added_bytes))
            sign = "−" if arm.added_bytes < 0 else "+"
            source = words.name("perf.memory", one_line(arm.added_from or ""))
            told = words("spec.memory", size=f"{sign}{size}", source=source)
            yield label, words("spec.what.memory"), told
        if arm.compare:
            yield label, words("spec.what.quality"), one_line(arm.compare)


def _crossover(words: Words, found: Crossover) -> str:
    facts = {"faster": str(found.faster_up_to), "slower": str(found.slower_from)}
    at = found.estimate
    if at is not None and at.value is not None:
        facts["at"] = estimate(at, rate)
    key = f"spec.crossover.{found.kind}"
    if found.kind == "unclear" and found.faster_up_to is not None:
        key += ".faster"
    elif found.kind == "unclear" and found.slower_from is not None:
        key += ".slower"
    return words(key, **facts)


def _equality(words: Words, found: Equality) -> str:
    facts = {
        "different": numbers.count(found.different),
        "noise": numbers.count(found.noise),
        "n": numbers.count(found.n),
    }
    if found.excess is not None:
        ends = [numbers.points(end) for end in (found.excess.low, found.excess.high)]
        facts["excess"] = f"{numbers.points(found.excess.value)} {numbers.interval(*ends)}".strip()
    if found.agreement is not None:
        facts["agreement"] = numbers.percent(found.agreement, 0)
    return words(f"spec.equality.{found.finding}", **facts)


def _works(found: Speculation) -> Iterator[tuple[SpeculativeArm, str, WorkloadArm]]:
    # Not in the order of the mapping: JSON keeps none.
    for name in WORKLOADS:
        for arm in found.arms:
            if name in arm.workloads:
                yield arm, name, arm.workloads[name]


def _label(words: Words, arm: SpeculativeArm, workload: str) -> str:
    return f"{words(f'spec.case.{workload}')}: {one_line(arm.label)}"


def _answered(asked: int, failed: int) -> str:
    return f"{numbers.count(asked - failed)} / {numbers.count(asked)}"


_TABLES: tuple[tuple[str, tuple[str, ...], _Rows, tuple[int, ...]], ...] = (
    ("routes", ("case", "choice", "why"), route_rows, (1, 2)),
    ("findings", ("arm", "what", "finding"), _findings, (1, 2)),
    ("acceptance", ("work", "rate", "places", "a_step", "drafted", "source"), _acceptance, (2, 5)),
    ("alone", ("work", "decode_ratio", "ttft_ratio", "decode", "ttft", "answered"), _alone, ()),
    ("loads", ("load", "throughput_ratio", "throughput", "answered"), _loads, ()),
    ("contexts", ("prompt", "ttft_ratio"), _contexts, ()),
)
