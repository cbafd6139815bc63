"""A comparison before and after what reviewers marked, from its folder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalkit.decision.adjudication import Adjudicated, adjudicate, answer_hash, one_sided
from evalkit.decision.verdict import gate_exit_code, recommend
from evalkit.errors import UsageError
from evalkit.policy import Policy
from evalkit.results import CandidateResult, Comparison, Threat, VerdictState
from evalkit.reviews import JudgedMark, Mark, Review, Side
from evalkit.stages.comparing import GradedRun
from evalkit.stages.marks import read_marks
from evalkit.stages.rejudging import Evidence, judge_again, load_evidence
from evalkit.stages.stored import load_sound


def reviewed(folder: Path, evidence: Evidence | None = None) -> Comparison:
    """Return a folder's comparison with what its reviewers' marks make of it.

    Without marks it is the comparison as it stands.

    Args:
        folder: Of the comparison.
        evidence: Its runs, where they were read before.

    Raises:
        EvalKitError: When the folder, its runs or its marks cannot be read, or do not agree.
    """
    marks, before = read_marks(folder), load_sound(folder)
    return with_marks(before, evidence or load_evidence(folder, before), marks) if marks else before


def with_marks(
    before: Comparison, evidence: Evidence, marks: Sequence[Mark], *later: Policy
) -> Comparison:
    """Decide anew on the adjudicated scores, under the same policies and as the same look.

    Args:
        before: The comparison as it stands.
        evidence: Its runs.
        marks: Of its reviewers.
        later: Policies that came after the comparison.
    """
    baseline, *candidates = evidence.runs
    done = [_adjudicated(baseline, arm, marks) for arm in candidates]
    runs = [replace(baseline, answers=done[0].baseline)]
    runs += [
        replace(arm, answers=made.candidate) for arm, made in zip(candidates, done, strict=True)
    ]
    changed = replace(evidence, runs=tuple(runs))
    after, _ = judge_again(before, changed, *later, samples=True)
    results = tuple(
        _with_review(old, new, made.marks)
        for old, new, made in zip(before.results, after.results, done, strict=True)
    )
    if results == before.results:
        return before
    verdicts = [result.verdict for result in results]
    recommendation = recommend(
        before.baseline.endpoint, [result.endpoint for result in results], verdicts
    )
    return replace(
        before,
        results=results,
        recommendation=recommendation,
        exit_code=gate_exit_code(recommendation, verdicts),
    )


def completed_mark(evidence: Evidence, said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add to what a reviewer said which answer it is about.

    Raises:
        UsageError: When there is no such arm, sample or answer.
    """
    kind = said.get("kind")
    if kind == "withdrawal":
        return said
    arms = {arm.run.arm: arm for arm in evidence.runs}
    arm = arms.get(str(said.get("arm"))) if kind == "score" else evidence.runs[0]
    if arm is None:
        raise UsageError("There is no such endpoint in this comparison.")
    epoch = said.get("epoch", 0)
    key = (str(said.get("taskset")), str(said.get("sample_id")), epoch)
    answer = arm.answers.get(key) if isinstance(epoch, int) else None
    if answer is None:
        raise UsageError("There is no such sample in this comparison.")
    return {**said, "answer_hash": answer_hash(answer.completion)} if kind == "score" else said


def _adjudicated(baseline: GradedRun, candidate: GradedRun, marks: Sequence[Mark]) -> Adjudicated:
    names = (baseline.run.arm, candidate.run.arm)
    return adjudicate(names, baseline.answers, candidate.answers, marks)


def _with_review(
    before: CandidateResult, after: CandidateResult, marks: tuple[JudgedMark, ...]
) -> CandidateResult:
    """Keep the result that gates: the one before, unless the marks take its SHIP away."""
    if not marks:
        return before
    states = (before.verdict.state, after.verdict.state)
    followed = states[0] is VerdictState.SHIP and states[1] is not VerdictState.SHIP
    review = Review(marks, _side(before), _side(after), one_sided(marks), followed)
    gates = after if followed else before
    return replace(gates, review=review, threats=(*_threats(review), *gates.threats))


def _side(result: CandidateResult) -> Side:
    pooled = result.pooled
    false = pooled.hallucination
    return Side(
        verdict=result.verdict,
        n=pooled.flips.n,
        difference=pooled.accuracy.difference,
        hallucination=None if false is None else false.difference,
    )


def _threats(review: Review) -> list[Threat]:
    applied = sum(one.state == "applied" for one in review.marks)
    values = {
        "applied": applied,
        "marks": len(review.marks),
        "reviewers": sorted({one.mark.reviewer for one in review.marks}),
        "before": review.before.verdict.state.value,
        "after": review.after.verdict.state.value,
    }
    made = [Threat("REVIEWED", "warn" if applied else "ok", values)]
    if review.one_sided is not None:
        helped = sum(one.favours == review.one_sided for one in review.marks)
        made.insert(0, Threat("REVIEW_ONE_SIDED", "warn", {"arm": review.one_sided, "n": helped}))
    return made
