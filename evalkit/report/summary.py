"""The report for machines: what `--json` prints."""

from __future__ import annotations

from typing import cast

from evalkit.report.model import (
    ArmRates,
    CandidateBlock,
    MetricRow,
    NoiseBlock,
    Number,
    PassRow,
    PolicyRow,
    Reason,
    ReviewBlock,
    ScopeRow,
    SliceRow,
    View,
)
from evalkit.report.release import release_summary
from evalkit.report.summary_types import (
    CandidateBody,
    LookBody,
    MetricBody,
    NoiseBody,
    NumberBody,
    PassBody,
    PolicyBody,
    RatesBody,
    ReasonBody,
    ReviewBody,
    ScopeBody,
    SliceBody,
    State,
    SummaryBody,
)
from evalkit.results import MetricState


def summary(view: View) -> SummaryBody:
    """Return verdict, sentences, codes and numbers (fractions) of every candidate.

    The command line adds the paths of the written files.
    """
    return {
        "evalkit_version": view.evalkit_version,
        "verdict": cast(State, view.gate.state),
        "exit_code": view.gate.exit_code,
        "sentence": view.sentence,
        "recommendation": {
            "action": view.action,
            "endpoint": view.recommended,
            "text": view.recommendation,
        },
        "baseline": view.baseline,
        "policy_hash": view.policy_hash,
        "created": view.created,
        "redacted": bool(view.redacted),
        "against": None if view.release is None else release_summary(view.release),
        "candidates": [_candidate(block) for block in view.candidates],
    }


def _candidate(block: CandidateBlock) -> CandidateBody:
    return {
        "endpoint": block.endpoint,
        "label": block.label,
        "verdict": cast(State, block.gate.state),
        "exit_code": block.gate.exit_code,
        "sentence": block.sentence,
        "codes": [_reason(reason) for reason in block.reasons],
        "scopes": {row.scope: _scope(row) for row in (*block.families, block.pooled)},
        "metrics": [_metric(row) for row in block.metrics],
        "threats": [
            {"code": item.code, "level": item.level, "text": item.text} for item in block.threats
        ],
        "remedies": [
            {"code": item.code, "families": list(item.families), "text": item.text}
            for item in block.remedies
        ],
        "slices": [_slice(row) for row in block.slices.rows],
        "noise_floor": _noise(block.noise) if block.noise is not None else None,
        "pass_at": [_passed(row) for row in block.passes.rows] if block.passes else [],
        "policies": [_policy(row) for row in block.policies],
        "review": None if block.review is None else _review(block.review),
        "look": cast(LookBody | None, block.look),
    }


def _noise(noise: NoiseBlock) -> NoiseBody:
    return {
        "repeat_flips": _number(noise.repeat_flips),
        "same_text": _number(noise.same_text),
        "candidate_flips": _number(noise.candidate_flips),
        "excess": _number(noise.excess),
        "text": noise.lead,
    }


def _passed(row: PassRow) -> PassBody:
    return {
        "scope": row.scope,
        "k": row.k,
        "prompts": row.prompts,
        "left_out": row.left_out,
        "baseline": _number(row.baseline),
        "candidate": _number(row.candidate),
        "difference": _number(row.difference),
    }


def _reason(reason: Reason) -> ReasonBody:
    return {
        "code": reason.code,
        "scope": reason.scope,
        "metric": reason.metric,
        "text": reason.text,
        "step": reason.step or None,
    }


def _review(block: ReviewBlock) -> ReviewBody:
    before, after = block.sides
    return {
        "before": cast(State, before.state),
        "after": cast(State, after.state),
        "followed": after.gates,
        "one_sided": block.one_sided,
        "difference_before": _number(before.difference),
        "difference_after": _number(after.difference),
        "marks": [dict(zip(block.marks.columns, row, strict=True)) for row in block.marks.rows],
    }


def _policy(row: PolicyRow) -> PolicyBody:
    return {
        "policy_hash": row.policy_hash,
        "declared_by": list(row.declared_by),
        "verdict": cast(State | None, row.state),
        "changes": list(row.changes),
        "gates": row.gates,
    }


def _scope(row: ScopeRow) -> ScopeBody:
    rates = row.rates
    return {
        "n": row.n,
        "baseline_accuracy": _number(row.baseline),
        "candidate_accuracy": _number(row.candidate),
        "difference": _number(row.difference),
        "recovery": _number(row.recovery),
        "regressions": row.regressions,
        "improvements": row.improvements,
        "state": MetricState[row.state.key].value,
        "gated": row.gated,
        "hallucination": {"baseline": _rates(rates[0]), "candidate": _rates(rates[1])}
        if rates is not None
        else None,
    }


def _rates(arm: ArmRates) -> RatesBody:
    return {
        "hallucination": _number(arm.hallucination),
        "abstention": _number(arm.abstention),
        "of_attempted": _number(arm.attempted),
    }


def _metric(row: MetricRow) -> MetricBody:
    return {
        "metric": row.metric,
        "scope": row.scope,
        "n": row.n,
        "difference": _number(row.difference),
        "state": MetricState[row.state.key].value,
        "outcome": row.outcome,
        "gated": row.gated,
        "text": row.text,
        "tests": row.tests,
    }


def _slice(row: SliceRow) -> SliceBody:
    return {
        "dimension": row.dimension,
        "value": row.value,
        "family": row.family,
        "n": row.n,
        "difference": _number(row.difference),
        "shrunken": row.shrunken,
        "regressions": row.regressions,
        "improvements": row.improvements,
        "p_adjusted": row.p_adjusted,
        "tested": row.tested,
        "flagged": row.flagged,
    }


def _number(number: Number) -> NumberBody:
    return {
        "value": number.value,
        "low": number.low,
        "high": number.high,
        "text": number.told,
        "note": number.note or None,
    }
