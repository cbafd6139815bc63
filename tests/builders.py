"""Small pieces of data that tests of several packages need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalkit.decision.pairing import Answer, Pair
from evalkit.types import (
    Completion,
    CompletionError,
    Family,
    Flag,
    Message,
    Outcome,
    Sample,
    Score,
    ScoreStatus,
    Taskset,
    Timing,
    Usage,
)

RIGHT, WRONG, ABSTAINED = "right", "wrong", "abstained"
TRUNCATED, EMPTY, MISSING, UNSCORED = "truncated", "empty", "missing", "unscored"
LOOP = "loop"


def sample(
    id: str = "s1",
    *,
    taskset: str = "facts",
    family: Family = Family.FACTS,
    cluster: str | None = None,
    language: str = "en",
) -> Sample:
    return Sample(
        id=id,
        taskset=taskset,
        family=family,
        language="zh" if language == "zh" else "en",
        category="capitals",
        messages=(Message("user", f"Question {id}?"),),
        target={"answer": "42"},
        cluster=cluster,
    )


def taskset(
    samples: Sequence[Sample],
    *,
    family: Family = Family.FACTS,
    margin: float = 5.0,
    measures_hallucination: bool = False,
) -> Taskset:
    return Taskset(
        name=samples[0].taskset if samples else family.value,
        version=1,
        family=family,
        description="A test.",
        scorer="facts",
        max_tokens=16,
        margin=margin,
        measures_hallucination=measures_hallucination,
        samples=tuple(samples),
        content_hash="0" * 32,
    )


def completion(
    of: Sample,
    *,
    epoch: int = 0,
    text: str | None = "42",
    prompt_hash: str | None = None,
    arm: str = "a",
    error: str | None = None,
) -> Completion:
    return Completion(
        sample_id=of.id,
        taskset=of.taskset,
        epoch=epoch,
        prompt_hash=prompt_hash or f"hash-{of.taskset}-{of.id}",
        fingerprint=f"{arm}-{of.taskset}-{of.id}-{epoch}",
        text=None if error else text,
        reasoning=None,
        finish_reason=None if error else "stop",
        usage=Usage(5, 2),
        timing=Timing(started=1000.0, total=0.5),
        attempts=(),
        error=CompletionError(error, f"{error} happened") if error else None,
    )


def answer(
    of: Sample,
    kind: str,
    *,
    epoch: int = 0,
    arm: str = "a",
    text: str = "42",
    prompt_hash: str | None = None,
) -> Answer:
    """Make an answer of a kind: RIGHT, WRONG, ABSTAINED, TRUNCATED, EMPTY, MISSING, UNSCORED."""
    status, outcome, value, flags = {
        RIGHT: (ScoreStatus.SCORED, Outcome.CORRECT, 1.0, ()),
        WRONG: (ScoreStatus.SCORED, Outcome.INCORRECT, 0.0, (Flag.HALLUCINATED,)),
        ABSTAINED: (ScoreStatus.SCORED, Outcome.ABSTAINED, 0.0, ()),
        TRUNCATED: (ScoreStatus.SCORED, Outcome.ABSTAINED, 0.0, (Flag.TRUNCATED,)),
        LOOP: (
            ScoreStatus.SCORED,
            Outcome.ABSTAINED,
            0.0,
            (Flag.TRUNCATED, Flag.LOOP),
        ),
        EMPTY: (ScoreStatus.SCORED, Outcome.ABSTAINED, 0.0, (Flag.EMPTY,)),
        MISSING: (ScoreStatus.MISSING, None, None, ()),
        UNSCORED: (ScoreStatus.UNSCORED, None, None, (Flag.BAD_FORMAT,)),
    }[kind]
    made = completion(
        of,
        epoch=epoch,
        text=text,
        arm=arm,
        prompt_hash=prompt_hash,
        error="Timeout" if kind == MISSING else None,
    )
    score = Score(
        sample_id=of.id,
        taskset=of.taskset,
        epoch=epoch,
        fingerprint=made.fingerprint,
        scorer="facts",
        scorer_version=1,
        status=status,
        outcome=outcome,
        value=value,
        flags=flags,
        reason="infra:Timeout" if kind == MISSING else None,
    )
    return Answer(made, score)


def pairs(
    spec: Sequence[tuple[str, str, int]],
    *,
    taskset: str = "facts",
    family: Family = Family.FACTS,
) -> list[Pair]:
    """Make pairs from (baseline kind, candidate kind, how many)."""
    made = []
    for baseline, candidate, count in spec:
        for _ in range(count):
            one = sample(f"{taskset}-{len(made):05d}", taskset=taskset, family=family)
            made.append(
                Pair(one, 0, answer(one, baseline, arm="a"), answer(one, candidate, arm="b"))
            )
    return made


def with_tokens(made: Sequence[Pair], prompt: int | None, answer: int | None) -> list[Pair]:
    """Give the baseline's answers a usage of so many tokens."""
    return [
        replace(
            one,
            baseline=replace(
                one.baseline,
                completion=replace(one.baseline.completion, usage=Usage(prompt, answer)),
            ),
        )
        for one in made
    ]
