"""Pairs as readers see them: prompt, target, both answers, and why each scored as it did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from evalkit.decision.attribution import Transition, cause, transition
from evalkit.decision.pairing import Answer, Pair
from evalkit.results import AnswerView, SampleView

_ORDER: dict[Transition, int] = {"regression": 0, "missing": 1, "improvement": 2}


def sample_views(pairs: Iterable[Pair]) -> tuple[SampleView, ...]:
    """Return every pair that changed or lacks an answer, regressions first."""
    moved = [(transition(pair), pair) for pair in pairs]
    shown = sorted(
        ((moved_as, pair) for moved_as, pair in moved if moved_as in _ORDER),
        key=lambda item: (
            _ORDER[item[0]],
            item[1].sample.taskset,
            item[1].sample.id,
            item[1].epoch,
        ),
    )
    return tuple(_sample_view(pair, moved_as) for moved_as, pair in shown)


def _sample_view(pair: Pair, moved_as: Transition) -> SampleView:
    sample = pair.sample
    worse = pair.baseline if moved_as == "improvement" else pair.candidate
    if moved_as == "missing" and not pair.candidate.missing:
        worse = pair.baseline
    redacted = pair.baseline.completion.redacted is not None
    prompt = tuple({"role": m.role, "content": m.content} for m in sample.messages)
    return SampleView(
        sample_id=sample.id,
        taskset=sample.taskset,
        family=sample.family.value,
        language=sample.language,
        category=sample.category,
        epoch=pair.epoch,
        transition=moved_as,
        cause=cause(worse),
        prompt=() if redacted else prompt,
        target="" if redacted else _shown_target(sample.target),
        baseline=_answer_view(pair.baseline),
        candidate=_answer_view(pair.candidate),
        prompt_hash=pair.baseline.completion.prompt_hash if redacted else None,
    )


def _answer_view(answer: Answer) -> AnswerView:
    completion, score = answer.completion, answer.score
    error, kept = completion.error, completion.redacted
    return AnswerView(
        text=completion.text,
        reasoning=completion.reasoning,
        answer=score.answer,
        outcome=score.outcome.value if score.outcome is not None else None,
        value=score.value,
        explanation=score.explanation,
        flags=tuple(flag.value for flag in score.flags),
        finish_reason=completion.finish_reason,
        completion_tokens=completion.usage.completion_tokens,
        error=f"{error.kind}: {error.message}" if error is not None else None,
        text_hash=kept.text if kept is not None else None,
        text_length=kept.text_length if kept is not None else None,
    )


def _shown_target(target: Mapping[str, Any]) -> str:
    return json.dumps(target, ensure_ascii=False, sort_keys=True)
