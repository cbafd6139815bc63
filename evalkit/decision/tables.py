"""From pairs to the arrays that statistics read: no ids and no text beyond this point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evalkit.decision.pairing import Answer, Pair
from evalkit.estimates import Cells
from evalkit.results import MetricName
from evalkit.stats.judge import JudgeCalibration
from evalkit.types import Flag, Outcome

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
TableName = Literal["CC", "WORST", "BEST", "ITT"]
# What stands in for a missing answer, as goodness: candidate, baseline.
_IMPUTED: dict[TableName, tuple[float, float]] = {
    "WORST": (0.0, 1.0),
    "BEST": (1.0, 0.0),
    "ITT": (0.0, 0.0),
}

DEGENERATE = frozenset({Flag.EMPTY, Flag.LOOP, Flag.BAD_FORMAT})


@dataclass(frozen=True, slots=True)
class Table:
    """One metric in one scope.

    Attributes:
        baseline: Goodness in [0, 1] (higher is better), NaN where the answer is missing.
        candidate: The same, aligned.
        clusters: Code of the independent unit of each pair; `None` when all differ.
        stages: Stage of the plan in which each pair was asked; `None` when all are of one.
        weight: In the mean over tables, relative to the others'.
        judge: Calibration of the judge that scored; `None` for a program.
        repeats: Pairs that each prompt makes.
    """

    baseline: Floats
    candidate: Floats
    clusters: Codes | None
    stages: Codes | None = None
    weight: float = 1.0
    judge: JudgeCalibration | None = None
    repeats: int = 1

    @property
    def complete(self) -> NDArray[np.bool_]:
        """Mask of pairs with both answers."""
        return ~(np.isnan(self.baseline) | np.isnan(self.candidate))

    def of_stage(self, stage: int) -> Table:
        """Return the pairs that were asked in one stage."""
        if self.stages is None:
            return self if stage == 1 else self.only(np.zeros(len(self.baseline), np.bool_))
        return self.only(self.stages == stage)

    def only(self, mask: NDArray[np.bool_]) -> Table:
        """Return some of the pairs."""
        return replace(
            self,
            baseline=self.baseline[mask],
            candidate=self.candidate[mask],
            clusters=None if self.clusters is None else self.clusters[mask],
            stages=None if self.stages is None else self.stages[mask],
        )


def goodness(metric: MetricName) -> Callable[[Answer], float | None]:
    """Return the function that reads one answer for a metric: 1 is good, None is missing."""
    readers: dict[MetricName, Callable[[Answer], float | None]] = {
        # What is missing is None, which becomes NaN in an array of floats.
        "accuracy": attrgetter("value"),
        "hallucination": lambda answer: _absent(answer, answer.outcome is Outcome.INCORRECT),
        "degenerate": lambda answer: _absent(answer, is_degenerate(answer)),
    }
    return readers[metric]


def is_degenerate(answer: Answer) -> bool:
    """Whether an answer is empty, a loop, or in no readable format."""
    flags = answer.score.flags
    return bool(flags) and not DEGENERATE.isdisjoint(flags)


def build_table(pairs: Sequence[Pair], metric: MetricName) -> Table:
    """Read one metric from pairs."""
    read = goodness(metric)
    return Table(
        baseline=np.array([*map(read, [pair.baseline for pair in pairs])], dtype=np.float64),
        candidate=np.array([*map(read, [pair.candidate for pair in pairs])], dtype=np.float64),
        clusters=unit_codes(pairs),
        repeats=1 + max((pair.epoch for pair in pairs), default=0),
    )


def differences(table: Table, name: TableName) -> tuple[Floats, Codes | None]:
    """Return candidate minus baseline (higher is better) under one treatment of missing data.

    `CC` drops incomplete pairs. `WORST` reads every missing answer so as to hurt the
    candidate, also where both are missing; `BEST` the reverse; `ITT` reads it as a failure
    of either arm alike (STATISTICS.md, rule 2).
    """
    if name == "CC":
        mask = table.complete
        clusters = None if table.clusters is None else table.clusters[mask]
        return table.candidate[mask] - table.baseline[mask], clusters
    candidate_value, baseline_value = _IMPUTED[name]
    candidate = np.where(np.isnan(table.candidate), candidate_value, table.candidate)
    baseline = np.where(np.isnan(table.baseline), baseline_value, table.baseline)
    return candidate - baseline, table.clusters


def binary_cells(table: Table) -> Cells | None:
    """Count the paired table of goodness over complete pairs; `None` for graded values."""
    mask = table.complete
    baseline, candidate = table.baseline[mask], table.candidate[mask]
    if not np.isin(np.concatenate([baseline, candidate]), (0.0, 1.0)).all():
        return None
    return Cells(
        both=int(np.sum((baseline == 1) & (candidate == 1))),
        gained=int(np.sum((baseline == 0) & (candidate == 1))),
        lost=int(np.sum((baseline == 1) & (candidate == 0))),
        neither=int(np.sum((baseline == 0) & (candidate == 0))),
    )


def _absent(answer: Answer, event: bool) -> float | None:
    return None if answer.missing else float(not event)


def unit_codes(pairs: Sequence[Pair]) -> Codes | None:
    """Number the independent units of pairs; `None` when all differ."""
    units = [pair.unit for pair in pairs]
    if len(set(units)) == len(units):
        return None
    numbers = {unit: index for index, unit in enumerate(dict.fromkeys(units))}
    return np.array([numbers[unit] for unit in units], dtype=np.int64)
