"""What missing answers could do to one metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from evalkit.decision.evidence import read
from evalkit.decision.pairing import Answer, Pair
from evalkit.decision.tables import Floats, Table, TableName, differences
from evalkit.policy import Policy
from evalkit.results import Rerun


def imputed(tables: Sequence[Table], name: TableName) -> list[Table]:
    """Return tables in which every missing answer is read in one way, so that none is left."""
    return [_with_differences(table, differences(table, name)[0]) for table in tables]


def tipping_point(tables: Sequence[Table], margin: float, policy: Policy) -> int | None:
    """Return the fewest missing answers of the candidate that must be wrong to lose the proof.

    All other pairs with a missing answer count as no change. Where answers weigh unequally
    (families of unequal size), those that weigh most turn first.

    Returns:
        `None` when it is not shown to begin with, or when even all of them do not lose it.
    """
    known = [_agreeing(table) for table in tables]
    turns = sorted(
        (
            (table.weight / len(table.baseline) * loss, place, index)
            for place, table in enumerate(tables)
            for index, loss in _could_lose(table)
        ),
        reverse=True,
    )

    def holds(count: int) -> bool:
        tried = [d.copy() for d in known]
        for _, place, index in turns[:count]:
            value = tables[place].baseline[index]
            tried[place][index] = -1.0 if np.isnan(value) else -value
        changed = [_with_differences(table, d) for table, d in zip(tables, tried, strict=True)]
        p_value = read(changed, "CC", margin, policy).noninferior
        return p_value is not None and p_value <= policy.alpha

    if not holds(0) or holds(len(turns)):
        return None
    low, high = 0, len(turns)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


def find_reruns(pairs: Iterable[Pair], limit: int = 200) -> tuple[Rerun, ...]:
    """Return the prompts that an arm left without an answer, the first so many of them."""
    lacking = (
        Rerun(
            pair.sample.taskset,
            pair.sample.id,
            pair.epoch,
            tuple(arm for arm, answer in _arms(pair) if answer.missing),
        )
        for pair in pairs
        if not pair.complete
    )
    return tuple(islice(lacking, limit))


def _arms(pair: Pair) -> tuple[tuple[str, Answer], ...]:
    return ("baseline", pair.baseline), ("candidate", pair.candidate)


def _agreeing(table: Table) -> Floats:
    """Return the differences, a pair with a missing answer taken as one that agrees."""
    d: Floats = np.nan_to_num(table.candidate - table.baseline, nan=0.0)
    return d


def _could_lose(table: Table) -> list[tuple[int, float]]:
    """Return place and size of the losses that missing answers of the candidate may hide."""
    size = np.where(np.isnan(table.baseline), 1.0, table.baseline)
    places = np.flatnonzero(np.isnan(table.candidate) & (size > 0))
    return [(int(place), float(size[place])) for place in places]


def _with_differences(table: Table, d: Floats) -> Table:
    """Return a complete table with these differences."""
    return replace(table, baseline=np.zeros(len(d)), candidate=d)
