"""Slices as rows, tables and a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.report import numbers
from evalkit.report.estimates import as_difference, scope_label
from evalkit.report.lengths import length_name
from evalkit.report.model import SliceRow, Slices, Table
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.results import CandidateResult, SliceResult

_COLUMNS = ("slice", "dimension", "pairs", "difference", "shrunken", "flips", "adjusted", "state")
_MOST_NAMED = 30


def slices_of(words: Words, result: CandidateResult) -> Slices:
    """Return the screen: flagged slices first, then by what is left after shrinkage."""
    ordered = sorted(result.slices, key=lambda item: (not item.flagged, item.shrunken))
    rows = tuple(_row(words, item) for item in ordered)
    tested = [row for row in rows if row.tested]
    flagged = [row for row in tested if row.flagged]
    return Slices(
        lead=_lead(words, len(flagged), len(tested)),
        rows=rows,
        flagged=_table(words, "table.flagged", flagged),
        tested=_table(words, "table.slices", tested),
        too_few=_too_few(words, [row for row in rows if not row.tested]),
    )


def _row(words: Words, item: SliceResult) -> SliceRow:
    label = _label(words, item)
    difference = as_difference(words, item.difference)
    return SliceRow(
        dimension=item.dimension,
        value=one_line(item.value),
        family=one_line(item.family) if item.family is not None else None,
        label=label,
        n=item.n,
        regressions=item.regressions,
        improvements=item.improvements,
        difference=difference,
        shrunken=item.shrunken,
        p_adjusted=item.p_adjusted,
        tested=item.pvalue is not None,
        flagged=item.flagged,
        text=words(
            "slice.line",
            dimension=words(f"slice.{item.dimension}"),
            value=label,
            difference=difference.text,
            interval=difference.interval,
            n=numbers.count(item.n),
            flips=_flips(item.regressions, item.improvements),
        ),
    )


def _label(words: Words, item: SliceResult) -> str:
    value = one_line(item.value)
    if item.dimension == "family":
        return scope_label(words, value)
    if item.dimension == "category":
        family = scope_label(words, item.family or "")
        return words("slice_value.category", family=family, value=value)
    if item.dimension in ("prompt_length", "output_length"):
        return length_name(words, value)
    return words.name(item.dimension, value)


def _lead(words: Words, flagged: int, tested: int) -> str:
    if not tested:
        return words("slices.untested")
    facts = {"flagged": numbers.count(flagged), "tested": numbers.count(tested)}
    return words("slices.found" if flagged else "slices.none", **facts)


def _table(words: Words, caption: str, rows: Sequence[SliceRow]) -> Table | None:
    if not rows:
        return None
    return Table(
        caption=words(caption),
        columns=tuple(words(f"col.{name}") for name in _COLUMNS),
        rows=tuple(
            (
                row.label,
                words(f"slice.{row.dimension}"),
                numbers.count(row.n),
                row.difference.full,
                numbers.points(row.shrunken, numbers.digits_for(row.n)),
                _flips(row.regressions, row.improvements),
                numbers.pvalue(row.p_adjusted),
                f"✗ {words('slice.flagged')}" if row.flagged else words("slice.unflagged"),
            )
            for row in rows
        ),
        words=(1, 7),
    )


def _too_few(words: Words, rows: Sequence[SliceRow]) -> str:
    if not rows:
        return ""
    named = [f"{row.label} ({numbers.count(row.n)})" for row in rows[:_MOST_NAMED]]
    more = ["…"] if len(rows) > _MOST_NAMED else []
    return words("slices.too_few", names=words("slices.join").join(named + more))


def _flips(regressions: int, improvements: int) -> str:
    return f"{numbers.count(regressions)} : {numbers.count(improvements)}"
