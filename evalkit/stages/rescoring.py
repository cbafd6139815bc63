"""Scoring a recorded run again, from its journal alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from evalkit.collect.journal import open_run
from evalkit.errors import StoreError
from evalkit.scoring.base import Scorer
from evalkit.scoring.store import SCORES, read_scores
from evalkit.stages.arms import Arm
from evalkit.stages.collecting import load_run
from evalkit.stages.grading import ScoredRun, tally
from evalkit.stages.judge_folders import deciding_scorers
from evalkit.stages.plan import Plan, recorded_plan
from evalkit.stages.repeating import check_tries
from evalkit.stages.sandboxing import require_sandbox
from evalkit.types import Score

# A fingerprint is one request of one endpoint; a taskset has one scorer.
_Before = dict[tuple[str, str], tuple[str, int, str, float | None]]


@dataclass(frozen=True, slots=True)
class Rescored:
    """A run whose scores were made anew.

    Attributes:
        scored: With its scores on disk.
        scorers: Name and version that scored, by taskset.
        earlier: Name and version of the scores that stood there, by taskset.
        changed: Scores that are not what they were: how many went from which word to which,
            by taskset; `None` where there were no scores before.
    """

    scored: ScoredRun
    scorers: dict[str, str]
    earlier: dict[str, str]
    changed: dict[str, Counter[str]] | None


def rescore(
    folder: Path,
    *,
    allow_code: bool,
    processes: int | None = None,
    tries: Collection[int] = (),
) -> Rescored:
    """Score a run folder again; its answers are read and never touched.

    Args:
        folder: Of a run.
        allow_code: Whether scorers may run what a model wrote. Without it, a run that holds
            such answers is refused.
        processes: At most so many score at once; by default one a processor.
        tries: Which k of pass@k; by default the usual ones.

    Raises:
        StoreError: When it is no run folder, is redacted, or its tasksets have changed.
        UsageError: For a scorer that runs code, when that is not allowed or not safe here, or
            a pass@k of more tries than epochs.
    """
    header = open_run(folder).read_header() or {}
    if header.get("redaction"):
        raise StoreError(
            f"{folder} is redacted: it holds no text that could be scored again.",
            hint="The scores of then stand in its journal, and comparisons use them.",
        )
    # What was asked decides what is read; whether code may run is for the scorer to ask.
    plan = recorded_plan(header, folder, allow_code=True)
    check_tries(tries, plan.epochs)
    if allow_code:
        require_sandbox(plan)
    before = _scores_before(folder)
    name = header.get("endpoint", {}).get("name") or folder.resolve().name
    run = load_run(Arm(str(name), recorded=folder), plan)
    scored = tally(run, plan, allow_code=allow_code, processes=processes, tries=tries)
    deciding = deciding_scorers(folder, plan.tasksets)
    names = {name: _version(scorer) for name, scorer in deciding.items()}
    earlier = {
        taskset: f"{name} v{version}" for (taskset, _), (name, version, *_) in before.items()
    }
    changed = None if not before else _changes(folder, plan, before)
    return Rescored(scored, names, earlier, changed)


def _version(scorer: Scorer) -> str:
    return f"{scorer.name} v{scorer.version}"


def _scores_before(folder: Path) -> _Before:
    """Return what stands there; scores that cannot be read are as good as none."""
    if not (folder / SCORES).exists():
        return {}
    try:
        return {
            (score.taskset, score.fingerprint): (
                score.scorer,
                score.scorer_version,
                _word(score),
                score.value,
            )
            for score in read_scores(folder)
        }
    except StoreError:
        return {}


def _changes(folder: Path, plan: Plan, before: _Before) -> dict[str, Counter[str]]:
    changes = {taskset.name: Counter[str]() for taskset in plan.tasksets}
    for score in read_scores(folder):
        old = before.get((score.taskset, score.fingerprint))
        if old is not None and old[2:] != (_word(score), score.value):
            changes[score.taskset][f"{old[2]} -> {_word(score)}"] += 1
    return changes


def _word(score: Score) -> str:
    return score.status.value if score.outcome is None else score.outcome.value
