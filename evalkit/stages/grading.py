"""From a run folder to scored answers, without any endpoint."""

from __future__ import annotations

from evalkit.decision.pairing import Answer, Key
from evalkit.errors import UsageError
from evalkit.scoring.base import SCORERS
from evalkit.scoring.judging import judge_all
from evalkit.scoring.store import write_scores
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.plan import Plan
from evalkit.tasksets.jsonl import RUNS_CODE


def grade(run: CollectedRun, plan: Plan, *, allow_code: bool) -> dict[Key, Answer]:
    """Score every completion of a run and keep the scores beside it.

    Args:
        run: With its answers on disk.
        plan: What was asked.
        allow_code: Whether scorers may run what a model wrote.

    Returns:
        Completion and score by (taskset, sample id, epoch).

    Raises:
        UnknownNameError: For a scorer that is not known.
        UsageError: For a scorer that runs code, when that is not allowed.
        StoreError: When scores cannot be written.
    """
    completions = run.completions()
    scorers = {taskset.name: SCORERS.get(taskset.scorer) for taskset in plan.tasksets}
    for name, scorer in scorers.items():
        if scorer.name in RUNS_CODE and not allow_code:
            raise UsageError(
                f"Taskset '{name}' runs code answers.", hint="Allow it with --allow-code."
            )
    scores = list(judge_all(plan.samples(), completions, scorers.__getitem__))
    write_scores(run.folder.path, scores)
    return {
        (completion.taskset, completion.sample_id, completion.epoch): Answer(completion, score)
        for completion, score in zip(completions, scores, strict=True)
    }
