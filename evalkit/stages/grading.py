"""From a run folder to scored answers, without any endpoint."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from evalkit.collect.redaction import Redaction
from evalkit.decision.pairing import Answer, Key
from evalkit.decision.passrates import EXACT, Tries, is_right
from evalkit.errors import StoreError, UsageError
from evalkit.estimates import Estimate
from evalkit.scoring.base import Scorer
from evalkit.scoring.recorded import RECORDED_SCORES, recorded_scores
from evalkit.scoring.store import write_scores
from evalkit.stages.collecting import CollectedRun
from evalkit.stages.judge_folders import deciding_scorers
from evalkit.stages.plan import Plan
from evalkit.stages.scoring_pool import score_all
from evalkit.tasksets.head import RUNS_CODE
from evalkit.types import REPEAT_EPOCH, Completion, Sample, Score

Samples = Mapping[tuple[str, str], Sample]


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """One arm whose scores are on disk.

    Attributes:
        run: The arm.
        outcomes: By taskset: how many answers had each outcome, or each status where there
            is no outcome.
        missing: Requests without an answer to count, by reason.
        pass_at: pass@k by taskset and k, where prompts were asked several times.
    """

    run: CollectedRun
    outcomes: dict[str, Counter[str]]
    missing: dict[str, int]
    pass_at: dict[str, dict[int, Estimate]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many requests came to an end, with an answer or without."""
        return sum(counts.total() for counts in self.outcomes.values())


def grade(
    run: CollectedRun, plan: Plan, *, allow_code: bool, redaction: Redaction | None = None
) -> tuple[dict[Key, Answer], dict[Key, Answer]]:
    """Score every completion of a run and keep the scores beside it.

    Args:
        run: With its answers on disk.
        plan: What was asked.
        allow_code: Whether scorers may run what a model wrote.
        redaction: When given, no text is in what is returned, whether the run has it or not.

    Returns:
        Completion and score by (taskset, sample id, epoch): of the run itself, and of what
        was asked a second time.

    Raises:
        UnknownNameError: For a scorer that is not known.
        UsageError: For a scorer that runs code, when that is not allowed.
        StoreError: When scores cannot be written, or those of a redacted run are of
            another scorer.
    """
    answers: dict[Key, Answer] = {}
    repeats: dict[Key, Answer] = {}

    def keep(completion: Completion, score: Score) -> None:
        if redaction is not None and run.redaction is None:
            completion = redaction.plain_completion(completion, score)
            score = score if completion.redacted is None else completion.redacted.score
        key = (completion.taskset, completion.sample_id, completion.epoch)
        of = repeats if completion.epoch == REPEAT_EPOCH else answers
        of[key] = Answer(completion, score)

    _score(run, plan, plan.samples(), allow_code, keep)
    return answers, repeats


def tally(
    run: CollectedRun,
    plan: Plan,
    *,
    allow_code: bool,
    processes: int | None = None,
    tries: Collection[int] = (),
) -> ScoredRun:
    """Score as `grade` does, one completion at a time: memory holds only counts.

    Args:
        run: With its answers on disk.
        plan: What was asked.
        allow_code: Whether scorers may run what a model wrote.
        processes: At most so many score at once; by default one a processor.
        tries: Which k of pass@k; by default the usual ones.

    Raises:
        UnknownNameError: For a scorer that is not known.
        UsageError: For a scorer that runs code, when that is not allowed.
        StoreError: When scores cannot be written.
    """
    outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    missing: Counter[str] = Counter()
    passes = {t.name: Tries() for t in plan.tasksets if t.family in EXACT and plan.epochs > 1}
    samples = plan.samples()

    def keep(completion: Completion, score: Score) -> None:
        if completion.epoch == REPEAT_EPOCH:
            return
        word = score.status.value if score.outcome is None else score.outcome.value
        outcomes[completion.taskset][word] += 1
        answer = Answer(completion, score)
        if answer.missing:
            missing[score.reason or "unknown"] += 1
        elif completion.taskset in passes:
            name, id = completion.taskset, completion.sample_id
            passes[name].add(id, samples[name, id].unit, is_right(answer))

    _score(run, plan, samples, allow_code, keep, processes)
    found = {name: one.rates(tries) for name, one in sorted(passes.items())}
    return ScoredRun(run, dict(outcomes), dict(sorted(missing.items())), found)


def _score(
    run: CollectedRun,
    plan: Plan,
    samples: Samples,
    allow_code: bool,
    keep: Callable[[Completion, Score], None],
    processes: int | None = None,
) -> None:
    """Score a run from its journal to its scores as a stream; show both to `keep`."""
    scorers = deciding_scorers(run.folder.path, plan.tasksets)
    for name, scorer in scorers.items():
        if scorer.name in RUNS_CODE and not allow_code:
            raise UsageError(
                f"Taskset '{name}' runs code answers.", hint="Allow it with --allow-code."
            )

    def scores() -> Iterator[Score]:
        for completion, score in _scored(run, samples, scorers, processes):
            keep(completion, score)
            yield score

    write_scores(run.folder.path, scores())


def _scored(
    run: CollectedRun, samples: Samples, scorers: Mapping[str, Scorer], processes: int | None
) -> Iterator[tuple[Completion, Score]]:
    if run.redaction is not None:
        return ((c, _kept_score(run, c, scorers)) for c in run.stream(repeats=True))
    if run.log is not None and (run.folder.path / RECORDED_SCORES).exists():
        return recorded_scores(run.folder.path, run.stream(repeats=True))
    if run.live is not None:
        run.live.end()
    total = len(run.requests) + len(run.repeats)
    return score_all(
        samples,
        run.stream(repeats=True),
        scorers,
        total=total,
        processes=processes,
        live=run.live,
    )


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
