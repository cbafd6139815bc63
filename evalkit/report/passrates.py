"""pass@k of both arms for readers: a table with one row a family and k."""

from __future__ import annotations

from evalkit.report import numbers
from evalkit.report.estimates import as_difference, as_percent, scope_label
from evalkit.report.model import PassBlock, PassRow, Table
from evalkit.report.verdicts import Names
from evalkit.report.words import Words
from evalkit.results import CandidateResult, Comparison


def pass_block(
    words: Words, comparison: Comparison, names: Names, result: CandidateResult
) -> PassBlock | None:
    """Return pass@k as a sentence and a table; `None` where nothing was asked repeatedly."""
    if not result.pass_at:
        return None
    rows = []
    for one in result.pass_at:
        digits = numbers.digits_for(one.prompts)
        row = PassRow(
            scope=one.scope,
            scope_label=scope_label(words, one.scope),
            k=one.k,
            prompts=one.prompts,
            left_out=one.left_out,
            baseline=as_percent(words, one.baseline, digits),
            candidate=as_percent(words, one.candidate, digits),
            difference=as_difference(words, one.difference),
        )
        rows.append(row)
    head = (
        words("col.pass_family"),
        words("col.pass_k"),
        words("col.pass_prompts"),
        words("col.pass_arm", arm=names.baseline),
        words("col.pass_arm", arm=names.candidate),
        words("col.pass_difference"),
    )
    epochs = comparison.settings.get("epochs")
    facts = {"epochs": numbers.count(epochs)} if isinstance(epochs, int) else {}
    left_out = max(one.left_out for one in result.pass_at)
    gap = "" if words.lang == "zh" else " "
    lead = words("pass.lead", **facts)
    if left_out:
        lead += gap + words("pass.left_out", n=numbers.count(left_out))
    return PassBlock(lead, Table(words("table.pass"), head, tuple(map(_cells, rows))), tuple(rows))


def pass_line(row: PassRow) -> str:
    """Return one row as a line of text."""
    return (
        f"{row.scope_label} pass@{row.k}: {row.baseline.text} → {row.candidate.text}, "
        f"{row.difference.told}"
    )


def _cells(row: PassRow) -> tuple[str, ...]:
    return (
        row.scope_label,
        f"pass@{row.k}",
        numbers.count(row.prompts),
        row.baseline.told,
        row.candidate.told,
        row.difference.told,
    )
