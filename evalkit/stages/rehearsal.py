"""From a folder to what the self-test of the gate needs: answers, flips and policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from evalkit.collect.journal import is_run_folder, open_run
from evalkit.decision.pairing import Answer, Key
from evalkit.decision.questions import questions_of_comparison
from evalkit.errors import StoreError
from evalkit.policy import Policy
from evalkit.report.store import COMPARISON_FILE, load_comparison
from evalkit.report.text import one_line
from evalkit.results import Comparison
from evalkit.scoring.store import SCORES, read_scores
from evalkit.stages.arms import Arm
from evalkit.stages.collecting import load_run
from evalkit.stages.places import find_run
from evalkit.stages.plan import recorded_plan
from evalkit.types import Taskset


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded and scored run.

    Attributes:
        folder: Of the run itself.
        tasksets: What it was asked.
        answers: Completion and score by (taskset, sample id, epoch).
        flips: Share of pairs that flipped, by family; empty when there was no other arm.
        policy: Of the comparison that it belongs to.
    """

    folder: Path
    tasksets: tuple[Taskset, ...]
    answers: Mapping[Key, Answer]
    flips: Mapping[str, float]
    policy: Policy | None


def read_recorded(folder: Path) -> Recorded:
    """Read a run folder, or the baseline of a comparison folder.

    The recorded scores are taken as they are: nothing is scored, and no code is run.

    Raises:
        StoreError: When it is neither, cannot be read, or holds no scored answer.
    """
    if (folder / COMPARISON_FILE).is_file():
        comparison = load_comparison(folder)
        run = find_run(comparison, folder, comparison.baseline.endpoint)
        if run is None:
            raise StoreError(
                f"'{folder}' does not hold the run of its baseline "
                f"'{one_line(comparison.baseline.endpoint)}'.",
                hint="Name the folder of that run instead.",
            )
        return _read_run(run, comparison)
    if not is_run_folder(folder):
        problem = "is neither a run folder nor a comparison folder"
        raise StoreError(f"'{folder}' {problem if folder.exists() else 'does not exist'}.")
    return _read_run(folder, None)


def _read_run(folder: Path, comparison: Comparison | None) -> Recorded:
    plan = recorded_plan(open_run(folder).read_header() or {}, folder, allow_code=True)
    run = load_run(Arm(folder.name, recorded=folder), plan)
    completions = run.completions()
    scored = (folder / SCORES).is_file()
    scores = {score.fingerprint: score for score in read_scores(folder)} if scored else {}
    if not all(completion.fingerprint in scores for completion in completions):
        raise StoreError(
            f"'{folder}' holds answers that are not scored.",
            hint="Give the command that recorded it again: it asks only what is missing.",
        )
    answers = {
        (c.taskset, c.sample_id, c.epoch): Answer(c, scores[c.fingerprint]) for c in completions
    }
    if all(answer.missing for answer in answers.values()):
        raise StoreError(f"'{folder}' holds no answer.", hint="Record that run first.")
    return Recorded(
        folder=folder,
        tasksets=plan.tasksets,
        answers=answers,
        flips={} if comparison is None else _flips(comparison, folder),
        policy=None if comparison is None else _policy(comparison, folder),
    )


def _flips(comparison: Comparison, folder: Path) -> dict[str, float]:
    """Return each family's measured rate: with several candidates, of the one that flips most."""
    rates = {
        question.scope: question.flip_rate
        for question in questions_of_comparison(comparison)
        if question.metric == "accuracy"
    }
    if not all(0 <= rate <= 1 for rate in rates.values()):
        raise _damaged(folder)
    return rates


def _policy(comparison: Comparison, folder: Path) -> Policy:
    try:
        return Policy.model_validate(comparison.policy)
    except ValidationError:
        raise _damaged(folder) from None


def _damaged(folder: Path) -> StoreError:
    return StoreError(f"The comparison of '{folder}' holds what no comparison has: is it damaged?")
