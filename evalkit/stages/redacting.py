"""Comparing without texts: who scores, which keys are shared, and what a report may show."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from evalkit.collect.journal import open_run
from evalkit.collect.redaction import Redaction, read_secret, recorded_redaction
from evalkit.config import Config
from evalkit.errors import StoreError
from evalkit.fingerprint import digest, keyed_digest
from evalkit.results import AnswerView, Comparison, SampleView
from evalkit.stages.arms import Arm
from evalkit.stages.plan import Plan
from evalkit.types import Completion


class Keeper:
    """Scores completions while their texts are in memory, and hands on what may be kept.

    Threads do it, so that neither a long answer nor a program in the sandbox holds up the
    others; there are no more of them than processors, since a program that waits for its
    turn would run out of time.
    """

    def __init__(self, plan: Plan, redaction: Redaction) -> None:
        # Scorers are slow to import: only a redacted run needs them before its end.
        from evalkit.scoring.base import SCORERS

        self._redaction = redaction
        self._samples = plan.samples()
        self._scorers = {taskset.name: SCORERS.get(taskset.scorer) for taskset in plan.tasksets}
        workers = os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="evalkit-score")

    async def __call__(self, completion: Completion) -> Completion:
        """Return the completion with its score and without its texts."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._keep, completion)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the threads; what was not begun is dropped, as whoever waits for it is."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _keep(self, completion: Completion) -> Completion:
        from evalkit.scoring.judging import judge

        sample = self._samples[completion.taskset, completion.sample_id]
        score = judge(sample, completion, self._scorers[completion.taskset])
        return self._redaction.completion(completion, score)


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
    seals = [[sample for sample in _texts(result.samples)] for result in comparison.results]
    secret = (read_secret() or "").encode()
    key = keyed_digest(secret, ["report", digest(["report", seals])]).encode()
    results = tuple(
        replace(result, samples=tuple(_without_texts(sample, key) for sample in result.samples))
        for result in comparison.results
    )
    return replace(comparison, results=results, redacted=True)


def _texts(samples: Sequence[SampleView]) -> list[Any]:
    return [
        [s.sample_id, [dict(m) for m in s.prompt], s.target, s.baseline.text, s.candidate.text]
        for s in samples
    ]


def _without_texts(sample: SampleView, key: bytes) -> SampleView:
    prompt: Sequence[Mapping[str, str]] = [dict(message) for message in sample.prompt]
    return replace(
        sample,
        prompt=(),
        target="",
        prompt_hash=keyed_digest(key, ["prompt", prompt]),
        baseline=_without_text(sample, sample.baseline, key),
        candidate=_without_text(sample, sample.candidate, key),
    )


def _without_text(sample: SampleView, answer: AnswerView, key: bytes) -> AnswerView:
    def hashed(what: str, text: str | None) -> str | None:
        place = [what, sample.taskset, sample.sample_id, text]
        return None if text is None else keyed_digest(key, place)

    kind = None if answer.error is None else answer.error.partition(":")[0]
    return replace(
        answer,
        text=None,
        reasoning=None,
        text_hash=hashed("text", answer.text),
        text_length=None if answer.text is None else len(answer.text),
        answer=hashed("answer", answer.answer),
        explanation="",
        error=kind,
    )
