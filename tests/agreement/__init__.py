"""How often scorers agree with verdicts that others gave, on public data.

The data are no part of the project: EVALKIT_PUBLIC_DATA names their folder, or it lies at
`../shared/data` beside the repository. `make agreement` writes docs/scorer-agreement.md.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

MODULES: tuple[str, ...] = ("code", "facts", "health", "ifeval", "longform", "math", "references")
"""What there is to measure: each name is a module `agreement_<name>` with `measure`."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        name: What was compared with what.
        n: How many verdicts there are.
        equal: How many of them are the same here.
        least: The agreement that is promised, as a share; `None` promises nothing.
        differences: For each reason by name, how many verdicts differ for it.
        precision: The share of what was found here that the verdicts call so too; `None`
            where nothing is found or not.
        recall: The share of what the verdicts call so that was found here.
        correlation: By coefficient, where degrees are compared and not verdicts.
    """

    name: str
    n: int
    equal: int
    least: float | None = None
    differences: Mapping[str, int] = field(default_factory=dict)
    precision: float | None = None
    recall: float | None = None
    correlation: Mapping[str, float] | None = None

    @property
    def agreement(self) -> float:
        """The share of equal verdicts."""
        return self.equal / self.n


def compared(name: str, pairs: Iterable[tuple[bool, bool]], kinds: tuple[str, str]) -> Row:
    """Return the row of yes-or-no verdicts.

    Args:
        name: What was compared with what.
        pairs: What was found here, and what the verdict is.
        kinds: Names what was wrongly found, and what was wrongly not found.
    """
    counts = Counter(pairs)
    found, there = (
        counts[True, True] + counts[True, False],
        counts[True, True] + counts[False, True],
    )
    differences = {kinds[0]: counts[True, False], kinds[1]: counts[False, True]}
    return Row(
        name,
        counts.total(),
        counts[True, True] + counts[False, False],
        None,
        {kind: n for kind, n in differences.items() if n},
        counts[True, True] / found if found else None,
        counts[True, True] / there if there else None,
    )


def data_dir() -> Path | None:
    """Return the folder of the public data, or `None` when it is not here."""
    named = os.environ.get("EVALKIT_PUBLIC_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def measure(name: str) -> Callable[[Path], list[Row]]:
    """Return what measures the agreement of a family of scorers."""
    function: Callable[[Path], list[Row]] = import_module(f"{__name__}.agreement_{name}").measure
    return function
