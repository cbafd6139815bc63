"""Estimates, states and metrics as finished numbers and words."""

from __future__ import annotations

from typing import Final, Literal

from evalkit.estimates import Estimate
from evalkit.report import numbers
from evalkit.report.model import MetricRow, Number, State
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.results import MetricResult, MetricState

_ICONS: Final = {
    MetricState.SUPERIOR: "✓",
    MetricState.NONINFERIOR: "✓",
    MetricState.NONINFERIOR_WORSE: "✓",
    MetricState.INFERIOR: "✗",
    MetricState.INCONCLUSIVE: "◔",
    MetricState.INCONCLUSIVE_WORSE: "◔",
    MetricState.TOO_FEW: "–",
}


def as_difference(words: Words, estimate: Estimate) -> Number:
    """Write a difference in points with its interval."""
    digits = numbers.digits_for(estimate.n)
    return _number(
        words,
        estimate,
        numbers.points(estimate.value, digits),
        numbers.interval(
            numbers.points(estimate.low, digits), numbers.points(estimate.high, digits)
        ),
    )


def as_percent(words: Words, estimate: Estimate | None, digits: int) -> Number:
    """Write a rate in percent with its interval; `None` reads as not measured."""
    if estimate is None:
        return Number(numbers.DASH, note=words("warn.none"))
    return _number(
        words,
        estimate,
        numbers.percent(estimate.value, digits),
        numbers.interval(
            numbers.bare_percent(estimate.low, digits),
            numbers.bare_percent(estimate.high, digits),
        ),
    )


def as_ratio(words: Words, estimate: Estimate) -> Number:
    """Write a recovery in percent with its interval."""
    return as_percent(words, estimate, numbers.digits_for(estimate.n))


def scope_label(words: Words, scope: str) -> str:
    """Return what readers call a scope."""
    return words.name("scope", one_line(scope))


def metric_state(words: Words, metric: MetricResult) -> State:
    """Return where an interval lies, in words; ungated metrics are marked as alarm only."""
    short = words(f"metric_state.{metric.state.value}")
    text = short if metric.gated else words("metric_state.alarm", state=short)
    return State(metric.state.name, _ICONS[metric.state], text, short)


def metric_row(words: Words, metric: MetricResult, *, valid: bool) -> MetricRow:
    """Return one metric as a test case of the gate.

    Args:
        words: The catalogue.
        metric: The metric in its scope.
        valid: Whether the comparison is valid; otherwise nothing was judged.
    """
    outcome: Literal["passed", "failed", "skipped"] = "skipped"
    if valid and metric.degraded:
        outcome = "failed"
    elif valid and metric.noninferior:
        outcome = "passed"
    difference = as_difference(words, metric.difference)
    state = metric_state(words, metric)
    noninferior = numbers.pvalue(metric.p_noninferior)
    degraded = numbers.pvalue(metric.p_degraded_adjusted)
    text = words(
        "metric_line",
        metric=words(f"metric.{metric.metric}"),
        scope=scope_label(words, metric.scope),
        difference=difference.text,
        interval=difference.interval or f"({difference.note or words('warn.no_data')})",
        margin=numbers.size_in_points(metric.margin),
        n=numbers.count(metric.n),
        state=state.text if valid else words("metric_line.invalid"),
    )
    return MetricRow(
        scope=metric.scope,
        scope_label=scope_label(words, metric.scope),
        metric=metric.metric,
        metric_label=words(f"metric.{metric.metric}"),
        n=metric.n,
        n_text=numbers.count(metric.n),
        difference=difference,
        margin=numbers.size_in_points(metric.margin),
        state=state,
        outcome=outcome,
        gated=metric.gated,
        text=text,
        p_noninferior=noninferior,
        p_degraded=degraded,
        tests=words("metric_tests", noninferior=noninferior, degraded=degraded),
        open=valid and metric.gated and outcome == "skipped",
    )


def _number(words: Words, estimate: Estimate, text: str, interval: str) -> Number:
    notes = [words.name("warn", one_line(warning)) for warning in estimate.warnings]
    if estimate.value is None and not notes:
        notes = [words("warn.no_data")]
    return Number(
        text=text,
        interval=interval,
        note="; ".join(notes),
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
    )
