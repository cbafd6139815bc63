"""Scores of workers are those of one process, in the same order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from evalkit.errors import ScoringError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.stages import scoring_pool
from evalkit.stages.scoring_pool import score_all
from evalkit.types import (
    Completion,
    CompletionError,
    Family,
    Message,
    Outcome,
    Sample,
    Timing,
    Usage,
)


def sample(number: int) -> Sample:
    return Sample(
        id=f"s{number}",
        taskset="t",
        family=Family.MATH,
        language="en",
        category="c",
        messages=(Message("user", f"What is {number} + 1?"),),
        target={"value": str(number + 1)},
    )


def completion(number: int) -> Completion:
    return Completion(
        sample_id=f"s{number}",
        taskset="t",
        epoch=0,
        prompt_hash="p",
        fingerprint=f"f{number}",
        text=None if number % 7 == 0 else f"It is {number + number % 3}. 答案 \u2028",
        reasoning=None,
        finish_reason="length" if number % 11 == 0 else "stop",
        usage=Usage(),
        timing=Timing(0.0, 0.0),
        attempts=(),
        error=CompletionError("Timeout", "late") if number % 13 == 0 else None,
    )


SAMPLES = {("t", f"s{number}"): sample(number) for number in range(400)}
COMPLETIONS = [completion(number) for number in range(400)]


def test_workers_score_as_one_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    scorers = {"t": SCORERS.get("math")}
    serial = list(score_all(SAMPLES, COMPLETIONS, scorers, total=400, processes=1))
    monkeypatch.setattr(scoring_pool, "_WORTH_SECONDS", 0.0)
    pooled = list(score_all(SAMPLES, iter(COMPLETIONS), scorers, total=400, processes=2))
    assert pooled == serial
    assert [score.fingerprint for _, score in pooled] == [c.fingerprint for c in COMPLETIONS]


def test_an_unknown_sample_is_told_from_a_worker_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring_pool, "_WORTH_SECONDS", 0.0)
    strange = [*COMPLETIONS, replace(COMPLETIONS[0], sample_id="strange")]
    scored = score_all(SAMPLES, strange, {"t": SCORERS.get("math")}, total=401, processes=2)
    with pytest.raises(ScoringError, match="'strange'"):
        list(scored)


def test_a_worker_that_dies_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring_pool, "_WORTH_SECONDS", 0.0)
    monkeypatch.setattr(scoring_pool.sys, "executable", "/bin/false")
    scored = score_all(SAMPLES, COMPLETIONS, {"t": SCORERS.get("math")}, total=400, processes=2)
    with pytest.raises(ScoringError, match="A scoring process died"):
        list(scored)


@dataclass(frozen=True)
class Own:
    name: str = "own"
    version: int = 1

    def __call__(self, sample: Sample, text: str) -> Judgement:
        return Judgement(Outcome.CORRECT, 1.0, text, "own")


def test_a_scorer_of_a_script_stays_in_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring_pool, "_WORTH_SECONDS", 0.0)
    monkeypatch.setattr(scoring_pool.sys, "executable", "/bin/false")
    assert len(list(score_all(SAMPLES, COMPLETIONS, {"t": Own()}, total=400, processes=2))) == 400
