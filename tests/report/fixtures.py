"""Comparisons for the report's tests: small, consistent, for every verdict.

The numbers follow from counts by simple normal approximations: the report prints what it
is given, so they need only agree with each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from evalkit.estimates import Cells, Estimate, TestResult
from evalkit.fingerprint import digest
from evalkit.results import (
    POOLED,
    AnswerView,
    ArmInfo,
    ArmSummary,
    ArmTiming,
    CandidateResult,
    Comparison,
    LengthPoint,
    MetricName,
    MetricResult,
    MetricState,
    PromptsNeeded,
    ReasonCode,
    Recommendation,
    SampleView,
    ScopeResult,
    Skipped,
    TasksetInfo,
    Threat,
    Verdict,
    VerdictState,
)

FAMILIES = ("facts", "instructions", "longform", "math")
STATES = tuple(VerdictState)
POLICY = {"alpha": 0.05, "margins": {"accuracy": 2.0, "degenerate": 0.5}}
EXIT = {"SHIP": 0, "HOLD": 3, "INCONCLUSIVE": 4, "INVALID": 5}

# both, gained, lost, neither of each family
CELLS: Mapping[str, Mapping[str, Cells]] = {
    "SHIP": {
        "facts": Cells(780, 9, 11, 200),
        "instructions": Cells(610, 14, 12, 364),
        "longform": Cells(640, 6, 7, 347),
        "math": Cells(700, 12, 15, 273),
    },
    "HOLD": {
        "facts": Cells(780, 9, 13, 198),
        "instructions": Cells(590, 14, 22, 374),
        "longform": Cells(630, 6, 17, 347),
        "math": Cells(560, 12, 155, 273),
    },
    "INCONCLUSIVE": {
        "facts": Cells(20, 1, 2, 17),
        "instructions": Cells(24, 2, 2, 12),
        "longform": Cells(13, 3, 2, 22),
        "math": Cells(6, 1, 3, 30),
    },
    "INVALID": {
        "facts": Cells(18, 1, 2, 17),
        "instructions": Cells(24, 2, 2, 10),
        "longform": Cells(13, 3, 2, 20),
        "math": Cells(6, 1, 3, 27),
    },
}
_MARGINS = {POOLED: 0.02, "family": 0.05, "degenerate": 0.005}


def comparison(
    *states: str, hostile: str | None = None, skipped: bool = True, names: Sequence[str] = ()
) -> Comparison:
    """Return a comparison with one candidate for each state.

    Args:
        states: One of `SHIP`, `HOLD`, `INCONCLUSIVE`, `INVALID` for each candidate.
        hostile: A text that takes the place of everything that a model or a server says.
        skipped: Whether the code family was left out.
        names: Names of the candidates.
    """
    names = tuple(names) or ("q4", "rtn4", "rtn3")[: len(states)]
    results = tuple(
        candidate(name, state, hostile) for name, state in zip(names, states, strict=True)
    )
    return Comparison(
        schema_version=1,
        evalkit_version="0.1.0",
        baseline=arm("q8", "Q8_0", 144_811_072, hostile),
        candidates=tuple(arm(name, "Q4_0", 91_727_680, hostile) for name in names),
        results=results,
        recommendation=recommendation(names, states),
        exit_code=exit_code(states),
        tasksets=tuple(
            TasksetInfo(
                name=family,
                family=family,
                version=1,
                scorer=family,
                scorer_version=1,
                content_hash="0123456789abcdef0123456789abcdef",
                n=40,
                languages={"en": 24, "zh": 16},
                max_tokens=256,
                margin=0.05,
                description="A taskset.",
            )
            for family in FAMILIES
        ),
        skipped=(Skipped("code", "code", "it runs programs: pass --allow-code"),)
        if skipped
        else (),
        policy=POLICY,
        policy_hash=digest(POLICY),
        sampling={"temperature": 0.0, "top_p": 1.0, "top_k": -1, "seed": 0},
        settings={"seed": 0, "epochs": 1, "tasks": ["facts", "math"]},
        notes=(hostile,) if hostile else ("A note.",),
        created="2026-12-01T09:30:00+00:00",
        timing=(
            ArmTiming("q8", 84.2, 9_120, 108.3, 1.42, 3.71),
            *(ArmTiming(name, 61.9, 9_480, 153.1, 0.98, 2.6) for name in names),
        ),
    )


def exit_code(states: Sequence[str]) -> int:
    if "SHIP" in states:
        return 0
    return max(EXIT[state] for state in states)


def recommendation(names: Sequence[str], states: Sequence[str]) -> Recommendation:
    shipped = [name for name, state in zip(names, states, strict=True) if state == "SHIP"]
    if shipped:
        return Recommendation("ship_candidate", shipped[-1], shipped[-1])
    if set(states) == {"HOLD"}:
        return Recommendation("keep_baseline", "q8", names[-1])
    return Recommendation("not_yet", None, names[-1])


def arm(name: str, quantization: str, size: int, hostile: str | None) -> ArmInfo:
    return ArmInfo(
        endpoint=name,
        label=hostile
        or f"SmolLM2-135M-Instruct, {quantization} (requantized from weights published as Q4_1)",
        identity={
            "kind": "local",
            "model": "SmolLM2-135M-Instruct",
            "engine": "llama.cpp (xllamacpp)",
            "engine_version": "b7000",
            "quantization": hostile or quantization,
            "base_url": None,
            "weights_hash": "b179c952a1b2c3d4e5f60718293a4b5c",
            "weights_bytes": size,
            "details": {"file": hostile or "x.gguf"},
        },
        n_requests=160,
        n_answered=160,
        errors={},
    )


def _length(
    dimension: Literal["prompt_length", "output_length"], bucket: str, n: int, value: float
) -> LengthPoint:
    error = 0.6 / n**0.5
    found = Estimate(value, value - error, value + error, "score", n)
    return LengthPoint(dimension, bucket, n, 0.61, 0.61 + value, found)


LENGTHS = (
    _length("prompt_length", "<64", 41, 0.01),
    _length("prompt_length", "64–256", 77, 0.0),
    _length("prompt_length", "256–1K", 36, -0.05),
    _length("prompt_length", "4K–16K", 6, -0.2),
    _length("output_length", "<64", 90, 0.01),
    _length("output_length", "64–256", 70, -0.04),
)


def candidate(name: str, state: str, hostile: str | None = None) -> CandidateResult:
    families = {family: _scope(family, cells) for family, cells in CELLS[state].items()}
    pooled_cells = _sum(CELLS[state].values())
    pooled = _scope(POOLED, pooled_cells)
    degenerate = _metric(
        "degenerate", POOLED, Cells(1, 2, 1, pooled_cells.n - 4), _MARGINS["degenerate"], True
    )
    metrics = [
        m
        for s in (pooled, *families.values())
        for m in (s.accuracy, s.hallucination)
        if m is not None
    ]
    return CandidateResult(
        endpoint=name,
        verdict=Verdict(VerdictState(state), _codes(state, [*metrics, degenerate]), EXIT[state]),
        pooled=pooled,
        families=tuple(families.values()),
        degenerate=degenerate,
        exclusions={"only_in_baseline": 0, "prompt_mismatch": 0},
        threats=_threats(state, pooled_cells.n),
        causes={"math": {"wrong_result": 2, "loop": 1}, "facts": {"abstained": 2}},
        samples=tuple(_samples(CELLS[state], hostile)),
        lengths=() if state == "INVALID" else LENGTHS,
    )


def _threats(state: str, n: int) -> tuple[Threat, ...]:
    missing = 9 if state == "INVALID" else 0
    return (
        Threat("COVERAGE", "warn" if missing else "ok", {"complete": n, "planned": n + missing}),
        Threat("EXCLUSIONS", "ok", {"n": 0, "only_in_baseline": 0, "prompt_mismatch": 0}),
        Threat(
            "MISSING",
            "warn" if missing else "ok",
            {"baseline": 0, "candidate": missing, "n": n + missing},
        ),
        Threat("TRUNCATED", "warn", {"baseline": 1, "candidate": 2, "n": n}),
        Threat("UNSCORED", "warn", {"baseline": 3, "candidate": 4, "n": n}),
        Threat("SCORER_ERRORS", "ok", {"baseline": 0, "candidate": 0, "n": n}),
        Threat("IDENTICAL_TEXTS", "ok", {"identical": n // 5, "n": n}),
        Threat("MISSING_REASONS", "ok", {"infra:timeout": missing} if missing else {}),
    )


def _codes(state: str, metrics: Sequence[MetricResult]) -> tuple[ReasonCode, ...]:
    if state == "INVALID":
        values = {"baseline": 0, "candidate": 9, "n": 160, "limit": 5.0}
        return (
            ReasonCode("ERROR_RATE_HIGH", values=values),
            ReasonCode("ERROR_RATE_DIFFERS", values={**values, "p": 0.004}),
        )
    if state == "HOLD":
        names = {"accuracy": "DEGRADED_ACC", "hallucination": "HALLUCINATION_UP"}
        return tuple(
            ReasonCode(names.get(m.metric, "DEGENERATE_UP"), m.scope, m.metric)
            for m in metrics
            if m.degraded
        )
    if state == "INCONCLUSIVE":
        return tuple(
            ReasonCode(m.code or "UNDERPOWERED", m.scope, m.metric)
            for m in metrics
            if m.gated and not m.noninferior
        )
    return (ReasonCode("ALL_NI"),)


def _sum(tables: Any) -> Cells:
    rows = list(tables)
    return Cells(
        sum(c.both for c in rows),
        sum(c.gained for c in rows),
        sum(c.lost for c in rows),
        sum(c.neither for c in rows),
    )


def _scope(scope: str, cells: Cells) -> ScopeResult:
    margin = _MARGINS.get(scope, _MARGINS["family"])
    gated = scope == POOLED or cells.n >= 300
    measured = scope in ("facts", "longform", POOLED)
    rise = Cells(cells.neither // 2, cells.lost // 2, cells.gained // 2, 0)
    rise = Cells(rise.both, rise.gained, rise.lost, cells.n - rise.n)
    before, after = cells.both + cells.lost, cells.both + cells.gained
    return ScopeResult(
        scope=scope,
        baseline=_summary(cells.n, before, 1, measured, truncated=1),
        candidate=_summary(cells.n, after, 0, measured, truncated=2),
        flips=cells,
        recovery=_recovery(cells),
        mcnemar_exact=TestResult(None, 0.5, "McNemar exact", cells.n, "two-sided"),
        mcnemar_midp=TestResult(None, 0.42, "McNemar mid-p", cells.n, "two-sided"),
        accuracy=_metric("accuracy", scope, cells, margin, gated),
        hallucination=_metric("hallucination", scope, rise, margin, gated) if measured else None,
        identical_texts=cells.n // 5,
        transitions=_transitions(cells) if measured else None,
    )


def _transitions(cells: Cells) -> tuple[tuple[int, ...], ...]:
    """A wrong answer is a hallucination, but for one in ten."""
    lost, gained, neither = (n // 10 for n in (cells.lost, cells.gained, cells.neither))
    return (
        (cells.both, cells.lost - lost, lost),
        (cells.gained - gained, cells.neither - neither, 0),
        (gained, 0, neither),
    )


def _metric(
    metric: MetricName, scope: str, cells: Cells, margin: float, gated: bool
) -> MetricResult:
    n = cells.n
    value = (cells.gained - cells.lost) / n
    error = math.sqrt(cells.gained + cells.lost + 2) / n
    sign = 1 if metric == "accuracy" else -1
    good = sign * value
    noninferior = good - 1.645 * error > -margin
    degraded = good + 1.645 * error < -margin
    if degraded:
        state = MetricState.INFERIOR
    elif noninferior:
        state = MetricState.NONINFERIOR
    elif good + 1.96 * error < 0:
        state = MetricState.INCONCLUSIVE_WORSE
    else:
        state = MetricState.INCONCLUSIVE
    floor = math.ceil(2.706 * (1 - margin) / margin)
    equal = max(floor, math.ceil(6.18 * (cells.gained + cells.lost + 1) / (n + 2) / margin**2))
    return MetricResult(
        metric=metric,
        scope=scope,
        n=n,
        margin=margin,
        difference=Estimate(value, value - 1.96 * error, value + 1.96 * error, "score", n),
        difference_90=Estimate(
            value, value - 1.645 * error, value + 1.645 * error, "score", n, 0.9
        ),
        cells=cells,
        p_noninferior=0.01 if noninferior else 0.4,
        p_noninferior_worst=0.01 if noninferior else 0.4,
        p_degraded=0.001 if degraded else 0.6,
        p_degraded_adjusted=0.004 if degraded else 1.0,
        gated=gated,
        noninferior=noninferior,
        degraded=degraded,
        state=state,
        code=None if noninferior else ("UNPROVABLE_N" if n < floor else "UNDERPOWERED"),
        prompts_needed=None
        if noninferior
        else PromptsNeeded(equal, equal * 2, floor, max(0, equal - n)),
    )


def _summary(n: int, correct: int, unscored: int, measured: bool, *, truncated: int) -> ArmSummary:
    abstained = (n - correct) // 4
    incorrect = n - correct - abstained - unscored
    return ArmSummary(
        n=n,
        correct=correct,
        incorrect=incorrect,
        abstained=abstained,
        accuracy=_rate(correct, n),
        hallucination=_rate(incorrect, n) if measured else None,
        abstention=_rate(abstained, n) if measured else None,
        hallucination_attempted=_rate(incorrect, incorrect + correct) if measured else None,
        flags={"truncated": truncated, "bad_format": 2},
        unscored=unscored,
        missing=0,
        mean_completion_tokens=57.0,
    )


def _rate(k: int, n: int) -> Estimate:
    p = k / n
    error = 1.96 * math.sqrt(p * (1 - p) / n + 1 / (4 * n * n))
    return Estimate(p, max(0.0, p - error), min(1.0, p + error), "Wilson", n)


def _recovery(cells: Cells) -> Estimate:
    before, after = cells.both + cells.lost, cells.both + cells.gained
    if before < 30:
        return Estimate(None, None, None, "score", cells.n, warnings=("baseline_too_low",))
    ratio = after / before
    error = 1.96 * math.sqrt(cells.gained + cells.lost + 1) / before
    return Estimate(ratio, ratio - error, ratio + error, "score", cells.n)


def _samples(tables: Mapping[str, Cells], hostile: str | None) -> list[SampleView]:
    made: list[SampleView] = []
    for family, cells in tables.items():
        made += [_sample(family, i, "regression", hostile) for i in range(min(cells.lost, 12))]
    for family, cells in tables.items():
        made += [_sample(family, i, "improvement", hostile) for i in range(min(cells.gained, 3))]
    return made


def _sample(family: str, index: int, transition: Any, hostile: str | None) -> SampleView:
    right = AnswerView(
        text=hostile
        or "She starts with 12 apples and gives away 5, so she has 7 left.\n\nThe answer is 7.",
        reasoning=hostile,
        answer=hostile or "7",
        outcome="correct",
        value=1.0,
        explanation=hostile or "7 equals the target",
        flags=(),
        finish_reason=hostile or "stop",
        completion_tokens=31,
        error=None,
    )
    wrong = AnswerView(
        text=hostile or "She has 12 apples. 12 + 5 = 17, so the answer is 17.",
        reasoning=None,
        answer=hostile or "17",
        outcome="incorrect",
        value=0.0,
        explanation=hostile or "17 is not 7",
        flags=("hallucinated",) if family == "facts" else (),
        finish_reason="stop",
        completion_tokens=24,
        error=None,
    )
    lost = transition == "regression"
    return SampleView(
        sample_id=hostile or f"{family}-en-{index + 1:03d}",
        taskset=family,
        family=family,
        language="en",
        category=hostile or "two_steps",
        epoch=0,
        transition=transition,
        cause="wrong_result" if lost else None,
        prompt=(
            {"role": "system", "content": "Answer briefly."},
            {
                "role": "user",
                "content": hostile
                or "Mia has 12 apples and gives 5 to Ben. How many apples does she have left?",
            },
        ),
        target=hostile or '{"answer": "7"}',
        baseline=right if lost else wrong,
        candidate=wrong if lost else right,
    )
