"""pass@k from pairs or answers: repeats of a prompt become one graded score of it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from evalkit.decision.pairing import Answer, Pair
from evalkit.estimates import Estimate
from evalkit.passrates import PassAtK
from evalkit.stats.passk import (
    pass_difference,
    pass_rate,
    pass_scores,
    usual_tries,
)
from evalkit.types import Family, Outcome

EXACT = (Family.CODE, Family.MATH)
"""Families in which somebody who tries k times can tell the right answer (or test it)."""


class Tries:
    """How often each prompt was answered, and how often rightly: two numbers a prompt."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, list[int]] = {}
        self._units: list[Hashable] = []

    def add(self, prompt: Hashable, unit: Hashable, *right: bool) -> None:
        """Count one answer to a prompt, of one arm or of several.

        Args:
            prompt: Names the prompt.
            unit: Names the independent unit that it belongs to.
            right: Whether the answer is right, one an arm.
        """
        counts = self._counts(prompt, unit, len(right))
        counts[0] += 1
        for place, one in enumerate(right, 1):
            counts[place] += one

    def add_unanswered(self, prompt: Hashable, unit: Hashable, arms: int = 1) -> None:
        """Know of a prompt that an answer is missing of."""
        self._counts(prompt, unit, arms)

    def _counts(self, prompt: Hashable, unit: Hashable, arms: int) -> list[int]:
        counts = self._seen.get(prompt)
        if counts is None:
            counts = self._seen[prompt] = [0] * (1 + arms)
            self._units.append(unit)
        return counts

    def __len__(self) -> int:
        return len(self._seen)

    @property
    def most(self) -> int:
        """The most answers that any prompt has."""
        return max((counts[0] for counts in self._seen.values()), default=0)

    @property
    def least(self) -> int:
        """The fewest answers that any prompt has."""
        return min((counts[0] for counts in self._seen.values()), default=0)

    def scores(self, k: int) -> tuple[list[NDArray[np.float64]], NDArray[np.int64]]:
        """Return pass@k by prompt for each arm, and the unit of each prompt.

        Prompts with fewer than k answers have no pass@k and are left out.
        """
        table = np.array(list(self._seen.values()), dtype=np.int64)
        kept = table[:, 0] >= k if table.size else np.zeros(0, np.bool_)
        numbers: dict[Hashable, int] = {}
        units = np.array(
            [numbers.setdefault(unit, len(numbers)) for unit in self._units], dtype=np.int64
        )
        if not kept.any():
            return [], units[:0]
        tried, *arms = table[kept].T
        return [pass_scores(tried, right, k) for right in arms], units[kept]

    def rates(self, wanted: Collection[int] = ()) -> dict[int, Estimate]:
        """Return the first arm's mean pass@k by k; nothing where no prompt was tried twice.

        Args:
            wanted: Which k; by default the usual ones, as far as every answered prompt has
                so many answers.
        """
        if self.most < 2:
            return {}
        found = {k: self.scores(k) for k in sorted(wanted) or usual_tries(self.least)}
        return {k: pass_rate(arms[0], units) for k, (arms, units) in found.items() if arms}


def is_right(answer: Answer) -> bool:
    """Whether an answer counts as a pass."""
    return answer.outcome is Outcome.CORRECT


def measure_passes(
    pairs: Sequence[Pair], epochs: int, wanted: Collection[int] = ()
) -> tuple[PassAtK, ...]:
    """Compare pass@k of both arms in the families with exact answers.

    It decides nothing: the gate reads the mean over all answers.

    Args:
        pairs: All pairs; incomplete ones are left out.
        epochs: How often every prompt was asked.
        wanted: Which k; by default 1, 2, 3, 5, 10, ... up to `epochs`.

    Returns:
        By family, then by k; nothing with a single epoch.
    """
    if epochs < 2:
        return ()
    families: dict[str, Tries] = {}
    for pair in pairs:
        if pair.sample.family not in EXACT:
            continue
        tries = families.setdefault(pair.sample.family.value, Tries())
        prompt = pair.sample.taskset, pair.sample.id
        if pair.complete:
            tries.add(prompt, pair.unit, is_right(pair.baseline), is_right(pair.candidate))
        else:
            tries.add_unanswered(prompt, pair.unit, arms=2)
    ks = sorted(wanted) if wanted else usual_tries(epochs)
    found = (_measured(family, tries, k) for family, tries in families.items() for k in ks)
    return tuple(one for one in found if one is not None)


def _measured(family: str, tries: Tries, k: int) -> PassAtK | None:
    arms, units = tries.scores(k)
    if not arms:
        return None
    baseline, candidate = arms
    clusters = None if len(set(units.tolist())) == units.size else units
    return PassAtK(
        scope=family,
        k=k,
        prompts=units.size,
        left_out=len(tries) - units.size,
        baseline=pass_rate(baseline, clusters),
        candidate=pass_rate(candidate, clusters),
        difference=pass_difference(candidate, baseline, clusters),
    )
