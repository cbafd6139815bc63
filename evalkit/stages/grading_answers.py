"""Scoring answers that anything recorded: `id` and `completion`, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from evalkit.collect.writer import write_atomic
from evalkit.decision.pairing import Answer
from evalkit.decision.passrates import Tries, is_right
from evalkit.decision.summaries import arm_summary
from evalkit.endpoints.reasoning import split_think
from evalkit.errors import StoreError, TasksetError, UsageError
from evalkit.estimates import Estimate
from evalkit.results import ArmSummary
from evalkit.scoring.base import SCORERS, Scorer, require
from evalkit.scoring.judging import MODEL_FAILURES
from evalkit.stages.repeating import check_tries
from evalkit.stages.sandboxing import require_layers
from evalkit.stages.scoring_pool import score_all
from evalkit.tasksets.rows import parse_object
from evalkit.tasksets.textfile import open_text
from evalkit.types import Completion, Outcome, Sample, Taskset, Timing, Usage

_KEYS = ("id", "completion", "finish_reason", "epoch", "reasoning")
_ANSWER_TEXT = ("completion", "response", "output", "text", "answer", "prediction")


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a file of answers holds, set beside a taskset.

    Attributes:
        completions: One for each sample and epoch that is answered, in the file's order.
        unknown: Ids that are none of the taskset's.
        missing: Ids of samples without any answer.
        duplicate: Ids whose answers stand there more than once for one epoch; the first
            one counts.
    """

    completions: tuple[Completion, ...]
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    duplicate: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Graded:
    """Recorded answers with their scores.

    Attributes:
        summary: Counts over answers, and rates with Wilson's intervals in which repeats of
            a sample and samples of one cluster are not independent.
        pass_at: Mean over samples of the chance that one of k answers is right, by k, of
            samples with at least k answers; empty with one answer a sample.
        overruled: Answers that the scorer found right and a failure of the model made none
            (cut off, looping, ...).
        scorer: Name of what decided.
    """

    taskset: Taskset
    recorded: Recorded
    answers: tuple[tuple[Sample, Answer], ...]
    summary: ArmSummary
    pass_at: Mapping[int, Estimate]
    overruled: int
    scorer: str
    scorer_version: int


def read_answers(path: Path, taskset: Taskset, *, epochs: int | None = None) -> Recorded:
    """Read a file of answers.

    Args:
        path: JSONL with `id`, `completion` (text or null), optionally `finish_reason`,
            `epoch` (from 0) and `reasoning`; other keys are passed over.
        taskset: What was asked.
        epochs: Answers to each sample. Lines of one id that name no epoch are then its
            repeats, in their order, and an epoch beyond is refused.

    Raises:
        TasksetError: Names the line that is no answer, or of an epoch beyond.
        UsageError: When no line answers the taskset.
    """
    known = {sample.id for sample in taskset.samples}
    found: dict[tuple[str, int], Completion] = {}
    unknown: dict[str, None] = {}
    duplicate: dict[str, None] = {}
    for completion in _numbered(_completions(path, taskset.name), epochs, path):
        key = completion.sample_id, completion.epoch
        if completion.sample_id not in known:
            unknown[completion.sample_id] = None
        elif key in found:
            duplicate[completion.sample_id] = None
        else:
            found[key] = completion
    if not found:
        raise UsageError(*_nothing_found(path, taskset, unknown))
    answered = {sample_id for sample_id, _ in found}
    missing = tuple(sample.id for sample in taskset.samples if sample.id not in answered)
    return Recorded(tuple(found.values()), tuple(unknown), missing, tuple(duplicate))


def grade_answers(
    taskset: Taskset,
    recorded: Recorded,
    *,
    allow_code: bool,
    processes: int | None = None,
    tries: Collection[int] = (),
    scorer: Scorer | None = None,
) -> Graded:
    """Score recorded answers as those of a run are.

    Args:
        taskset: What was asked.
        recorded: Of `read_answers`.
        allow_code: Whether the scorer may run what a model wrote.
        processes: At most so many score at once; by default one a processor.
        tries: Which k of pass@k; by default the usual ones.
        scorer: Decides in place of the taskset's own.

    Raises:
        UnknownNameError: For a scorer that is not known.
        MissingExtraError: For one that needs a package that is not installed.
        UsageError: For a scorer that runs code, when that is not allowed or not safe here.
    """
    scorer = scorer or SCORERS.get(taskset.scorer)
    require(scorer)
    if taskset.code and not allow_code:
        raise UsageError(
            f"Taskset '{taskset.name}' runs code answers.", hint="Allow it with --allow-code."
        )
    if taskset.code:
        require_layers()
    samples = {(taskset.name, sample.id): sample for sample in taskset.samples}
    scored = score_all(
        samples,
        recorded.completions,
        {taskset.name: scorer},
        total=len(recorded.completions),
        processes=processes,
    )
    answers = tuple(
        (samples[taskset.name, completion.sample_id], Answer(completion, score))
        for completion, score in scored
    )
    summary = _summary(answers, may_abstain=taskset.measures_hallucination)
    overruled = sum(_overruled(answer) for _, answer in answers)
    return Graded(
        taskset,
        recorded,
        answers,
        summary,
        _passes(answers, tries),
        overruled,
        scorer.name,
        scorer.version,
    )


def _summary(answers: Sequence[tuple[Sample, Answer]], *, may_abstain: bool) -> ArmSummary:
    present = [(sample, answer) for sample, answer in answers if not answer.missing]
    units = [sample.unit for sample, _ in present]
    summary = arm_summary(
        [answer for _, answer in present],
        units,
        missing=len(answers) - len(present),
        may_abstain=[True] * len(present),
    )
    if may_abstain:
        return summary
    return replace(summary, hallucination=None, hallucination_attempted=None)


def write_items(path: Path, graded: Graded) -> None:
    """Write one JSON line for each answer: its score, with what it is a score of.

    Raises:
        StoreError: When they cannot be written.
    """

    def lines() -> Iterator[bytes]:
        for sample, answer in graded.answers:
            yield orjson.dumps(_item(sample, answer), option=orjson.OPT_APPEND_NEWLINE)

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, lines())
    except OSError as error:
        raise StoreError(f"'{path}' cannot be written: {error.strerror}.") from None


def _item(sample: Sample, answer: Answer) -> dict[str, Any]:
    score = answer.score
    return {
        "id": sample.id,
        "epoch": score.epoch,
        "status": score.status,
        "outcome": score.outcome,
        "value": score.value,
        "answer": score.answer,
        "explanation": score.explanation,
        "flags": score.flags,
        "right_but_failed": _overruled(answer),
        "reason": score.reason,
        "scorer": score.scorer,
        "scorer_version": score.scorer_version,
        "language": sample.language,
        "category": sample.category,
    }


def _numbered(
    lines: Iterable[tuple[Completion, bool]], epochs: int | None, path: Path
) -> Iterator[Completion]:
    """Number the lines of each id that name no epoch."""
    seen: Counter[str] = Counter()
    for completion, named in lines:
        if epochs is not None and not named:
            completion = replace(completion, epoch=seen[completion.sample_id])
            seen[completion.sample_id] += 1
        if epochs is not None and completion.epoch >= epochs:
            raise TasksetError(
                f"'{path}' has more than {epochs} answers to '{completion.sample_id[:60]}'.",
                hint=f"Say how many there are: --epochs {completion.epoch + 1} or more.",
            )
        yield completion


def _completions(path: Path, taskset: str) -> Iterator[tuple[Completion, bool]]:
    if not path.exists():
        raise TasksetError(f"'{path}' does not exist.", hint="Name a JSONL file of answers.")
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                where = f"'{path}' line {number}"
                record = parse_object(line, where)
                yield _completion(record, where, taskset), record.get("epoch") is not None


def _completion(record: Mapping[str, Any], where: str, taskset: str) -> Completion:
    given = record.get("id")
    if not isinstance(given, str | int) or isinstance(given, bool) or given == "":
        raise TasksetError(f"{where} has no 'id'.", hint=f"An answer has {', '.join(_KEYS)}.")
    if "completion" not in record:
        near = [name for name in _ANSWER_TEXT if name in record]
        hint = f"Rename '{near[0]}' to 'completion'." if near else None
        raise TasksetError(f"{where} has no 'completion'.", hint=hint)
    text, reason = record["completion"], record.get("finish_reason")
    thought, epoch = record.get("reasoning"), record.get("epoch")
    for name, value in (("completion", text), ("finish_reason", reason), ("reasoning", thought)):
        if value is not None and not isinstance(value, str):
            raise TasksetError(f"{where}: '{name}' is neither text nor null.")
    epoch = 0 if epoch is None else epoch
    if not isinstance(epoch, int) or isinstance(epoch, bool) or epoch < 0:
        raise TasksetError(f"{where}: 'epoch' is not a whole number from 0.")
    if text is not None:
        # Half a character is what a cut answer may end in; a file cannot hold it.
        text = text.encode("utf-8", "replace").decode("utf-8")
        within, text = split_think(text)
        thought = "\n".join(filter(None, (thought, within))) or None
    return Completion(
        sample_id=str(given),
        taskset=taskset,
        epoch=epoch,
        prompt_hash="",
        fingerprint="",
        text=text,
        reasoning=thought,
        finish_reason=reason,
        usage=Usage(),
        timing=Timing(0.0, 0.0),
        attempts=(),
    )


def _nothing_found(path: Path, taskset: Taskset, unknown: Mapping[str, None]) -> tuple[str]:
    if not unknown:
        return (f"'{path}' holds no answer.",)
    theirs, ours = next(iter(unknown)), taskset.samples[0].id
    return (
        f"'{path}' answers nothing of '{taskset.name}': its ids are like '{theirs[:60]}', "
        f"and those of the taskset like '{ours[:60]}'.",
    )


def _overruled(answer: Answer) -> bool:
    score = answer.score
    failed = any(flag in MODEL_FAILURES for flag in score.flags)
    said = f"the scorer said {Outcome.CORRECT.value}:"
    return failed and score.outcome is Outcome.ABSTAINED and said in score.explanation


def _passes(
    answers: Sequence[tuple[Sample, Answer]], wanted: Collection[int]
) -> dict[int, Estimate]:
    """Estimate pass@k over samples with at least k answers."""
    tries = Tries()
    for sample, answer in answers:
        if not answer.missing:
            tries.add(sample.id, sample.unit, is_right(answer))
    check_tries(wanted, tries.most)
    return tries.rates(wanted)
