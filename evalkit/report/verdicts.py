"""From reason codes to sentences: what the gate says, why, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evalkit.report import numbers
from evalkit.report.facts import exclusion_reasons, found_detail, plan_name, value_facts
from evalkit.report.model import Gate, Reason
from evalkit.report.text import one_line
from evalkit.report.words import Words
from evalkit.results import (
    POOLED,
    CandidateResult,
    Comparison,
    MetricResult,
    ReasonCode,
    VerdictState,
)

ICONS: Final = {"SHIP": "✓", "HOLD": "✗", "INCONCLUSIVE": "◔", "INVALID": "⊘"}
_STATE_OF_EXIT: Final = {
    0: VerdictState.SHIP,
    3: VerdictState.HOLD,
    4: VerdictState.INCONCLUSIVE,
    5: VerdictState.INVALID,
}
_METRIC_OF_CODE: Final = {"HALLUCINATION_UP": "hallucination", "DEGENERATE_UP": "degenerate"}
_LEADING: Final[Mapping[VerdictState, tuple[str, ...]]] = {
    VerdictState.SHIP: ("ALL_NI",),
    VerdictState.HOLD: ("DEGRADED_ACC", "HALLUCINATION_UP", "DEGENERATE_UP"),
    VerdictState.INCONCLUSIVE: (
        "BOTH_DEGRADED",
        "SEQUENCE_STOPPED",
        "MISSING_SENSITIVE",
        "UNPROVABLE_N",
        "UNDERPOWERED",
        "NEAR_MARGIN",
        "NOTHING_PAIRED",
    ),
    VerdictState.INVALID: (
        "SAME_ENDPOINT",
        "NOT_QUANTIZED",
        "IDENTITY_CHANGED",
        "PREFLIGHT_FAILED",
        "SCORERS_FAILED",
        "BASELINE_ZERO",
        "UNPLANNED_LOOK",
        "JUDGE_WEAK",
        "JUDGE_FAILED",
        "PAIRING_BROKEN",
        "CONFIG_MISMATCH",
        "NOTHING_PAIRED",
        "ERROR_RATE_HIGH",
        "ERROR_RATE_DIFFERS",
        "TRUNCATION",
        "FEW_CLUSTERS",
    ),
}
_TOO_FEW: Final = ("UNDERPOWERED", "UNPROVABLE_N", "LEANS_BAD")
_MAX_JOINED: Final = 2


@dataclass(frozen=True, slots=True)
class Names:
    """Who is compared, cleaned for one line."""

    baseline: str
    candidate: str


def names_of(comparison: Comparison, result: CandidateResult) -> Names:
    """Return the names of the two arms."""
    return Names(one_line(comparison.baseline.endpoint), one_line(result.endpoint))


def gate(words: Words, state: VerdictState, exit_code: int) -> Gate:
    """Return the gate's sign and words."""
    return Gate(
        state=state.value,
        icon=ICONS[state.value],
        word=words(f"state.{state.value}"),
        exit_code=exit_code,
        exit_text=words("exit", exit=str(exit_code)),
    )


def overall_state(comparison: Comparison) -> VerdictState:
    """Return the state that the exit code of the whole comparison stands for."""
    return state_of_exit(comparison.exit_code)


def state_of_exit(exit_code: int) -> VerdictState:
    """Return the state that an exit code of the gate stands for."""
    return _STATE_OF_EXIT.get(exit_code, VerdictState.INVALID)


def gate_sentence(words: Words, state: VerdictState, exit_code: int) -> str:
    """Return e.g. `Gate: HOLD (exit 3).`."""
    return words("gate", state=words(f"state.{state.value}"), exit=str(exit_code))


def metrics_of(result: CandidateResult) -> Iterator[MetricResult]:
    """Yield all metrics of a candidate: pooled first, then by family."""
    for scope in (result.pooled, *result.families):
        yield scope.accuracy
        if scope.hallucination is not None:
            yield scope.hallucination
    yield result.degenerate


def reasons(words: Words, names: Names, result: CandidateResult) -> tuple[Reason, ...]:
    """Return every reason code of a verdict as a sentence."""
    return tuple(_reason(words, names, result, code) for code in result.verdict.codes)


def verdict_sentence(words: Words, names: Names, result: CandidateResult) -> str:
    """Return the verdict as one sentence for a release engineer, gate included."""
    verdict = result.verdict
    facts = {"baseline": names.baseline, "candidate": names.candidate}
    leading = leading_codes(result)
    if leading:
        facts["reason"] = _joined(words, names, result, leading)
        metric = _metric(result, leading[0])
        if metric is not None:
            facts |= _metric_facts(words, metric)
    else:
        facts["reason"] = words("reason.other", code=verdict.state.value)
    return (
        f"{words(f'verdict.{verdict.state.value}', **facts)}"
        f"{'' if words.lang == 'zh' else ' '}"
        f"{gate_sentence(words, verdict.state, verdict.exit_code)}"
    )


def leading_codes(result: CandidateResult) -> list[ReasonCode]:
    """Return the codes that carry the verdict, those of all families together first."""
    order = _LEADING[result.verdict.state]
    codes = [code for code in result.verdict.codes if code.code in order]
    if not codes:
        return list(result.verdict.codes[:1])
    # Where nothing is paired because something failed, more prompts would mend nothing.
    return sorted(
        codes,
        key=lambda c: (
            c.code == "FEW_CLUSTERS",
            c.scope not in (None, POOLED),
            c.metric != "accuracy",
        ),
    )


def recommendation(words: Words, comparison: Comparison) -> str:
    """Return which endpoint to ship, or what to do first."""
    advice = comparison.recommendation
    facts = {
        "endpoint": one_line(advice.endpoint or comparison.baseline.endpoint),
        "baseline": one_line(comparison.baseline.endpoint),
    }
    if advice.candidate is not None:
        facts["candidate"] = one_line(advice.candidate)
    elif len(comparison.results) == 1:
        facts["candidate"] = one_line(comparison.results[0].endpoint)
    if advice.action == "not_yet":
        step = _next_step(words, comparison)
        if step:
            facts["step"] = step
    several = advice.action == "ship_candidate" and len(comparison.results) > 1
    return words(f"recommend.{advice.action}{'.several' if several else ''}", **facts)


def _next_step(words: Words, comparison: Comparison) -> str:
    wanted = comparison.recommendation.candidate
    undecided = [r for r in comparison.results if wanted is None or r.endpoint == wanted]
    for result in undecided or comparison.results:
        names = names_of(comparison, result)
        for code in leading_codes(result):
            step = _reason(words, names, result, code).step
            if step:
                return step
    return ""


def _joined(
    words: Words, names: Names, result: CandidateResult, codes: Sequence[ReasonCode]
) -> str:
    shown = codes[: _MAX_JOINED if result.verdict.state is VerdictState.HOLD else 1]
    texts = [_reason(words, names, result, code).text for code in shown]
    rest = len(codes) - len(shown)
    more = words("verdict.more", k=str(rest)) if rest else ""
    return words("verdict.join").join(texts) + more


def _reason(words: Words, names: Names, result: CandidateResult, code: ReasonCode) -> Reason:
    metric = _metric(result, code)
    facts = _code_facts(words, names, code, metric)
    key = _phrase_key(code, metric)
    step = f"step.{key}"
    if key in _TOO_FEW:
        facts.pop("more", None)
        facts |= _most_demanding(words, result)
        step, own = _step_of_plan(words, result, step)
        facts |= own
    if code.code == "STAGE_2_DUE":
        facts |= _stage_two_facts(code)
    phrase = f"reason.{key}" if f"reason.{key}" in words else "reason.other"
    return Reason(
        code=one_line(code.code),
        scope=one_line(code.scope) if code.scope is not None else None,
        metric=one_line(code.metric) if code.metric is not None else None,
        text=words(phrase, **facts),
        step=words(step, **facts) if step in words else "",
    )


def _phrase_key(code: ReasonCode, metric: MetricResult | None) -> str:
    """Tell three kinds of "too few" apart: more data helps, leans bad, or will never settle."""
    needed = metric.prompts_needed if metric is not None else None
    if code.code == "UNDERPOWERED" and needed is not None:
        if needed.near_margin:
            return "NEAR_MARGIN"
        if needed.more == 0:
            return "LEANS_BAD"
    return code.code


def _step_of_plan(words: Words, result: CandidateResult, step: str) -> tuple[str, dict[str, str]]:
    """Return what a plan with more than one look has to say about too few prompts."""
    for code in result.verdict.codes:
        if code.code == "STAGE_2_DUE":
            return "step.STAGE_2_DUE", value_facts(code.values) | _stage_two_facts(code)
    if result.look is not None and result.look.plan == "sequential":
        return "step.sequential", {}
    return step, {}


def _stage_two_facts(code: ReasonCode) -> dict[str, str]:
    """Return the size as a command takes it, and whether too few prompts are left for it."""
    each, left = code.values.get("each"), code.values.get("left")
    facts = {} if each is None else {"each": str(each)}
    if left == 0:
        facts["none_left"] = ""
    if each is not None and left is not None and left < each:
        facts["few"] = numbers.count(left)
    return facts


def _most_demanding(words: Words, result: CandidateResult) -> dict[str, str]:
    """Return how many prompts every gated metric needs to be decided, and the one that needs most.

    `first` is what accuracy of all families needs, where another metric needs more. `anew`
    is what a new comparison needs, of prompts that were not asked in this one.
    """
    lacking = [
        (metric.prompts_needed, metric)
        for metric in metrics_of(result)
        if metric.gated
        and not metric.noninferior
        and metric.prompts_needed is not None
        and not at_margin(metric)
    ]
    needed, metric = max(lacking, key=lambda item: item[0].anew, default=(None, None))
    if needed is None or metric is None:
        return {}
    most = words(f"metric.{metric.metric}")
    if metric.scope != POOLED:
        most = words("scope_metric", metric=most, scope=words.name("scope", metric.scope))
    anew = needed.anew
    facts = {"anew": numbers.count(anew), "most": most}
    if needed.more:
        facts["more"] = numbers.count(needed.prompts(needed.more))
    first = next((k.anew for k, m in lacking if m is result.pooled.accuracy), 0)
    if 0 < first < anew:
        facts["first"] = numbers.count(first)
    return facts


def below_floor(metric: MetricResult) -> bool:
    """Whether there are too few pairs for any claim, so that the difference says nothing yet."""
    needed = metric.prompts_needed
    return needed is not None and (metric.code == "UNPROVABLE_N" or metric.n < needed.floor)


def at_margin(metric: MetricResult) -> bool:
    """Whether more prompts would not settle it, as far as enough pairs can tell."""
    needed = metric.prompts_needed
    return needed is not None and needed.near_margin and not below_floor(metric)


def _metric(result: CandidateResult, code: ReasonCode) -> MetricResult | None:
    wanted = code.metric or _METRIC_OF_CODE.get(code.code, "accuracy")
    scope = code.scope or POOLED
    for metric in metrics_of(result):
        if metric.metric == wanted and metric.scope == scope:
            return metric
    return None


def _code_facts(
    words: Words, names: Names, code: ReasonCode, metric: MetricResult | None
) -> dict[str, str]:
    facts = {
        "code": one_line(code.code),
        "baseline": names.baseline,
        "candidate": names.candidate,
        "where": "",
    }
    if code.values:
        facts["detail"] = found_detail(words, code.values).rstrip(".。")
    scope = one_line(code.scope or POOLED)
    facts["scope"] = words.name("scope", scope)
    if metric is not None:
        facts |= _metric_facts(words, metric)
        if (metric.scope, metric.metric) != (POOLED, "accuracy"):
            facts["where"] = words(
                "where", metric=words(f"metric.{metric.metric}"), scope=facts["scope"]
            )
    facts |= {
        key: text
        for key, text in value_facts(code.values).items()
        if key not in facts or isinstance(code.values[key], int)
    }
    facts |= plan_name(words, facts)
    reasons = exclusion_reasons(words, code.values)
    if reasons:
        facts["reasons"] = reasons
    return facts


def _metric_facts(words: Words, metric: MetricResult) -> dict[str, str]:
    digits = numbers.digits_for(metric.n)
    facts = {
        "n": numbers.count(metric.n),
        "margin": numbers.size_in_points(metric.margin),
        "missing": numbers.count(metric.n_missing),
    }
    estimate = metric.difference
    for name, value in (
        ("difference", estimate.value),
        ("low", estimate.low),
        ("high", estimate.high),
    ):
        if value is not None:
            facts[name] = numbers.points(value, digits)
    needed = metric.prompts_needed
    if needed is not None:
        facts["floor"] = numbers.count(needed.floor)
        if needed.equal_models is not None:
            facts["equal"] = numbers.count(needed.equal_models)
        if needed.observed is not None:
            facts["observed"] = numbers.count(needed.observed)
    return facts
