"""The calculator's numbers as text, and what they show as one sentence."""

from __future__ import annotations

import math
from collections.abc import Iterator

from evalkit.decision.calculator import Calculation
from evalkit.estimates import Estimate, TestResult
from evalkit.report import numbers
from evalkit.results import MetricState

_LABEL = 37
_REFUSALS = {
    "baseline_too_low": "not given: under 10% or 30 right answers of the baseline, a ratio says "
    "nothing",
    "unbounded": "not given: it is unbounded",
}


def render(calculation: Calculation) -> str:
    """Return everything as lines for a terminal; points and percent."""
    blocks = (
        _rates(calculation),
        _difference(calculation),
        _tests(calculation),
        _recovery(calculation),
        _opinions(calculation),
        _sizes(calculation),
    )
    text = "\n\n".join("\n".join(block) for block in blocks)
    return f"{text}\n\n{conclusion(calculation)}"


def conclusion(calculation: Calculation) -> str:
    """Say in one sentence what the counts show at the margin, in the words of the gate."""
    state, margin = calculation.state, margin_words(calculation.margin)
    start = f"At a margin of {margin} the candidate is {state.value}"
    better, worse = calculation.noninferiority.pvalue, calculation.degradation.pvalue
    sentences = {
        MetricState.SUPERIOR: f"{start}: the 95% interval lies above zero.",
        MetricState.NONINFERIOR: f"{start}: a loss of {margin} or more is ruled out "
        f"({pvalue(better)}).",
        MetricState.NONINFERIOR_WORSE: f"{start}: a loss of {margin} or more is ruled out "
        f"({pvalue(better)}), but the 95% interval lies below zero.",
        MetricState.INFERIOR: f"{start}: the loss is more than {margin} ({pvalue(worse)}).",
        MetricState.INCONCLUSIVE_WORSE: f"{start}: the 95% interval lies below zero, and "
        f"whether the loss stays within {margin} is not shown; {_outlook(calculation)}.",
        MetricState.INCONCLUSIVE: f"At a margin of {margin} the counts are inconclusive: neither "
        f"a loss within {margin} ({pvalue(better)}) nor one beyond ({pvalue(worse)}) is shown; "
        f"{_outlook(calculation)}.",
        MetricState.TOO_FEW: f"{count(calculation.cells.n, 'pair')} "
        f"{'is' if calculation.cells.n == 1 else 'are'} too few pairs: nothing is decided on "
        "fewer than 10.",
    }
    return sentences[state]


def margin_words(margin: float) -> str:
    """Write a margin with its unit: `2 points`, `1 point`, `0.5 points`."""
    size = f"{margin * 100:.10g}"
    return f"{size} {'point' if size == '1' else 'points'}"


def count(n: int, noun: str) -> str:
    """Write a count with its noun in the right number."""
    return f"{numbers.count(n)} {noun}{'' if n == 1 else 's'}"


def pvalue(value: float | None) -> str:
    """Write a p-value to four decimals."""
    if value is None:
        return f"p = {numbers.DASH}"
    if value < 0.0001:
        return "p < 0.0001"
    return "p > 0.9999" if 0.9999 < value < 1 else f"p = {value:.4f}"


def _rates(calculation: Calculation) -> Iterator[str]:
    cells = calculation.cells
    n = cells.n
    yield _line("pairs", f"{numbers.count(n)}, taken as independent")
    for label, right, rate in (
        ("baseline right", cells.both + cells.lost, calculation.baseline),
        ("candidate right", cells.both + cells.gained, calculation.candidate),
    ):
        yield _line(label, f"{numbers.count(right)} = {_percent(rate)}  Wilson 95%")
    flips = f"{count(cells.lost, 'loss').replace('losss', 'losses')}, {count(cells.gained, 'gain')}"
    yield _line("flips", f"{flips} = {_percent(calculation.flips)}  Wilson 95%")


def _difference(calculation: Calculation) -> Iterator[str]:
    yield "Difference in points, candidate minus baseline"
    level = f"{calculation.difference_90.confidence_level:.0%}"
    yield _line("  Tango score 95%", _points(calculation.difference))
    yield _line(
        f"  Tango score {level}", f"{_points(calculation.difference_90)}  the tests read it"
    )
    for check in calculation.cross_checks:
        note = "cross-check, too narrow with few flips" if check.method == "Wald" else "cross-check"
        yield _line(f"  {check.method} 95%", f"{_points(check)}  {note}")
    note = "do not use: it forgets the pairing"
    yield _line("  unpaired 95%", f"{_points(calculation.unpaired)}  {note}")


def _tests(calculation: Calculation) -> Iterator[str]:
    margin = margin_words(calculation.margin)
    yield f"Tests at a margin of {margin}, one-sided"
    yield _line(f"  non-inferior (loss under {margin})", _test(calculation.noninferiority))
    yield _line(f"  degraded (loss over {margin})", _test(calculation.degradation))
    yield _line(f"  equivalent (within ±{margin}, TOST)", _test(calculation.equivalence))
    if calculation.noninferiority.pvalue is not None and (
        calculation.noninferiority.pvalue <= calculation.alpha
    ):
        yield _line("  more losses it would stand", _tipping(calculation))
    yield "McNemar, whether flips lean to one side (says nothing about a margin)"
    yield _line("  exact", pvalue(calculation.mcnemar_exact.pvalue))
    yield _line("  mid-p", pvalue(calculation.mcnemar_midp.pvalue))


def _tipping(calculation: Calculation) -> str:
    turns = calculation.tipping_point
    return "any number" if turns is None else numbers.count(turns - 1)


def _recovery(calculation: Calculation) -> Iterator[str]:
    yield "Recovery, candidate ÷ baseline (for display; over 100% is no proof of a gain)"
    estimate = calculation.recovery
    if estimate.value is None:
        reasons = [_REFUSALS.get(warning, warning) for warning in estimate.warnings]
        yield _line("  score 95%", "; ".join(reasons))
        return
    yield _line("  score 95%", _percent(estimate))
    for check in calculation.recovery_checks:
        yield _line(f"  {check.method} 95%", f"{_percent(check)}  cross-check")


def _opinions(calculation: Calculation) -> Iterator[str]:
    margin = margin_words(calculation.margin)
    yield "Second opinions, never the gate"
    chance = calculation.probability_degraded
    yield _line(f"  P(loss over {margin}), Bayesian", _probability(chance))
    needed = numbers.count(1 / calculation.alpha)
    yield _line("  e-value, non-inferior", f"{_e(calculation.log_e_noninferior)}  {needed} decides")
    yield _line("  e-value, degraded", f"{_e(calculation.log_e_degraded)}  at any look")
    lower = numbers.points(calculation.lower_confidence_sequence, 2)
    yield _line("  lower limit at every look, 95%", f"{lower} points")


def _sizes(calculation: Calculation) -> Iterator[str]:
    needed, margin = calculation.needed, margin_words(calculation.margin)
    yield f"Pairs needed for {margin}, {calculation.power:.0%} power"
    yield _line("  without any flip, at least", numbers.count(needed.floor))
    yield _line("  if truly equal", _size(needed.equal_models))
    near = "; near the margin" if needed.near_margin else ""
    yield _line("  if the difference is as seen", _size(needed.observed) + near)
    smallest = calculation.smallest_margin
    text = "none" if smallest >= 1 else f"{smallest * 100:.2f} points"
    yield _line("  smallest margin for so many pairs", f"{text}, if truly equal")


def _outlook(calculation: Calculation) -> str:
    needed, n = calculation.needed, calculation.cells.n
    if n < needed.floor:
        return (
            f"{count(n, 'pair')} can never prove {margin_words(calculation.margin)} from equal "
            f"answers: even with no flip, at least {numbers.count(needed.floor)} are needed"
        )
    if needed.equal_models is not None and needed.equal_models > n:
        return (
            f"if the two are truly equal, {count(needed.equal_models, 'pair')} decide with "
            f"{calculation.power:.0%} chance"
        )
    if needed.observed is None or needed.near_margin:
        return "the difference lies so near the margin that more pairs will not settle it"
    return (
        f"there were enough pairs for equal endpoints; if the difference is as seen, "
        f"{count(needed.observed, 'pair')} decide with {calculation.power:.0%} chance"
    )


def _size(n: int | None) -> str:
    return "no number of pairs decides" if n is None else numbers.count(n)


def _line(label: str, text: str) -> str:
    return f"{label:<{_LABEL}}  {text}"


def _points(estimate: Estimate) -> str:
    low, high = numbers.points(estimate.low, 2), numbers.points(estimate.high, 2)
    return f"{numbers.points(estimate.value, 2):>6} {numbers.interval(low, high)}"


def _percent(estimate: Estimate) -> str:
    low = numbers.bare_percent(estimate.low, 2)
    high = numbers.bare_percent(estimate.high, 2)
    return f"{numbers.percent(estimate.value, 2)} {numbers.interval(low, high)}"


def _test(test: TestResult) -> str:
    statistic = test.statistic
    if statistic is None:
        return pvalue(test.pvalue)
    text = f"{abs(statistic):.3f}"
    sign = "−" if statistic < 0 and float(text) else ""
    return f"{pvalue(test.pvalue)}  z = {sign}{text}"


def _probability(value: float) -> str:
    if value < 0.0001:
        return "< 0.0001"
    return "> 0.9999" if value > 0.9999 else f"{value:.4f}"


def _e(log_value: float) -> str:
    if log_value >= math.log(1e6):
        return "> 1,000,000"
    if log_value < math.log(1e-3):
        return "< 0.001"
    value = math.exp(log_value)
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
