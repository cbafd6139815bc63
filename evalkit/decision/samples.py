"""Pairs as readers see them: prompt, target, both answers, and why each scored as it did."""

from __future__ import annotations

import json
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from evalkit.decision.attribution import Transition, cause, transition
from evalkit.decision.pairing import Answer, Pair
from evalkit.results import AnswerView, SampleView

TEXT_BUDGET = 20_000_000
_SEED = 20261130
# What a view takes beside its texts.
_LEAST = 500

# One encoder for all: making it costs more than using it.
_TARGET = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
# In the order of the report, with each one's share of the budget when it does not do.
_SHARES: dict[Transition, float] = {"regression": 0.6, "missing": 0.1, "improvement": 0.3}


def sample_views(
    pairs: Iterable[Pair], budget: int = TEXT_BUDGET, judged: Collection[str] = ()
) -> tuple[tuple[SampleView, ...], dict[str, int]]:
    """Return the pairs that changed or lack an answer, regressions first.

    All of them while their texts fit the budget; else a seeded draw of each transition, most
    of it regressions, so that a large run stays a file that can be opened.

    Args:
        pairs: Of a comparison.
        budget: Characters of prompts and answers, about.
        judged: Tasksets that a model judges.

    Returns:
        The views, and how many pairs of each transition were left out.
    """
    moved: dict[Transition, list[Pair]] = {}
    for pair in pairs:
        moved.setdefault(transition(pair), []).append(pair)
    wanted = {name: moved[name] for name in _SHARES if name in moved}
    fits = sum(_size(pair) for group in wanted.values() for pair in group) <= budget
    views: list[SampleView] = []
    left_out: dict[str, int] = {}
    for name, group in wanted.items():
        chosen = list(group) if fits else _within(group, _SHARES[name] * budget)
        chosen.sort(key=lambda pair: (pair.sample.taskset, pair.sample.id, pair.epoch))
        views += [sample_view(pair, name, judged) for pair in chosen]
        if len(chosen) < len(group):
            left_out[name] = len(group) - len(chosen)
    return tuple(views), left_out


def _within(pairs: Sequence[Pair], budget: float) -> list[Pair]:
    """Draw pairs until the budget is used up."""
    chosen = []
    for pair in random.Random(_SEED).sample(pairs, len(pairs)):
        budget -= _size(pair)
        if budget < 0:
            break
        chosen.append(pair)
    return chosen


def _size(pair: Pair) -> int:
    texts = [message.content for message in pair.sample.messages]
    for answer in (pair.baseline, pair.candidate):
        texts += [answer.completion.text or "", answer.completion.reasoning or ""]
    return _LEAST + sum(map(len, texts))


def sample_view(pair: Pair, moved_as: Transition, judged: Collection[str]) -> SampleView:
    """Return one pair as a reader sees it."""
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
        cause=cause(worse, judged),
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
    return _TARGET.encode(target)
