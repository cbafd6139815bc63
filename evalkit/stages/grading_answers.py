"""Scoring answers that anything recorded: `id` and `completion`, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from evalkit.collect.writer import write_atomic
from evalkit.decision.pairing import Answer
from evalkit.decision.summaries import arm_summary
from evalkit.endpoints.reasoning import split_think
from evalkit.errors import StoreError, TasksetError, UsageError
from evalkit.estimates import Estimate
from evalkit.results import ArmSummary
from evalkit.scoring.base import SCORERS
from evalkit.scoring.judging import MODEL_FAILURES
from evalkit.stages.scoring_pool import score_all
from evalkit.stats.rates import wilson_clustered
from evalkit.stats.repeats import pass_at_k
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
        pass_at: Mean over samples of the chance that one of k answers is right, by k; empty
            with one answer a sample.
        overruled: Answers that the scorer found right and a failure of the model made none
            (cut off, looping, ...).
    """

    taskset: Taskset
    recorded: Recorded
    answers: tuple[tuple[Sample, Answer], ...]
    summary: ArmSummary
    pass_at: Mapping[int, float]
    overruled: int


def read_answers(path: Path, taskset: Taskset) -> Recorded:
    """Read a file of answers.

    Args:
        path: JSONL with `id`, `completion` (text or null), optionally `finish_reason`,
            `epoch` (from 0) and `reasoning`; other keys are passed over.
        taskset: What was asked.

    Raises:
        TasksetError: Names the line that is no answer.
        UsageError: When no line answers the taskset.
    """
    known = {sample.id for sample in taskset.samples}
    found: dict[tuple[str, int], Completion] = {}
    unknown: dict[str, None] = {}
    duplicate: dict[str, None] = {}
    for completion in _completions(path, taskset.name):
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
    taskset: Taskset, recorded: Recorded, *, allow_code: bool, processes: int | None = None
) -> Graded:
    """Score recorded answers as those of a run are.

    Args:
        taskset: What was asked.
        recorded: Of `read_answers`.
        allow_code: Whether the scorer may run what a model wrote.
        processes: At most so many score at once; by default one a processor.

    Raises:
        UnknownNameError: For a scorer that is not known.
        UsageError: For a scorer that runs code, when that is not allowed.
    """
    scorer = SCORERS.get(taskset.scorer)
    if taskset.code and not allow_code:
        raise UsageError(
            f"Taskset '{taskset.name}' runs code answers.", hint="Allow it with --allow-code."
        )
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
    return Graded(taskset, recorded, answers, summary, _pass_at(answers), overruled)


def _summary(answers: Sequence[tuple[Sample, Answer]], *, may_abstain: bool) -> ArmSummary:
    present = [(sample, answer) for sample, answer in answers if not answer.missing]
    plain = [answer for _, answer in present]
    summary = arm_summary(
        plain,
        missing=len(answers) - len(present),
        hallucination=plain if may_abstain else (),
    )
    codes: dict[object, int] = {}
    units = np.array([codes.setdefault(sample.unit, len(codes)) for sample, _ in present])
    wrong = np.array([answer.outcome is Outcome.INCORRECT for answer in plain])
    silent = np.array([answer.outcome is Outcome.ABSTAINED for answer in plain])

    def rate(values: NDArray[Any], kept: NDArray[np.bool_] | None = None) -> Estimate:
        chosen = np.ones(len(plain), bool) if kept is None else kept
        return wilson_clustered(values[chosen].astype(float), units[chosen])

    if not plain:
        return summary
    accuracy = rate(np.array([answer.value for answer in plain], float))
    if not may_abstain:
        return replace(summary, accuracy=accuracy, abstention=rate(silent))
    return replace(
        summary,
        accuracy=accuracy,
        hallucination=rate(wrong),
        abstention=rate(silent),
        hallucination_attempted=rate(wrong, ~silent),
    )


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


def _completions(path: Path, taskset: str) -> Iterator[Completion]:
    if not path.exists():
        raise TasksetError(f"'{path}' does not exist.", hint="Name a JSONL file of answers.")
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                where = f"'{path}' line {number}"
                yield _completion(parse_object(line, where), where, taskset)


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


def _pass_at(answers: Sequence[tuple[Sample, Answer]]) -> dict[int, float]:
    """Average pass@k over samples, for k from 1 to the answers that every sample has."""
    tried: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for sample, answer in answers:
        if not answer.missing:
            tried[sample.id] += 1
            right[sample.id] += answer.outcome is Outcome.CORRECT
    most = min(tried.values(), default=0)
    if most < 2:
        return {}
    return {
        k: sum(pass_at_k(n, right[name], k) for name, n in tried.items()) / len(tried)
        for k in range(1, most + 1)
        if k in (1, 2, 3, 5, 10, 20, 50, 100, most)
    }
