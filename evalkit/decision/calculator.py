"""Four counts to every number: what a reviewer checks a paired result with.

The pairs are taken as independent. Repeats of a prompt, or prompts about one passage, are
not; they need the runs themselves (`stats.engine`).
"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.decision.metrics import settle
from evalkit.decision.needed import prompts_needed
from evalkit.decision.sizes import smoothed_flips
from evalkit.estimates import Cells, Estimate, TestResult
from evalkit.policy import Policy
from evalkit.results import POOLED, MetricResult, MetricState, PromptsNeeded
from evalkit.stats.bayes import probability_degraded
from evalkit.stats.engine import from_counts
from evalkit.stats.mcnemar import mcnemar_exact, mcnemar_midp
from evalkit.stats.paired import degradation, noninferiority, tango, tipping_point, tost
from evalkit.stats.paired_checks import agresti_min, bonett_price, newcombe, unpaired, wald
from evalkit.stats.power import smallest_provable_margin
from evalkit.stats.rates import wilson
from evalkit.stats.recovery import recovery
from evalkit.stats.recovery_checks import recovery_bonett_price, recovery_fieller, recovery_log
from evalkit.stats.sequential import (
    log_e_degraded,
    log_e_noninferior,
    lower_confidence_sequence,
)


@dataclass(frozen=True, slots=True)
class Calculation:
    """Every number that four counts and a margin give. Fractions; see `results.Estimate`.

    Attributes:
        margin: Acceptable loss.
        difference: Candidate minus baseline with its 95% interval (Tango).
        difference_90: The interval that the one-sided tests read (90% at alpha 0.05).
        cross_checks: The same difference by other methods, 95%: never the gate.
        unpaired: What a harness that forgets the pairing prints.
        recovery: Refused (`value` is `None`) near a zero baseline; then there are no
            `recovery_checks` either.
        probability_degraded: Posterior probability of a loss beyond the margin.
        log_e_noninferior: Natural log of the e-value; valid at any look.
        lower_confidence_sequence: Lower limit of the difference at all looks at once.
        smallest_margin: What so many pairs can show, at these flips, if the endpoints are
            truly equal.
        tipping_point: Agreeing pairs that must turn into losses before non-inferiority is
            lost; `None` when not even all of them do that.
        state: Where the gate's rule puts these counts.
    """

    cells: Cells
    margin: float
    alpha: float
    power: float
    baseline: Estimate
    candidate: Estimate
    flips: Estimate
    difference: Estimate
    difference_90: Estimate
    cross_checks: tuple[Estimate, ...]
    unpaired: Estimate
    mcnemar_exact: TestResult
    mcnemar_midp: TestResult
    noninferiority: TestResult
    degradation: TestResult
    equivalence: TestResult
    recovery: Estimate
    recovery_checks: tuple[Estimate, ...]
    probability_degraded: float
    log_e_noninferior: float
    log_e_degraded: float
    lower_confidence_sequence: float
    needed: PromptsNeeded
    smallest_margin: float
    tipping_point: int | None
    state: MetricState


def calculate(cells: Cells, *, margin: float, policy: Policy) -> Calculation:
    """Compute everything from one paired table.

    Args:
        cells: At least one pair.
        margin: Acceptable loss, a fraction in (0, 1).
        policy: Level and power; its margins are not read.

    Raises:
        ValueError: Without pairs, for counts that are not counts, or a margin out of range.

    >>> c = calculate(Cells(1240, 30, 21, 28), margin=0.02, policy=Policy())
    >>> round(c.difference.value, 6), c.state.value
    (0.006823, 'non-inferior')
    """
    if min(cells.both, cells.gained, cells.lost, cells.neither) < 0 or cells.n == 0:
        raise ValueError(f"cells must hold counts with at least one pair, got {cells}")
    gained, lost, n = cells.gained, cells.lost, cells.n
    table = (cells.both, gained, lost, n)
    right = cells.both + gained, cells.both + lost
    ratio = recovery(*table)
    return Calculation(
        cells=cells,
        margin=margin,
        alpha=policy.alpha,
        power=policy.power,
        baseline=wilson(right[1], n),
        candidate=wilson(right[0], n),
        flips=wilson(gained + lost, n),
        difference=tango(gained, lost, n),
        difference_90=tango(gained, lost, n, confidence_level=1 - 2 * policy.alpha),
        cross_checks=(
            newcombe(cells.both, gained, lost, cells.neither),
            agresti_min(gained, lost, n),
            bonett_price(gained, lost, n),
            wald(gained, lost, n),
        ),
        unpaired=unpaired(right[0], right[1], n),
        mcnemar_exact=mcnemar_exact(gained, lost),
        mcnemar_midp=mcnemar_midp(gained, lost),
        noninferiority=noninferiority(gained, lost, n, margin=margin),
        degradation=degradation(gained, lost, n, margin=margin),
        equivalence=tost(gained, lost, n, margin=margin),
        recovery=ratio,
        recovery_checks=_ratio_checks(table) if ratio.value is not None else (),
        probability_degraded=probability_degraded(gained, lost, n, margin=margin),
        log_e_noninferior=log_e_noninferior(gained, lost, n, margin=margin),
        log_e_degraded=log_e_degraded(gained, lost, n, margin=margin),
        lower_confidence_sequence=lower_confidence_sequence(gained, lost, n, alpha=policy.alpha),
        needed=prompts_needed([from_counts(gained, lost, n)], margin=margin, policy=policy),
        smallest_margin=_smallest_margin(cells, policy),
        tipping_point=tipping_point(gained, lost, n, margin=margin, alpha=policy.alpha),
        state=_state(cells, margin, policy),
    )


def _ratio_checks(table: tuple[int, int, int, int]) -> tuple[Estimate, ...]:
    return recovery_log(*table), recovery_bonett_price(*table), recovery_fieller(*table)


def _smallest_margin(cells: Cells, policy: Policy) -> float:
    rate = smoothed_flips(cells.gained + cells.lost, cells.n)
    return smallest_provable_margin(cells.n, rate, alpha=policy.alpha, power=policy.power)


def _state(cells: Cells, margin: float, policy: Policy) -> MetricState:
    """Name the state by the gate's own rule, for this one metric."""
    gained, lost, n = cells.gained, cells.lost, cells.n
    p_noninferior = noninferiority(gained, lost, n, margin=margin).pvalue
    p_degraded = degradation(gained, lost, n, margin=margin).pvalue
    result = MetricResult(
        metric="accuracy",
        scope=POOLED,
        n=n,
        margin=margin,
        difference=tango(gained, lost, n),
        difference_90=tango(gained, lost, n, confidence_level=1 - 2 * policy.alpha),
        cells=cells,
        p_noninferior=p_noninferior,
        p_noninferior_worst=p_noninferior,
        p_degraded=p_degraded,
        p_degraded_adjusted=None,
        gated=True,
        noninferior=p_noninferior is not None and p_noninferior <= policy.alpha,
        degraded=False,
        state=MetricState.TOO_FEW,
    )
    return settle([result], policy)[0].state
