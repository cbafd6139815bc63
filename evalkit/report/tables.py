"""The small tables of one candidate: gains, outcomes, transitions, causes, prompts needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evalkit.report import numbers, verdicts
from evalkit.report.estimates import scope_label
from evalkit.report.model import GainRow, NeededRow, Table
from evalkit.report.text import one_line
from evalkit.report.verdicts import Names
from evalkit.report.words import Words
from evalkit.results import ArmInfo, ArmTiming, CandidateResult, Comparison
from evalkit.types import Flag

# Less of a change is nothing that a first screen needs.
_SAME: Final = 0.05
_OUTCOMES: Final = ("correct", "incorrect", "abstained")


def gains(
    words: Words,
    comparison: Comparison,
    result: CandidateResult,
    info: ArmInfo | None,
    *,
    measured: bool = False,
) -> Iterator[GainRow]:
    """Yield what the candidate saves: memory and time, as seen in this run.

    Args:
        words: The catalogue.
        comparison: What it is part of.
        result: The candidate's results.
        info: Who it is.
        measured: Whether its speed was measured, so that the by-product is of no use.
    """
    before = _timing(comparison, comparison.baseline.endpoint)
    after = _timing(comparison, result.endpoint)
    candidate_bytes = _bytes(info)
    lines = [("gain.weights", _bytes(comparison.baseline), candidate_bytes, numbers.size)]
    if before is not None and after is not None and not measured:
        lines += [
            (
                "gain.speed",
                before.tokens_per_second,
                after.tokens_per_second,
                numbers.rate_per_second,
            ),
            ("gain.latency", before.median_latency, after.median_latency, numbers.seconds),
            ("gain.p95", before.p95_latency, after.p95_latency, numbers.seconds),
        ]
    pooled = result.pooled
    lines.append(
        (
            "gain.tokens",
            pooled.baseline.mean_completion_tokens,
            pooled.candidate.mean_completion_tokens,
            numbers.rate_per_second,
        )
    )
    for key, old, new, write in lines:
        if old is not None or new is not None:
            minor = measured and (key == "gain.weights" or _alike(old, new))
            yield GainRow(words(key), write(old), write(new), numbers.change(old, new), minor=minor)


def _alike(old: float | None, new: float | None) -> bool:
    return bool(old) and new is not None and abs(new / (old or 1.0) - 1) < _SAME


def outcomes(words: Words, names: Names, result: CandidateResult) -> Table:
    """Return outcomes and flags of both arms, one row a scope."""
    scopes = (*result.families, result.pooled)
    outcomes = (*_OUTCOMES, "unscored", "missing")
    seen = {
        flag for scope in scopes for arm in (scope.baseline, scope.candidate) for flag in arm.flags
    }
    flags = [flag.value for flag in Flag] + sorted(seen - {flag.value for flag in Flag})

    def cell(before: int, after: int) -> str:
        if before == after == 0:
            return "0"
        return f"{numbers.count(before)} → {numbers.count(after)}"

    rows = []
    for scope in scopes:
        old, new = scope.baseline, scope.candidate
        counts = [cell(getattr(old, name), getattr(new, name)) for name in outcomes]
        flagged = [cell(old.flags.get(flag, 0), new.flags.get(flag, 0)) for flag in flags]
        rows.append((scope_label(words, scope.scope), *counts, *flagged))
    return Table(
        caption=words("table.outcomes", baseline=names.baseline, candidate=names.candidate),
        columns=(
            words("col.family"),
            *(words.name("outcome", name) for name in outcomes),
            *(words.name("flag", one_line(flag)) for flag in flags),
        ),
        rows=tuple(rows),
    )


def transitions(words: Words, names: Names, result: CandidateResult) -> Table | None:
    """Return how outcomes went over into others, three by three in each scope.

    `None` where abstaining was nowhere possible.
    """
    scopes = [scope for scope in (*result.families, result.pooled) if scope.transitions]
    if len(scopes) == 2:  # One family, and the same again.
        scopes = scopes[:1]
    outcomes = [words.name("outcome", name) for name in _OUTCOMES]
    rows = [
        (
            scope_label(words, scope.scope),
            outcome,
            *map(numbers.count, counts),
            numbers.count(sum(counts)),
        )
        for scope in scopes
        for outcome, counts in zip(outcomes, scope.transitions or (), strict=True)
    ]
    if not rows:
        return None
    facts = {"baseline": names.baseline, "candidate": names.candidate}
    return Table(
        caption=words("table.transitions", **facts),
        columns=(
            words("col.family"),
            words("col.outcome_of", arm=names.baseline),
            *(words("col.becomes", arm=names.candidate, outcome=name) for name in outcomes),
            words("col.total"),
        ),
        rows=tuple(rows),
        words=(1,),
    )


def causes(words: Words, causes: Mapping[str, Mapping[str, int]]) -> Table | None:
    """Return the regressions by cause; `None` when nothing is attributed."""
    rows = []
    for scope, by_cause in causes.items():
        ranked = sorted(by_cause.items(), key=lambda item: (-item[1], item[0]))
        text = ", ".join(
            f"{words.name('cause', one_line(cause))} {numbers.count(n)}" for cause, n in ranked if n
        )
        if text:
            total = numbers.count(sum(by_cause.values()))
            rows.append((scope_label(words, scope), total, text))
    if not rows:
        return None
    return Table(
        caption=words("table.causes"),
        columns=(words("col.family"), words("col.total"), words("col.cause")),
        rows=tuple(rows),
        words=(2,),
    )


def needed(words: Words, result: CandidateResult) -> Iterator[NeededRow]:
    """Yield how many prompts each undecided gated metric needs."""
    for metric in verdicts.metrics_of(result):
        needed = metric.prompts_needed
        if needed is None or metric.noninferior or not metric.gated:
            continue
        note = ""
        if verdicts.below_floor(metric):
            note = words("needed.few")
        elif needed.near_margin:
            note = words("needed.near")
        elif needed.more == 0:
            note = words("needed.met")
        yield NeededRow(
            label=words(
                "scope_metric",
                metric=words(f"metric.{metric.metric}"),
                scope=scope_label(words, metric.scope),
            ),
            n=numbers.count(metric.n),
            floor=numbers.count(needed.floor),
            equal_models=numbers.count(needed.equal_models),
            observed=numbers.count(needed.observed),
            more=numbers.count(needed.prompts(needed.more)),
            note=note,
        )


def _timing(comparison: Comparison, endpoint: str) -> ArmTiming | None:
    return next((arm for arm in comparison.timing if arm.endpoint == endpoint), None)


def _bytes(info: ArmInfo | None) -> float | None:
    value = info.identity.get("weights_bytes") if info is not None else None
    return float(value) if isinstance(value, int | float) else None
