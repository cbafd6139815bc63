"""Step 2 of the decision rule: from settled metrics to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalkit.errors import ExitCode
from evalkit.estimates import Estimate
from evalkit.results import (
    MetricResult,
    MetricState,
    ReasonCode,
    Recommendation,
    Verdict,
    VerdictState,
)

EXIT_CODES = {
    VerdictState.SHIP: ExitCode.OK,
    VerdictState.HOLD: ExitCode.HOLD,
    VerdictState.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
    VerdictState.INVALID: ExitCode.INVALID,
}
_DEGRADED_CODES = {
    "accuracy": "DEGRADED_ACC",
    "hallucination": "HALLUCINATION_UP",
    "degenerate": "DEGENERATE_UP",
}


def decide(metrics: Sequence[MetricResult], invalid: Sequence[ReasonCode]) -> Verdict:
    """Decide about one candidate by itself.

    Args:
        metrics: Settled results (after Holm), gated and alarm-only ones.
        invalid: Reasons of step 0; any one makes the verdict `INVALID`.
    """
    if invalid:
        return _verdict(VerdictState.INVALID, invalid)
    degraded = [_degraded(metric) for metric in metrics if metric.degraded]
    if degraded:
        return _verdict(VerdictState.HOLD, degraded)
    open_metrics = [metric for metric in metrics if metric.gated and not metric.noninferior]
    if open_metrics:
        return _verdict(VerdictState.INCONCLUSIVE, [_open(metric) for metric in open_metrics])
    codes = [ReasonCode("ALL_NI")]
    codes += [
        ReasonCode("UNPROVEN", metric.scope, metric.metric, {"n": metric.n})
        for metric in metrics
        if not metric.gated and not metric.noninferior
    ]
    codes += [
        ReasonCode("BETTER", metric.scope, metric.metric)
        for metric in metrics
        if metric.state is MetricState.SUPERIOR
    ]
    return _verdict(VerdictState.SHIP, codes)


def with_flips(verdict: Verdict, excess: Estimate, limit: float) -> Verdict:
    """Add to a `SHIP` that many answers change beyond the baseline's own noise.

    Equal accuracy hides flips (Dutta et al. 2024): what used to work need not work any more.

    Args:
        verdict: Of one candidate; any other state stays as it is.
        excess: Flips of the candidate minus those of the baseline against itself.
        limit: The policy's, a fraction.
    """
    if verdict.state is not VerdictState.SHIP:
        return verdict
    values = {
        "excess_rate": excess.value,
        "low_rate": excess.low,
        "high_rate": excess.high,
        "limit_rate": limit,
        "n": excess.n,
    }
    return replace(verdict, codes=(*verdict.codes, ReasonCode("FLIPS_HIGH", values=values)))


def decide_in_sequence(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Correct the verdicts of several candidates, ordered from safest to cheapest.

    Fixed sequence (Maurer et al. 1995): testing stops at the first candidate that does not
    ship, so a later one cannot ship either. A candidate that is degraded while a safer one
    is degraded too is left to a human.
    """
    decided: list[Verdict] = []
    for verdict in verdicts:
        state = verdict.state
        if state is VerdictState.SHIP and any(v.state is not VerdictState.SHIP for v in decided):
            verdict = _verdict(
                VerdictState.INCONCLUSIVE, [ReasonCode("SEQUENCE_STOPPED"), *verdict.codes]
            )
        elif state is VerdictState.HOLD and any(_is_degraded(v) for v in decided):
            verdict = _verdict(
                VerdictState.INCONCLUSIVE, [ReasonCode("BOTH_DEGRADED"), *verdict.codes]
            )
        decided.append(verdict)
    return decided


def recommend(
    baseline: str, candidates: Sequence[str], verdicts: Sequence[Verdict]
) -> Recommendation:
    """Name the endpoint to ship: the cheapest candidate with `SHIP`, else the baseline.

    Nothing is recommended while a candidate's question is still open.
    """
    shipped = [
        name
        for name, verdict in zip(candidates, verdicts, strict=True)
        if verdict.state is VerdictState.SHIP
    ]
    if shipped:
        return Recommendation("ship_candidate", shipped[-1], shipped[-1])
    if all(verdict.state is VerdictState.HOLD for verdict in verdicts):
        return Recommendation("keep_baseline", baseline, candidates[-1])
    return Recommendation("not_yet", None, candidates[-1])


def gate_exit_code(recommendation: Recommendation, verdicts: Sequence[Verdict]) -> int:
    """Return the exit code of a comparison: 0 when a candidate ships, else the gravest state."""
    if recommendation.action == "ship_candidate":
        return ExitCode.OK
    gravity = [VerdictState.INVALID, VerdictState.INCONCLUSIVE, VerdictState.HOLD]
    states = {verdict.state for verdict in verdicts}
    return EXIT_CODES[next(state for state in gravity if state in states)]


def _verdict(state: VerdictState, codes: Sequence[ReasonCode]) -> Verdict:
    return Verdict(state, tuple(codes), EXIT_CODES[state])


def _degraded(metric: MetricResult) -> ReasonCode:
    values = {
        "difference": metric.difference.value,
        "low": metric.difference.low,
        "high": metric.difference.high,
        "margin": metric.margin,
        "p": metric.p_degraded_adjusted,
    }
    return ReasonCode(_DEGRADED_CODES[metric.metric], metric.scope, metric.metric, values)


def _open(metric: MetricResult) -> ReasonCode:
    needed = metric.prompts_needed
    values: dict[str, object] = {
        "n": metric.n,
        "margin": metric.margin,
        "missing": metric.n_missing,
    }
    if metric.missing is not None and metric.missing.tipping_point is not None:
        values["tipping"] = metric.missing.tipping_point
    if needed is not None:
        values |= {
            "floor": needed.floor,
            "equal_models": needed.equal_models,
            "observed": needed.observed,
            "more": needed.more,
            "near_margin": needed.near_margin,
        }
    return ReasonCode(metric.code or "UNDERPOWERED", metric.scope, metric.metric, values)


def _is_degraded(verdict: Verdict) -> bool:
    return any(code.code in _DEGRADED_CODES.values() for code in verdict.codes)
