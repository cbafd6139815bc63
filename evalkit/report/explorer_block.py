"""What the page says of its explorer: how much is embedded, and of what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalkit.report import numbers
from evalkit.report.explorer import TRANSITIONS, Embedded
from evalkit.report.pieces import Table
from evalkit.report.words import Words


@dataclass(frozen=True, slots=True)
class ExplorerBlock:
    """The explorer's place: what is embedded, or `problem`, why nothing is."""

    lead: str
    table: Table | None
    problem: str


def explorer_block(words: Words, embedded: Embedded | str) -> ExplorerBlock:
    """Describe what is embedded, or say why nothing is."""
    if isinstance(embedded, str):
        return ExplorerBlock(lead="", table=None, problem=words(f"explorer_none.{embedded}"))
    shown = sum(sum(counts.values()) for counts in embedded.shown)
    total = sum(sum(counts.values()) for counts in embedded.totals)
    facts = {"shown": numbers.count(shown), "total": numbers.count(total)}
    key = "explorer_lead.all" if shown == total else "explorer_lead.part"
    heads = ("transition", "embedded", "pairs")
    several = len(embedded.names) > 1
    table = Table(
        words("explorer_table"),
        (*([words("role.candidate")] if several else []), *(words(f"col.{h}") for h in heads)),
        tuple(row if several else row[1:] for row in _rows(words, embedded)),
        words=(1,) if several else (),
    )
    return ExplorerBlock(lead=words(key, **facts), table=table if total else None, problem="")


def _rows(words: Words, embedded: Embedded) -> Iterator[tuple[str, str, str, str]]:
    for name, shown, total in zip(embedded.names, embedded.shown, embedded.totals, strict=True):
        for moved in TRANSITIONS:
            if total.get(moved):
                held, of = numbers.count(shown.get(moved, 0)), numbers.count(total[moved])
                yield name, words(f"transition.{moved}"), held, of
