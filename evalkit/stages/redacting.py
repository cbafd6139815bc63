"""Comparing without texts: who scores, which keys are shared, and what a report may show."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from evalkit.collect.journal import open_run
from evalkit.collect.redaction import Redaction, plain_word, read_secret, recorded_redaction
from evalkit.collect.runner import Keep
from evalkit.config import Config
from evalkit.errors import StoreError
from evalkit.fingerprint import digest, keyed_digest
from evalkit.results import AnswerView, Comparison, SampleView
from evalkit.stages.arms import Arm
from evalkit.stages.plan import Plan
from evalkit.types import Completion


@contextmanager
def keeper(plan: Plan, redaction: Redaction) -> Iterator[Keep]:
    """Score completions while their texts are in memory, and hand on what may be kept.

    Threads do it, so that neither a long answer nor a program in the sandbox holds up the
    others; there are no more of them than processors, since a program that waits for its
    turn would run out of time. In the end, what was not begun is dropped, as whoever waits
    for it is.
    """
    # Scorers are slow to import: only a redacted run needs them before its end.
    from evalkit.scoring.base import SCORERS
    from evalkit.scoring.judging import judge

    samples = plan.samples()
    scorers = {taskset.name: SCORERS.get(taskset.scorer) for taskset in plan.tasksets}
    pool = ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="evalkit-score")

    def score(completion: Completion) -> Completion:
        sample = samples[completion.taskset, completion.sample_id]
        return redaction.completion(
            completion, judge(sample, completion, scorers[completion.taskset])
        )

    async def keep(completion: Completion) -> Completion:
        return await asyncio.get_running_loop().run_in_executor(pool, score, completion)

    try:
        yield keep
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def scorers_of(plan: Plan) -> dict[str, str]:
    """Return name and version of each taskset's scorer: a redacted run is scored only once."""
    from evalkit.scoring.base import SCORERS

    scorers = {taskset.name: SCORERS.get(taskset.scorer) for taskset in plan.tasksets}
    return {name: f"{scorer.name} v{scorer.version}" for name, scorer in scorers.items()}


def shared_redaction(arms: Sequence[Arm], plan: Plan, config: Config) -> Redaction | None:
    """Return the redaction that all arms are compared under; `None` when texts may be shown.

    One redacted run is enough: the same prompts stand in every arm.

    Raises:
        StoreError: When two runs were redacted with different secrets.
        ConfigError: When the secret can be guessed.
    """
    found: list[tuple[Arm, Redaction]] = []
    for arm in arms:
        if arm.recorded is not None:
            header = open_run(arm.recorded).read_header() or {}
            redaction = recorded_redaction(header, plan.tasksets, str(arm.recorded))
            if redaction is not None:
                found.append((arm, redaction))
    for arm, redaction in found[1:]:
        if redaction.key_check != found[0][1].key_check:
            raise StoreError(
                f"{found[0][0].recorded} and {arm.recorded} were redacted with different "
                "secrets, so that their answers cannot be joined.",
                hint="Record one of them again under the other's secret.",
            )
    if found:
        return found[0][1]
    return Redaction.of(plan.tasksets, read_secret()) if config.redact else None


def redact_comparison(comparison: Comparison) -> Comparison:
    """Return a comparison without prompts, targets and answers.

    Its hashes are made with a key from its own content: equal texts of one sample stay
    equal, and nobody without the content can try out what they were.

    Raises:
        ConfigError: When the secret can be guessed.
    """
    if comparison.redacted:
        return comparison
    seal = sealing(comparison)
    results = tuple(
        replace(result, samples=tuple(map(seal, result.samples))) for result in comparison.results
    )
    return replace(comparison, results=results, redacted=True)


def sealing(comparison: Comparison) -> Callable[[SampleView], SampleView]:
    """Return what `redact_comparison` does to each pair, for pairs that it does not hold.

    Raises:
        ConfigError: When the secret can be guessed.
    """
    seals = [_texts(result.samples) for result in comparison.results]
    secret = (read_secret() or "").encode()
    key = keyed_digest(secret, ["report", digest(["report", seals])]).encode()
    return lambda sample: _without_texts(sample, key)


def _texts(samples: Sequence[SampleView]) -> list[list[Any]]:
    return [
        [s.sample_id, [dict(m) for m in s.prompt], s.target, s.baseline.text, s.candidate.text]
        for s in samples
    ]


def _without_texts(sample: SampleView, key: bytes) -> SampleView:
    # Field by field, so that nothing is shown that nobody has thought of.
    return SampleView(
        sample_id=sample.sample_id,
        taskset=sample.taskset,
        family=sample.family,
        language=sample.language,
        category=sample.category,
        epoch=sample.epoch,
        transition=sample.transition,
        cause=sample.cause,
        prompt=(),
        target="",
        baseline=_without_text(sample, sample.baseline, key),
        candidate=_without_text(sample, sample.candidate, key),
        prompt_hash=keyed_digest(key, ["prompt", [dict(turn) for turn in sample.prompt]]),
    )


def _without_text(sample: SampleView, answer: AnswerView, key: bytes) -> AnswerView:
    def hashed(what: str, text: str | None) -> str | None:
        place = [what, sample.taskset, sample.sample_id, text]
        return None if text is None else keyed_digest(key, place)

    return AnswerView(
        text=None,
        reasoning=None,
        answer=hashed("answer", answer.answer),
        outcome=answer.outcome,
        value=answer.value,
        explanation="",
        flags=answer.flags,
        finish_reason=None if answer.finish_reason is None else plain_word(answer.finish_reason),
        completion_tokens=answer.completion_tokens,
        error=None if answer.error is None else answer.error.partition(":")[0],
        text_hash=hashed("text", answer.text),
        text_length=None if answer.text is None else len(answer.text),
    )
