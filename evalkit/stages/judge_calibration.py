"""How far a judge can be trusted: its verdicts beside people's labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from evalkit.errors import UsageError
from evalkit.estimates import Estimate
from evalkit.policy import FalseAnswers
from evalkit.policy import Judge as PolicyJudge
from evalkit.scoring.judge import Rulings, failures
from evalkit.stages.judge_labels import Labelled
from evalkit.stats.judge import JudgeCalibration, differential_pvalue
from evalkit.stats.rates import wilson
from evalkit.types import Outcome

_DIFFERS: Final = 0.05
OUTCOMES: Final = (Outcome.CORRECT, Outcome.INCORRECT, Outcome.ABSTAINED)


@dataclass(frozen=True, slots=True)
class ByEndpoint:
    """How a judge did on one endpoint's answers.

    Attributes:
        pvalue: Smallest of its two rates against those of all other answers, times the number
            of such tests (Bonferroni); `None` where there is nothing to compare.
    """

    endpoint: str
    sensitivity: Estimate
    specificity: Estimate
    pvalue: float | None


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A judge beside people.

    Rates have Wilson's intervals. Where the judge gave no readable verdict there is nothing
    to compare: those are counted apart, as they are missing data in a comparison.

    Attributes:
        mark: Of judge, rubric and sampling.
        labels: Answers that have a label.
        table: From each label to the verdicts, with counts.
        sensitivity: Share of right answers that it calls right.
        specificity: Share of others that it does not call right.
        finds_false: Share of false assertions that it calls so; without a number where no
            such answer is labelled.
        spares_others: Share of others that it does not call false assertions.
        failures: Why answers have no verdict, with counts.
        agreement: Share of the answers, all asked twice in another order, on which it agrees
            with itself.
        endpoints: The rates by whose answers they are, where the labels tell.
    """

    mark: str
    labels: int
    table: Mapping[Outcome, Mapping[Outcome, int]]
    sensitivity: Estimate
    specificity: Estimate
    finds_false: Estimate
    spares_others: Estimate
    failures: Mapping[str, int]
    agreement: Estimate
    endpoints: tuple[ByEndpoint, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether it errs otherwise on some endpoint's answers: then the correction is off."""
        return any(one.pvalue is not None and one.pvalue < _DIFFERS for one in self.endpoints)

    @property
    def usable(self) -> bool:
        """Whether there is a verdict on labelled answers of both kinds: else it has no rates."""
        return self.sensitivity.value is not None and self.specificity.value is not None

    def policy(self) -> PolicyJudge | None:
        """Return what a policy takes; `None` when there are no rates."""
        if self.sensitivity.value is None or self.specificity.value is None:
            return None
        false = None
        if self.finds_false.value is not None and self.spares_others.value is not None:
            false = FalseAnswers(
                sensitivity=round(self.finds_false.value, 6),
                specificity=round(self.spares_others.value, 6),
                n_false=self.finds_false.n,
                n_other=self.spares_others.n,
            )
        return PolicyJudge(
            sensitivity=round(self.sensitivity.value, 6),
            specificity=round(self.specificity.value, 6),
            n_right=self.sensitivity.n,
            n_wrong=self.specificity.n,
            hallucination=false,
            judge=self.mark,
        )

    def metrics(self) -> dict[str, JudgeCalibration]:
        """Return what corrects each metric; nothing where there are no rates."""
        found = self.policy()
        if found is None:
            return {}
        rates = {
            "accuracy": JudgeCalibration(
                found.sensitivity, found.specificity, found.n_right, found.n_wrong
            )
        }
        if (false := found.hallucination) is not None:
            rates["hallucination"] = JudgeCalibration(
                false.sensitivity, false.specificity, false.n_false, false.n_other
            )
        return rates

    @property
    def weak(self) -> bool:
        """Whether a comparison would be `INVALID` with the reason `JUDGE_WEAK`."""
        found = self.metrics()
        return not found or any(one.weak for one in found.values())


def beside_labels(labelled: Sequence[Labelled], rulings: Rulings, mark: str) -> Calibrated:
    """Set a judge's verdicts beside people's labels."""
    counts: Counter[tuple[Outcome, Outcome]] = Counter()
    reasons: list[str | None] = []
    for one in labelled:
        ruling = rulings.by_key.get(one.item.key)
        if ruling is not None and ruling.outcome is not None:
            counts[one.label, ruling.outcome] += 1
        else:
            reasons.append("judge:not_asked" if ruling is None else ruling.reason)
    agreed, twice = rulings.agreement()

    def rate(kind: Outcome, *, is_it: bool) -> Estimate:
        """Of the answers that are of a kind, or are not: the share of which it says so."""
        rows = {pair: n for pair, n in counts.items() if (pair[0] is kind) is is_it}
        told = sum(n for (_, verdict), n in rows.items() if (verdict is kind) is is_it)
        return wilson(told, sum(rows.values()))

    return Calibrated(
        mark=mark,
        labels=len(labelled),
        table={
            label: {verdict: counts[label, verdict] for verdict in OUTCOMES} for label in OUTCOMES
        },
        sensitivity=rate(Outcome.CORRECT, is_it=True),
        specificity=rate(Outcome.CORRECT, is_it=False),
        finds_false=rate(Outcome.INCORRECT, is_it=True),
        spares_others=rate(Outcome.INCORRECT, is_it=False),
        failures=failures(reasons),
        agreement=wilson(agreed, twice),
        endpoints=_by_endpoint(labelled, rulings),
    )


def _by_endpoint(labelled: Sequence[Labelled], rulings: Rulings) -> tuple[ByEndpoint, ...]:
    """Set the rates of each endpoint's answers beside those of all others."""
    counts: Counter[tuple[str | None, bool, bool]] = Counter()
    for one in labelled:
        ruling = rulings.by_key.get(one.item.key)
        if ruling is not None and ruling.outcome is not None:
            right = one.label is Outcome.CORRECT
            agrees = (ruling.outcome is Outcome.CORRECT) is right
            counts[one.endpoint, right, agrees] += 1
    names = sorted({name for name, _, _ in counts if name is not None})

    def told(right: bool, names: set[str | None]) -> tuple[int, int]:
        hits = sum(counts[name, right, True] for name in names)
        return hits, hits + sum(counts[name, right, False] for name in names)

    groups = {name for name, _, _ in counts}
    # Two groups are one comparison, of two rates.
    tried = 2 * len(names) if len(groups) > 2 else 2
    found = []
    for name in names:
        mine = [told(right, {name}) for right in (True, False)]
        theirs = [told(right, groups - {name}) for right in (True, False)]
        tests = [differential_pvalue(*m, *o) for m, o in zip(mine, theirs, strict=True)]
        known = [p for p in tests if p is not None]
        pvalue = min(1.0, tried * min(known)) if known else None
        found.append(ByEndpoint(name, wilson(*mine[0]), wilson(*mine[1]), pvalue))
    return tuple(found)


def policy_yaml(calibrated: Calibrated, tasksets: Sequence[str], comment: str) -> str:
    """Return the part of a policy that tells of a judge: a policy file by itself.

    Raises:
        UsageError: When there are no rates.
    """
    found = calibrated.policy()
    if found is None:
        raise UsageError(
            "The judge gave no readable verdict on answers of both kinds: there is no calibration.",
            hint="Label answers of both kinds, or take another judge.",
        )
    block: dict[str, Any] = {"judges": {name: found.model_dump(mode="json") for name in tasksets}}
    text = yaml.safe_dump(block, sort_keys=False, allow_unicode=True)
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + text
