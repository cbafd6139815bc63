"""A comparison before and after what reviewers marked, from its folder alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalkit.collect.journal import open_run
from evalkit.config import Config
from evalkit.decision.adjudication import Adjudicated, adjudicate, one_sided
from evalkit.decision.pairing import Answer, Key
from evalkit.decision.verdict import gate_exit_code, recommend
from evalkit.errors import StoreError
from evalkit.policy import Policy
from evalkit.report.store import load_comparison
from evalkit.results import CandidateResult, Comparison, Threat, VerdictState
from evalkit.reviews import JudgedMark, Mark, Review, Side
from evalkit.scoring.store import read_scores
from evalkit.stages.against import run_path
from evalkit.stages.against_change import release_changes, release_confounders
from evalkit.stages.arms import Arm
from evalkit.stages.checking import find_confounders
from evalkit.stages.collecting import CollectedRun, load_run
from evalkit.stages.comparing import GradedRun, History, build_comparison
from evalkit.stages.ledger import Ledger, subjects_of
from evalkit.stages.marks import read_marks
from evalkit.stages.plan import Plan, recorded_plan
from evalkit.types import REPEAT_EPOCH


@dataclass(frozen=True, slots=True)
class Recorded:
    """The runs of a comparison folder, with the scores that the comparison rests on."""

    comparison: Comparison
    plan: Plan
    baseline: GradedRun
    candidates: tuple[GradedRun, ...]


def reviewed(folder: Path) -> Comparison:
    """Return a folder's comparison with what its reviewers' marks make of it.

    Without marks it is the comparison as it stands.

    Raises:
        StoreError: When the folder, its runs or its marks cannot be read.
    """
    marks = read_marks(folder)
    if not marks:
        return load_comparison(folder)
    recorded = load_recorded(folder)
    before = recorded.comparison
    done = [_adjudicated(recorded.baseline, arm, marks) for arm in recorded.candidates]
    after = _compared(folder, recorded, done)
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


def load_recorded(folder: Path) -> Recorded:
    """Read the runs of a comparison folder; nothing is scored again.

    Raises:
        StoreError: When a run is missing, or its scores are.
    """
    comparison = load_comparison(folder)
    names = [comparison.baseline.endpoint, *(arm.endpoint for arm in comparison.candidates)]
    paths = [run_path(comparison, folder, name) for name in names]
    for path in paths:
        if not path.is_dir():
            raise StoreError(
                f"{path} is not there: marks change scores, and the scores lie in the runs.",
                hint="Keep the runs beside comparison.json, or move review.jsonl away.",
            )
    header = open_run(paths[0]).read_header() or {}
    plan = recorded_plan(header, paths[0], allow_code=True)
    runs = [
        load_run(Arm(name, recorded=path), plan) for name, path in zip(names, paths, strict=True)
    ]
    baseline, *candidates = (_graded(run) for run in runs)
    return Recorded(comparison, plan, baseline, tuple(candidates))


def _graded(run: CollectedRun) -> GradedRun:
    scores = {
        (score.taskset, score.sample_id, score.epoch): score
        for score in read_scores(run.folder.path)
    }
    answers: dict[Key, Answer] = {}
    repeats: dict[Key, Answer] = {}
    for completion in run.stream(repeats=True):
        key = (completion.taskset, completion.sample_id, completion.epoch)
        if key not in scores:
            raise StoreError(
                f"{run.folder.path} holds answers without a score.",
                hint=f"Score it again: evalkit score {run.folder.path}",
            )
        of = repeats if completion.epoch == REPEAT_EPOCH else answers
        of[key] = Answer(completion, scores[key])
    return GradedRun(run, answers, repeats)


def _adjudicated(baseline: GradedRun, candidate: GradedRun, marks: Sequence[Mark]) -> Adjudicated:
    names = (baseline.run.arm, candidate.run.arm)
    return adjudicate(names, baseline.answers, candidate.answers, marks)


def _compared(folder: Path, recorded: Recorded, done: Sequence[Adjudicated]) -> Comparison:
    """Decide anew on the adjudicated scores, under the same policy and as the same look."""
    before, plan = recorded.comparison, recorded.plan
    config = Config(
        policy=Policy.model_validate(before.policy),
        allow_confounded=bool(before.settings.get("allow_confounded", False)),
        allow_code=bool(before.settings.get("allow_code", False)),
    )
    runs = [arm.run for arm in (recorded.baseline, *recorded.candidates)]
    ledger, subjects = Ledger.read(folder), subjects_of(runs, plan)
    changes = {} if before.against is None else release_changes(runs)
    confounders = release_confounders(runs, changes) if changes else find_confounders(runs)
    return build_comparison(
        replace(recorded.baseline, answers=done[0].baseline),
        [
            replace(arm, answers=made.candidate)
            for arm, made in zip(recorded.candidates, done, strict=True)
        ],
        plan,
        config,
        confounders,
        history={
            arm: History(subject.asked, ledger.history(subject))
            for arm, subject in subjects.items()
        },
        against=before.against,
    )


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
