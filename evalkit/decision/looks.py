"""Which look at the data a comparison is, and whether its plan allows it.

A look is a decision on a set of answers that was not decided on before. The same answers
decided again are the same look, and so are the same prompts when some that failed have
been answered since. What was invalid for another reason told nothing and is no look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evalkit.fingerprint import digest
from evalkit.policy import PlanName, Policy
from evalkit.results import Look, ReasonCode

# How many prompts of a taskset, and the digest of them in the order of drawing.
Extent = tuple[int, str]


@dataclass(frozen=True, slots=True)
class PastLook:
    """A look of the ledger, at one candidate beside one baseline.

    Attributes:
        prompts: By taskset.
        stage: Of a two-stage plan.
        runs: Ids of the two collections of answers.
        planned: Whether it was allowed; one that was not could not ship.
    """

    prompts: Mapping[str, Extent]
    stage: int
    runs: tuple[str, str]
    planned: bool = field(default=True, compare=False)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a comparison rests on.

    Attributes:
        order: Hashes of the prompts of each taskset, in the order of drawing.
        first: How many of them are of stage 1, by taskset.
        stage: The last stage that was asked.
        runs: Ids of the two collections of answers.
    """

    order: Mapping[str, tuple[str, ...]]
    first: Mapping[str, int]
    stage: int
    runs: tuple[str, str]

    def extents(self) -> dict[str, Extent]:
        """Return what the ledger keeps of the prompts."""
        return {name: (len(hashes), digest(hashes)) for name, hashes in self.order.items()}

    def extends(self, past: PastLook) -> bool:
        """Whether these prompts begin with those of an earlier look, answered as they were."""
        return (
            self.runs == past.runs
            and self.order.keys() == past.prompts.keys()
            and all(
                n <= len(self.order[name]) and digest(self.order[name][:n]) == known
                for name, (n, known) in past.prompts.items()
            )
        )


def find_look(history: Sequence[PastLook], asked: Asked, plan: PlanName) -> Look:
    """Say which look this is.

    Args:
        history: Earlier looks at these two endpoints, the first one first; repeats are fine.
        asked: What is decided on now.
        plan: That was fixed before the run.
    """
    distinct: list[PastLook] = []
    for past in history:
        if past not in distinct:
            distinct.append(past)
    present = PastLook(asked.extents(), asked.stage, asked.runs)
    if present in distinct:
        number = distinct.index(present) + 1
        earlier = distinct[: number - 1]
    else:
        earlier, number = distinct, len(distinct) + 1
    return Look(number, asked.stage, plan, _planned(earlier, asked, plan))


def unplanned_look(look: Look, policy: Policy) -> tuple[ReasonCode, ...]:
    """Return the reason why a look decides nothing; empty when the plan allows it.

    The chance that any of k looks ships a bad candidate is at most k times the level.
    """
    if look.planned:
        return ()
    bound = min(1.0, look.number * policy.alpha)
    values = {"look": look.number, "plan": look.plan, "alpha": policy.alpha, "bound": bound}
    return (ReasonCode("UNPLANNED_LOOK", values=values),)


def _planned(earlier: Sequence[PastLook], asked: Asked, plan: PlanName) -> bool:
    if not earlier:
        return True
    if plan == "sequential":
        # Evidence holds at every look at once, so those that could not ship cost nothing.
        allowed = [past for past in earlier if past.planned]
        return not allowed or asked.extends(allowed[-1])
    # What a look showed of prompts to come would let one choose how many to ask.
    if plan == "single" or len(earlier) > 1:
        return False
    first = earlier[0]
    own = {name: n for name, (n, _) in first.prompts.items()}
    return asked.stage > first.stage and own == asked.first and asked.extends(first)
