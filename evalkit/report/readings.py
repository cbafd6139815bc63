"""Policies side by side, and missing answers in every way of reading them, as tables."""

from __future__ import annotations

from evalkit.estimates import Estimate
from evalkit.report import numbers
from evalkit.report.estimates import as_difference, scope_label
from evalkit.report.model import PolicyRow, Table
from evalkit.report.text import one_line
from evalkit.report.verdicts import ICONS, metrics_of
from evalkit.report.words import Words
from evalkit.results import CandidateResult, PolicyReading

_HASH_LENGTH = 12


def policy_rows(words: Words, result: CandidateResult) -> tuple[PolicyRow, ...]:
    """Return what each policy says; nothing where there is only one."""
    return tuple(_policy_row(words, reading) for reading in result.readings)


def policies_table(words: Words, rows: tuple[PolicyRow, ...]) -> Table | None:
    """Return the policies as a table; `None` where there is only one."""
    if not rows:
        return None
    columns = tuple(words(f"col.{key}") for key in ("policy", "fixed", "verdict", "changes"))
    cells = tuple(
        (
            row.policy_hash[:_HASH_LENGTH],
            row.fixed,
            f"{row.icon} {row.word}{words('policy.gates') if row.gates else ''}",
            ", ".join(row.changes) or numbers.DASH,
        )
        for row in rows
    )
    return Table(words("ui.policies"), columns, cells, words=(1, 2, 3))


def missing_table(words: Words, result: CandidateResult) -> Table | None:
    """Return each metric with its missing answers read in four ways; `None` without any."""
    rows = []
    for metric in metrics_of(result):
        found = metric.missing
        if found is None:
            continue
        ways = (metric.difference_90, found.worst, found.itt, found.best)
        rows.append(
            (
                words(
                    "scope_metric",
                    metric=words(f"metric.{metric.metric}"),
                    scope=scope_label(words, metric.scope),
                ),
                numbers.count(metric.n_missing),
                numbers.size_in_points(metric.margin),
                *(_told(words, way) for way in ways),
                numbers.count(found.tipping_point),
            )
        )
    if not rows:
        return None
    keys = ("metric", "missing", "margin", "complete", "worst", "itt", "best", "tipping")
    return Table(words("ui.missing"), tuple(words(f"col.{key}") for key in keys), tuple(rows))


def _told(words: Words, estimate: Estimate) -> str:
    return as_difference(words, estimate).told


def _policy_row(words: Words, reading: PolicyReading) -> PolicyRow:
    state = reading.verdict.state.value if reading.verdict is not None else None
    arms = ", ".join(one_line(arm) for arm in reading.declared_by)
    return PolicyRow(
        policy_hash=one_line(reading.policy_hash),
        declared_by=tuple(one_line(arm) for arm in reading.declared_by),
        fixed=words("policy.declared", arms=arms) if arms else words("policy.later"),
        state=state,
        icon=ICONS[state] if state is not None else numbers.DASH,
        word=words(f"state.{state}") if state is not None else words("policy.unknown"),
        changes=tuple(
            one_line(f"{key} {old} → {new}") for key, (old, new) in reading.changes.items()
        ),
        gates=reading.gates,
    )
