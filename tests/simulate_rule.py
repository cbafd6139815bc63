"""Error rates of the decision rule and its plans, by simulation through the rule itself.

Sections of the specification: the table of step 2 (`rule`, seed 9090), sequential plans (f),
two stages (g) and judges (i). Run with the others by `python -m tests.simulate`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from evalkit.decision.evidence import parts_of, read
from evalkit.decision.further import needed_by_plan
from evalkit.decision.metrics import MetricPlan, measure, settle
from evalkit.decision.tables import Table
from evalkit.decision.verdict import decide
from evalkit.policy import Policy
from evalkit.results import VerdictState
from evalkit.stats.judge import JudgeCalibration
from evalkit.types import Family
from tests.simulate import Row, chance

MARGIN = 0.02
FAMILIES = tuple(Family)
SINGLE, TWO_STAGE = Policy(), Policy(plan="two-stage")
SEQUENTIAL = Policy(plan="sequential")
# Chances of a gain and of a loss of a pair at a true difference.
EQUAL, BETTER, AT_MARGIN = (0.03, 0.03), (0.0325, 0.0275), (0.02, 0.04)
FAR_BETTER, BROKEN = (0.045, 0.015), (0.015, 0.065)
# Truth of the first family and of the others; LOW, HIGH, INC at n = 300, 1000 and 3000.
RULE: Mapping[str, tuple[tuple[float, float], tuple[float, float], tuple[tuple[float, ...], ...]]]
RULE = {
    "all equal": (EQUAL, EQUAL, ((0.008, 0.001), (0.347, 0.000), (0.985, 0.000))),
    "all +0.5": (BETTER, BETTER, ((0.035, 0.000), (0.725, 0.000), (0.999, 0.000))),
    "one at -d": (AT_MARGIN, EQUAL, ((0.000, 0.012), (0.020, 0.010), (0.050, 0.009))),
    "one at -d, rest +3": (
        AT_MARGIN,
        FAR_BETTER,
        ((0.039, 0.012), (0.052, 0.010), (0.054, 0.011)),
    ),
    "one at -5": (BROKEN, EQUAL, ((0.000, 0.347), (0.000, 0.892), (0.000, 1.000))),
    "all at -d": (AT_MARGIN, AT_MARGIN, ((0.000, 0.048), (0.000, 0.048), (0.000, 0.053))),
}
SIZES = (300, 1000, 3000)
# Flips, true difference: chance to ship and mean n of the e-process, looks every 50 to 3000.
PEEKING = {
    (0.06, -0.02): (0.023, None),
    (0.06, 0.0): (0.956, 1247),
    (0.06, 0.01): (1.0, 569),
    (0.12, 0.0): (0.625, 2049),
}
# Flips: type I of two stages that begin with 500.
STAGED = {0.06: 0.048, 0.12: 0.052}
# Sensitivity and specificity: type I of the judge's own figures, and corrected.
JUDGED = {
    (1.0, 1.0): (0.049, 0.053),
    (0.95, 0.95): (0.077, 0.051),
    (0.9, 0.9): (0.103, 0.049),
    (0.85, 0.8): (0.142, 0.051),
}


def table(gained: int, lost: int, n: int) -> Table:
    """Make a paired table of so many gains and losses."""
    baseline, candidate = np.zeros(n), np.zeros(n)
    candidate[:gained] = 1.0
    baseline[gained : gained + lost] = 1.0
    return Table(baseline, candidate, None)


def drawn(truth: tuple[float, float], n: int, rng: np.random.Generator) -> Table:
    """Draw a paired table."""
    gained, lost, _ = rng.multinomial(n, [*truth, 1 - sum(truth)])
    return table(int(gained), int(lost), n)


def rule_states(
    first: tuple[float, float], rest: tuple[float, float], n: int, runs: int, seed: int
) -> dict[VerdictState, float]:
    """Share of each verdict: five families of n pairs, each with two points of its own."""
    rng = np.random.default_rng(seed)
    states: Counter[VerdictState] = Counter()
    for _ in range(runs):
        metrics = [
            measure(
                MetricPlan("accuracy", family.value, MARGIN, True),
                [drawn(first if place == 0 else rest, n, rng)],
                SINGLE,
            )
            for place, family in enumerate(FAMILIES)
        ]
        states[decide(settle(metrics, SINGLE), ()).state] += 1
    return {state: states[state] / runs for state in VerdictState}


def section_rule(runs: int, sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    """Operating characteristics of step 2."""
    for place, (name, (first, rest, published)) in enumerate(RULE.items()):
        for n, (low, high) in zip(SIZES, published, strict=True):
            if n not in sizes:
                continue
            found = rule_states(first, rest, n, runs, 9090 + place)
            for state, value in ((VerdictState.SHIP, low), (VerdictState.HOLD, high)):
                error = chance(value, runs, 5000)
                yield Row("rule", f"{name}, n={n}", state.value, value, found[state], error)


def peeking(
    flips: float, difference: float, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Chance that a sequential plan ever ships, and where it stops, with a look every 50."""
    gains, losses = (flips + difference) / 2, (flips - difference) / 2
    shipped, stopped = 0, 0
    for _ in range(runs):
        steps = rng.multinomial(50, [gains, losses, 1 - flips], size=60).cumsum(axis=0)
        for look, (gained, lost, _rest) in enumerate(steps, start=1):
            found = read([table(gained, lost, 50 * look)], "CC", MARGIN, SEQUENTIAL)
            if found.noninferior is not None and found.noninferior <= SEQUENTIAL.alpha:
                shipped += 1
                break
        stopped += 50 * look
    return shipped / runs, stopped / runs


def section_f(runs: int) -> Iterator[Row]:
    """A sequential plan that is looked at sixty times."""
    for (flips, difference), (published, size) in PEEKING.items():
        setting = f"flips={flips:.0%} difference={100 * difference:+.0f}"
        rng = np.random.default_rng(round(8800 + 1000 * flips + 1000 * difference))
        ships, stops = peeking(flips, difference, runs, rng)
        yield Row("f", setting, "e-process ships", published, ships, chance(published, runs, 3000))
        if size is not None:
            # The sizes at which it stops vary by about half of their mean.
            error = 3.5 * 0.6 * size * math.sqrt(1 / runs + 1 / 3000)
            yield Row("f", setting, "mean pairs", size, stops, error)


def staged(flips: float, difference: float, runs: int, rng: np.random.Generator) -> float:
    """Chance that a two-stage plan ships, the second stage as large as the rule asks for."""
    truth = (flips + difference) / 2, (flips - difference) / 2
    shipped = 0
    for _ in range(runs):
        first = drawn(truth, 500, rng)
        found = read([first], "CC", MARGIN, TWO_STAGE)
        if (found.noninferior or 1.0) > TWO_STAGE.alpha:
            parts = parts_of([first], "CC")
            more = needed_by_plan(parts, found, margin=MARGIN, policy=TWO_STAGE).more
            second = drawn(truth, min(3500, max(10, more)), rng)
            found = read([_in_stages(first, second)], "CC", MARGIN, TWO_STAGE)
        shipped += (found.noninferior or 1.0) <= TWO_STAGE.alpha
    return shipped / runs


def _in_stages(first: Table, second: Table) -> Table:
    sizes = [len(first.baseline), len(second.baseline)]
    return Table(
        np.concatenate([first.baseline, second.baseline]),
        np.concatenate([first.candidate, second.candidate]),
        None,
        np.repeat([1, 2], sizes),
    )


def section_g(runs: int) -> Iterator[Row]:
    """Two stages, the second sized by the first."""
    for flips, published in STAGED.items():
        rng = np.random.default_rng(round(111 + 100 * flips + 1000 * MARGIN))
        ships = staged(flips, -MARGIN, runs, rng)
        setting = f"flips={flips:.0%} at the margin"
        yield Row("g", setting, "two stages ship", published, ships, chance(published, runs))


def judged(
    sensitivity: float, specificity: float, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Type I at the margin of what a judge reports: as it is, and corrected by the rule."""
    n, labels, base = 2000, 200, 0.85
    gains, losses = AT_MARGIN
    naive = corrected = 0
    for _ in range(runs):
        right = rng.random(n) < base
        draw = rng.random(n)
        after = np.where(right, draw >= losses / base, draw < gains / (1 - base))
        seen = [_reported(answers, sensitivity, specificity, rng) for answers in (right, after)]
        judge = JudgeCalibration(
            rng.binomial(labels, sensitivity) / labels,
            rng.binomial(labels, specificity) / labels,
            labels,
            labels,
        )
        for known, name in ((None, "naive"), (judge, "corrected")):
            found = read([Table(seen[0], seen[1], None, judge=known)], "CC", MARGIN, SINGLE)
            passes = found.noninferior is not None and found.noninferior <= SINGLE.alpha
            naive += passes and name == "naive"
            corrected += passes and name == "corrected"
    return naive / runs, corrected / runs


def _reported(
    right: np.ndarray, sensitivity: float, specificity: float, rng: np.random.Generator
) -> np.ndarray:
    """Return what the judge says of answers, with errors that do not look at the arm."""
    draw = rng.random(right.size)
    return np.where(right, draw < sensitivity, draw >= specificity).astype(np.float64)


def section_i(runs: int) -> Iterator[Row]:
    """Judges that err, on both arms alike."""
    for place, ((sensitivity, specificity), published) in enumerate(JUDGED.items()):
        rng = np.random.default_rng(160 + place)
        setting = f"Se={sensitivity} Sp={specificity}"
        found = judged(sensitivity, specificity, runs, rng)
        for name, value, here in zip(("as reported", "corrected"), published, found, strict=True):
            yield Row("i", setting, name, value, here, chance(value, runs))
