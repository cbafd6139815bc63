"""Whether a stored comparison agrees with itself, as far as its own numbers can tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evalkit.decision.verdict import (
    EXIT_CODES,
    decide,
    decide_in_sequence,
    gate_exit_code,
    recommend,
)
from evalkit.fingerprint import digest
from evalkit.results import (
    POOLED,
    CandidateResult,
    Comparison,
    MetricResult,
    Verdict,
    VerdictState,
)

# Codes that the sequence puts in front of what a candidate shows by itself.
_SEQUENCE = frozenset({"SEQUENCE_STOPPED", "BOTH_DEGRADED"})
_CLOSE = 1e-9


def contradiction(comparison: Comparison) -> str | None:
    """Return the first thing that cannot be true in a comparison; `None` when it is sound.

    The rule is applied again to the stored tests. That the tests follow from the answers
    only the runs can show.
    """
    return next(_contradictions(comparison), None)


def _metrics(result: CandidateResult) -> tuple[MetricResult, ...]:
    """Return every metric of a candidate, pooled first."""
    scopes = (result.pooled, *result.families)
    found = [m for s in scopes for m in (s.accuracy, s.hallucination) if m is not None]
    return (*found, result.degenerate)


def _contradictions(comparison: Comparison) -> Iterator[str]:
    names = [arm.endpoint for arm in comparison.candidates]
    if not names or names != [result.endpoint for result in comparison.results]:
        yield "its candidates are not those that it has results for"
        return
    if digest(dict(comparison.policy)) != comparison.policy_hash:
        yield "its policy is not the one that its hash was made of"
    for result in comparison.results:
        for found in _of_candidate(comparison, result):
            yield f"{result.endpoint}: {found}"
    verdicts = [result.verdict for result in comparison.results]
    alone = [_by_itself(result) for result in comparison.results]
    for result, wanted in zip(comparison.results, decide_in_sequence(alone), strict=True):
        if wanted.state is not result.verdict.state:
            said, follows = result.verdict.state.value, wanted.state.value
            yield f"{result.endpoint}: it says {said}, its own numbers say {follows}"
    advice = recommend(comparison.baseline.endpoint, names, verdicts)
    if advice != comparison.recommendation:
        yield "its recommendation does not follow from its verdicts"
    if gate_exit_code(advice, verdicts) != comparison.exit_code:
        yield f"exit code {comparison.exit_code} does not follow from its verdicts"


def _of_candidate(comparison: Comparison, result: CandidateResult) -> Iterator[str]:
    verdict = result.verdict
    if EXIT_CODES[verdict.state] != verdict.exit_code:
        yield f"{verdict.state.value} and exit code {verdict.exit_code} do not go together"
    alpha = _alpha(comparison, result)
    for metric in _metrics(result):
        where = f"{metric.metric} in {metric.scope}"
        if (
            metric.cells is not None
            and min(metric.cells.both, metric.cells.gained, metric.cells.lost, metric.cells.neither)
            < 0
        ):
            yield f"{where} counts less than nothing"
        tests = (metric.p_noninferior, metric.p_noninferior_worst)
        if metric.noninferior and not all(p is not None and 0 <= p <= alpha for p in tests):
            yield f"{where} is called non-inferior, its p-values say it is not"
        p_degraded = metric.p_degraded_adjusted
        if metric.degraded != (p_degraded is not None and p_degraded <= alpha):
            yield f"{where}: whether it is degraded does not follow from its p-value"
        if not _adds_up(metric):
            yield f"{where}: its difference does not follow from its counts"


def _adds_up(metric: MetricResult) -> bool:
    """Whether difference and counts agree, where one table holds all that it rests on."""
    cells, value = metric.cells, metric.difference.value
    units = metric.difference.n_clusters
    if cells is None or value is None or metric.scope == POOLED:
        return True
    if units not in (None, metric.n) or cells.n != metric.n or not cells.n:
        return True
    return abs((cells.gained - cells.lost) / cells.n - value) <= _CLOSE


def _by_itself(result: CandidateResult) -> Verdict:
    """Apply the rule to a candidate's stored tests; what is invalid stays so."""
    verdict = result.verdict
    if verdict.state is VerdictState.INVALID:
        own = tuple(code for code in verdict.codes if code.code not in _SEQUENCE)
        return replace(verdict, codes=own)
    return decide(_metrics(result), ())


def _alpha(comparison: Comparison, result: CandidateResult) -> float:
    """Return the level of the policy that the result was made under."""
    level = comparison.policy.get("alpha")
    for reading in result.readings:
        if reading.gates and "alpha" in reading.changes:
            level = reading.changes["alpha"][1]
    return float(level) if isinstance(level, int | float) else 0.0
