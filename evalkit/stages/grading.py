"""From a run folder to scored answers, without any endpoint."""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.collect.redaction import Redaction
from evalkit.decision.pairing import Answer, Key
from evalkit.errors import StoreError, UsageError
from evalkit.scoring.base import SCORERS, Scorer
from evalkit.scoring.judging import judge_all
from evalkit.scoring.store import write_scores
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.plan import Plan
from evalkit.tasksets.jsonl import RUNS_CODE
from evalkit.types import Completion, Score


def grade(
    run: CollectedRun, plan: Plan, *, allow_code: bool, redaction: Redaction | None = None
) -> dict[Key, Answer]:
    """Score every completion of a run and keep the scores beside it.

    Args:
        run: With its answers on disk.
        plan: What was asked.
        allow_code: Whether scorers may run what a model wrote.
        redaction: When given, no text is in what is returned, whether the run has it or not.

    Returns:
        Completion and score by (taskset, sample id, epoch).

    Raises:
        UnknownNameError: For a scorer that is not known.
        UsageError: For a scorer that runs code, when that is not allowed.
        StoreError: When scores cannot be written, or those of a redacted run are of
            another scorer.
    """
    completions = run.completions()
    scorers = {taskset.name: SCORERS.get(taskset.scorer) for taskset in plan.tasksets}
    for name, scorer in scorers.items():
        if scorer.name in RUNS_CODE and not allow_code:
            raise UsageError(
                f"Taskset '{name}' runs code answers.", hint="Allow it with --allow-code."
            )
    if run.redaction is None:
        scores = list(judge_all(plan.samples(), completions, scorers.__getitem__))
    else:
        scores = [_kept_score(run, completion, scorers) for completion in completions]
    write_scores(run.folder.path, scores)
    if redaction is not None and run.redaction is None:
        redacted = map(redaction.plain_completion, completions, scores)
        completions = list(redacted)
        scores = [c.redacted.score for c in completions if c.redacted is not None]
    return {
        (completion.taskset, completion.sample_id, completion.epoch): Answer(completion, score)
        for completion, score in zip(completions, scores, strict=True)
    }


def _kept_score(run: CollectedRun, completion: Completion, scorers: Mapping[str, Scorer]) -> Score:
    """Return the score that was made before the text went.

    Raises:
        StoreError: When there is none, or the scorer is not the one of then.
    """
    if completion.redacted is None:
        raise StoreError(
            f"{run.folder.path} is redacted, but holds an answer with its text.",
            hint="Use --fresh to throw its answers away and ask again.",
        )
    score, scorer = completion.redacted.score, scorers[completion.taskset]
    if (score.scorer, score.scorer_version) != (scorer.name, scorer.version):
        raise StoreError(
            f"{run.folder.path} is redacted and was scored by {score.scorer} "
            f"v{score.scorer_version}; there is no text that {scorer.name} "
            f"v{scorer.version} could score.",
            hint="Ask again with --fresh, or use the evalkit that recorded it.",
        )
    return score
