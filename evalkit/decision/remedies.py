"""What to do about a candidate that may not ship: findings first, plumbing first.

A remedy stands here only with the finding that calls for it, and with that finding's
numbers. A candidate that ships needs none. When the comparison is invalid, only the
plumbing is spoken of: nothing else was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from evalkit.decision.routing import Route
from evalkit.policy import Policy
from evalkit.results import (
    CandidateResult,
    MetricResult,
    MetricState,
    Remedy,
    ScopeResult,
    VerdictState,
)
from evalkit.stats.mcnemar import mcnemar_midp
from evalkit.types import Family, Flag

# Read off the flags of an answer, beside which the template or the stop strings may be wrong.
_TEMPLATE_FLAGS: Final = (Flag.EMPTY, Flag.GARBLED, Flag.WRONG_LANGUAGE, Flag.BAD_FORMAT)
_MISSING_CODES: Final = frozenset({"ERROR_RATE_HIGH", "ERROR_RATE_DIFFERS", "MISSING_SENSITIVE"})
_TRUNCATION_CODES: Final = frozenset({"TRUNCATION", "TRUNCATION_DIFFERS"})
_CONTENT_CAUSES: Final = frozenset({"wrong_result", "abstained"})
_SEVERAL: Final = 2


@dataclass(frozen=True, slots=True)
class _Case:
    """What the findings are read from."""

    result: CandidateResult
    policy: Policy
    temperature: float

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(code.code for code in self.result.verdict.codes)

    def rises(self, before: int, after: int) -> bool:
        """Whether a count rose beyond chance.

        The counts may share pairs, where McNemar's would not: that only makes it harder to
        say yes.
        """
        p_value = mcnemar_midp(after, before).pvalue
        return after > before and p_value is not None and p_value <= self.policy.alpha

    def flagged(self, flag: Flag) -> tuple[int, int]:
        """Answers with a flag, in complete pairs: baseline, candidate."""
        pooled = self.result.pooled
        return pooled.baseline.flags.get(flag, 0), pooled.candidate.flags.get(flag, 0)

    def caused(self, *causes: str) -> int:
        """Regressions with one of these causes, in all families."""
        families = self.result.causes.values()
        return sum(counts.get(cause, 0) for counts in families for cause in causes)


def find_remedies(
    result: CandidateResult, *, policy: Policy, temperature: float, route: Route | None
) -> tuple[Remedy, ...]:
    """List what to do, in the order in which to try it.

    Args:
        result: With its verdict and, when it is valid, its slices.
        policy: The levels.
        temperature: That both arms were sampled at.
        route: The tested mix of both arms; `None` when none was looked for.
    """
    if result.verdict.state is VerdictState.SHIP:
        return ()
    case = _Case(result, policy, temperature)
    found = list(_plumbing(case))
    if result.verdict.state is not VerdictState.INVALID:
        found += [*_routing(route), *_sampling(case), *_weights(case), *_more_prompts(case)]
    return tuple(found)


def lossy_families(result: CandidateResult) -> frozenset[str]:
    """Return the families that are degraded, or flagged as a slice."""
    degraded = {scope.scope for scope in result.families if _degraded(scope)}
    return frozenset(degraded) | {
        part.value for part in result.slices if part.dimension == "family" and part.flagged
    }


def _plumbing(case: _Case) -> Iterator[Remedy]:
    yield from _max_tokens(case)
    yield from _template(case)
    yield from _missing(case)


def _max_tokens(case: _Case) -> Iterator[Remedy]:
    counts = _threat(case.result, "TRUNCATED")
    before, after = counts.get("baseline", 0), counts.get("candidate", 0)
    lost = case.caused("truncated")
    if lost or _TRUNCATION_CODES & case.codes or case.rises(before, after):
        families = _families_with_cause(case.result, "truncated")
        yield Remedy("RAISE_MAX_TOKENS", families, {**counts, "regressions": lost})


def _template(case: _Case) -> Iterator[Remedy]:
    rising = {
        flag.value: (before, after)
        for flag in _TEMPLATE_FLAGS
        for before, after in [case.flagged(flag)]
        if case.rises(before, after)
    }
    if not rising and not case.result.degenerate.degraded:
        return
    causes = ("empty", "garbled", "wrong_language", "bad_format", "unparsable")
    counts = _threat(case.result, "DEGENERATE")
    families = _families_with_cause(case.result, *causes)
    loops = case.flagged(Flag.LOOP)
    if not rising and loops[1] - loops[0] >= counts.get("candidate", 0) - counts.get("baseline", 0):
        # Loops alone explain the rise: that is a matter of sampling.
        return
    values = {**counts, "flags": rising, "regressions": case.caused(*causes)}
    yield Remedy("CHECK_TEMPLATE", families, values)


def _missing(case: _Case) -> Iterator[Remedy]:
    if _MISSING_CODES & case.codes:
        counts, reasons = _threat(case.result, "MISSING"), _threat(case.result, "MISSING_REASONS")
        prompts = [f"{rerun.taskset}/{rerun.sample_id}" for rerun in case.result.reruns]
        values = {**counts, "reasons": reasons, "prompts": list(dict.fromkeys(prompts))}
        yield Remedy("RERUN_MISSING", values=values)


def _routing(route: Route | None) -> Iterator[Remedy]:
    if route is None:
        return
    values: dict[str, object] = {"kept": route.kept}
    if route.mix is not None:
        difference = route.mix.difference
        values |= {
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "margin": route.mix.margin,
            "n": route.mix.n,
        }
    yield Remedy("ROUTE_FAMILIES" if route.proven else "ROUTE_UNPROVEN", route.routed, values)


def _sampling(case: _Case) -> Iterator[Remedy]:
    before, after = case.flagged(Flag.LOOP)
    loops = {"baseline": before, "candidate": after, "temperature": case.temperature}
    flips = case.result.pooled.flips
    if case.rises(before, after):
        # A lower temperature would only make loops more likely.
        yield Remedy("CURB_LOOPS", _families_with_cause(case.result, "loop"), loops)
    elif case.temperature > 0 and _lossy(case.result):
        yield Remedy(
            "LOWER_TEMPERATURE",
            values={**loops, "regressions": flips.lost, "improvements": flips.gained},
        )


def _weights(case: _Case) -> Iterator[Remedy]:
    facts = next((s for s in case.result.families if s.scope == Family.FACTS), None)
    if facts is not None and _by_content(case.result, facts.scope):
        yield from _retrieval(facts)
    degraded = tuple(
        scope.scope
        for scope in case.result.families
        if _degraded(scope) and _by_content(case.result, scope.scope)
    )
    if len(degraded) >= _SEVERAL:
        flips = [scope.flips for scope in case.result.families if scope.scope in degraded]
        lost, gained = sum(f.lost for f in flips), sum(f.gained for f in flips)
        yield Remedy("MIXED_PRECISION", degraded, {"regressions": lost, "improvements": gained})


def _retrieval(facts: ScopeResult) -> Iterator[Remedy]:
    rise = facts.hallucination
    if _worse(facts.accuracy):
        found = facts.accuracy
    elif rise is not None and _worse(rise):
        found = rise
    else:
        return
    values = {
        "metric": found.metric,
        "difference": found.difference.value,
        "low": found.difference.low,
        "high": found.difference.high,
        "n": found.n,
    }
    yield Remedy("ADD_RETRIEVAL", (facts.scope,), values)


def _more_prompts(case: _Case) -> Iterator[Remedy]:
    if case.result.verdict.state is not VerdictState.INCONCLUSIVE:
        return
    lacking = [
        (metric.prompts_needed, metric)
        for metric in _metrics(case.result)
        if metric.gated and not metric.noninferior and metric.prompts_needed is not None
        # At its margin a metric asks for another margin, not for prompts.
        if not (metric.prompts_needed.near_margin and metric.n >= metric.prompts_needed.floor)
    ]
    sequential = case.policy.plan == "sequential"
    needed, metric = max(
        lacking,
        key=lambda item: item[0].more if sequential else item[0].anew,
        default=(None, None),
    )
    if needed is None or metric is None or not needed.more:
        return
    families = () if metric.scope == case.result.pooled.scope else (metric.scope,)
    values = {"n": metric.n, "metric": metric.metric, "margin": metric.margin}
    due = next((c for c in case.result.verdict.codes if c.code == "STAGE_2_DUE"), None)
    if due is not None:
        if due.values.get("left") != 0:
            yield Remedy("ASK_STAGE_2", values=due.values)
    elif sequential:
        yield Remedy("ASK_ON", families, {**values, "more": needed.prompts(needed.more)})
    else:
        yield Remedy("COMPARE_ANEW", families, {**values, "anew": needed.anew})


def _metrics(result: CandidateResult) -> Iterator[MetricResult]:
    for scope in (result.pooled, *result.families):
        yield scope.accuracy
        if scope.hallucination is not None:
            yield scope.hallucination
    yield result.degenerate


def _degraded(scope: ScopeResult) -> bool:
    rise = scope.hallucination
    return scope.accuracy.degraded or (rise is not None and rise.degraded)


def _worse(metric: MetricResult) -> bool:
    """Whether the 95% interval lies on the bad side of zero, on enough pairs to say so."""
    low, high = metric.difference.low, metric.difference.high
    if metric.state is MetricState.TOO_FEW or low is None or high is None:
        return False
    return high < 0 if metric.metric == "accuracy" else low > 0


def _lossy(result: CandidateResult) -> bool:
    return any(metric.degraded or _worse(metric) for metric in _metrics(result))


def _by_content(result: CandidateResult, family: str) -> bool:
    """Whether a family's regressions are wrong answers in the main, and no broken ones."""
    counts = result.causes.get(family, {})
    content = sum(counts.get(cause, 0) for cause in _CONTENT_CAUSES)
    return 2 * content >= sum(counts.values())


def _families_with_cause(result: CandidateResult, *causes: str) -> tuple[str, ...]:
    return tuple(
        scope.scope
        for scope in result.families
        if any(result.causes.get(scope.scope, {}).get(cause) for cause in causes)
    )


def _threat(result: CandidateResult, code: str) -> Mapping[str, int]:
    return next((threat.values for threat in result.threats if threat.code == code), {})
