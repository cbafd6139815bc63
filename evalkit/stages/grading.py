"""From a run folder to scored answers, without any endpoint."""

from __future__ import annotations

from evalkit.decision.pairing import Answer, Key
from evalkit.scoring.base import SCORERS
from evalkit.scoring.judging import judge_all
from evalkit.scoring.store import write_scores
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.plan import Plan


def grade(run: CollectedRun, plan: Plan) -> dict[Key, Answer]:
    """Score every completion of a run and keep the scores beside it.

    Returns:
        Completion and score by (taskset, sample id, epoch).

    Raises:
        UnknownNameError: For a scorer that is not known.
        StoreError: When scores cannot be written.
    """
    completions = run.completions()
    scorers = {taskset.name: SCORERS.get(taskset.scorer) for taskset in plan.tasksets}
    scores = list(judge_all(plan.samples(), completions, scorers.__getitem__))
    write_scores(run.folder.path, scores)
    return {
        (completion.taskset, completion.sample_id, completion.epoch): Answer(completion, score)
        for completion, score in zip(completions, scores, strict=True)
    }
