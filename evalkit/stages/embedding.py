"""Which pairs a page embeds, from the runs of its comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from evalkit.collect.journal import open_run
from evalkit.errors import EvalKitError
from evalkit.report.explorer import Embedded, Exploration, embed
from evalkit.report.store import load_comparison
from evalkit.report.words import Words
from evalkit.results import Comparison, SampleView
from evalkit.stages.places import find_runs

What = Literal["most", "all", "flips", "none"]
Seal = Callable[[SampleView], SampleView]

BUDGET = 20_000_000
SAMPLE = 2_000


@dataclass(frozen=True, slots=True)
class Embedding:
    """Which pairs the page holds with their texts; every number counts all of them.

    Attributes:
        what: `most` means those that `explore` puts first: all flips, and others until there
            are `SAMPLE`; with a budget as many as it allows.
        budget: Bytes of all embedded pairs together; `None`: no limit for `all`, else `BUDGET`.
        seal: As for `explore`.
        notify: Told why nothing can be embedded, where that is a fault.
    """

    what: What = "most"
    budget: int | None = None
    seal: Seal | None = None
    notify: Callable[[str], None] = lambda text: None

    @property
    def limit(self) -> int | None:
        """The budget that holds."""
        if self.budget is None and self.what != "all":
            return BUDGET
        return self.budget

    @property
    def sample(self) -> int | None:
        """How many pairs are enough, when there are not more flips; `None` for no such number."""
        return SAMPLE if self.what == "most" and self.budget is None else None


def embedded_pairs(
    folder: Path,
    comparison: Comparison,
    words: Words,
    embedding: Embedding,
    known: Exploration | None = None,
) -> Embedded | str:
    """Return what the page embeds, or a word for why it embeds nothing.

    Args:
        folder: Of the comparison.
        comparison: What it says.
        words: Of the page.
        embedding: What is wanted.
        known: What `Embedding()` embeds of a comparison that has just been made; it is what
            the runs say, which are not read again then.

    Returns:
        The pairs, or `none` (not wanted), `gone` (there are no runs), `changed` (the runs say
        something else than the comparison), or `unreadable`.
    """
    if embedding.what == "none":
        return "none"
    runs = find_runs(comparison, folder, ())
    if runs is None:
        return "gone"
    reviewed = any(result.review is not None for result in comparison.results)
    if known is not None and embedding.sample and embedding.seal is None and not reviewed:
        return embed(known, words, embedding.limit)
    # Scorers and statistics are slow to import, and needed here alone.
    from evalkit.stages.exploring import Unexplored, explore

    try:
        if reviewed:
            # The runs hold the scores from before the review, and so does the file.
            comparison = replace(load_comparison(folder), redacted=comparison.redacted)
        folders = [open_run(run) for run in runs]
        found = explore(
            folders, comparison, embedding.what, sample=embedding.sample, seal=embedding.seal
        )
        return embed(found, words, embedding.limit)
    except Unexplored as none:
        return none.reason
    except EvalKitError as error:
        embedding.notify(f"the page shows no single pairs: {error.message}")
        return "unreadable"
