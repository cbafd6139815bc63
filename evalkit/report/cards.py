"""Flips for readers: both answers to one prompt, side by side."""

from __future__ import annotations

from typing import Final

from evalkit.report import numbers
from evalkit.report.model import AnswerCard, Flips, SampleCard
from evalkit.report.text import cut, one_line, visible
from evalkit.report.words import Words
from evalkit.results import AnswerView, CandidateResult, SampleView

MAX_CARDS: Final = 200
_HEAD: Final = 3000
_TAIL: Final = 1000
_HASH: Final = 12


def flips(words: Words, baseline: str, result: CandidateResult, transition: str) -> Flips:
    """Return the flips of one direction (`regression` or `improvement`), at most `MAX_CARDS`."""
    found = [sample for sample in result.samples if sample.transition == transition]
    shown = found[:MAX_CARDS]
    candidate = one_line(result.endpoint)
    cells = result.pooled.flips
    total = max(len(found), cells.lost if transition == "regression" else cells.gained)
    note = ""
    if total > len(shown):
        note = words("flips.note", shown=numbers.count(len(shown)), total=numbers.count(total))
    return Flips(
        cards=tuple(_card(words, baseline, candidate, sample) for sample in shown),
        total=total,
        total_text=numbers.count(total),
        note=note,
    )


def _card(words: Words, baseline: str, candidate: str, sample: SampleView) -> SampleCard:
    where = [
        words.name("scope", one_line(sample.family)),
        words.name("language", one_line(sample.language)),
        one_line(sample.category),
    ]
    if one_line(sample.taskset) != one_line(sample.family):
        where.insert(0, one_line(sample.taskset))
    if sample.epoch:
        where.append(words("epoch", n=str(sample.epoch)))
    prompt = tuple(
        (
            words.name("message_role", one_line(str(message.get("role", "")))),
            _text(words, str(message.get("content", ""))),
        )
        for message in sample.prompt
    )
    target = _text(words, sample.target)
    if sample.prompt_hash is not None:
        prompt = ((words("redacted.role"), _hash(words, sample.prompt_hash)),)
        target = words("redacted.target")
    return SampleCard(
        sample_id=one_line(sample.sample_id),
        where=" · ".join(part for part in where if part),
        cause=words.name("cause", one_line(sample.cause)) if sample.cause else "",
        prompt=prompt,
        target=target,
        baseline=_answer(words, baseline, sample, sample.baseline),
        candidate=_answer(words, candidate, sample, sample.candidate),
    )


def _answer(words: Words, arm: str, sample: SampleView, answer: AnswerView) -> AnswerCard:
    facts: list[tuple[str, str]] = []
    if answer.flags:
        flags = ", ".join(words.name("flag", one_line(flag)) for flag in answer.flags)
        facts.append((words("fact.flags"), flags))
    if answer.finish_reason:
        facts.append((words("fact.finish"), one_line(answer.finish_reason)))
    if answer.completion_tokens is not None:
        facts.append((words("fact.tokens"), numbers.count(answer.completion_tokens)))
    if answer.value is not None and answer.value not in (0.0, 1.0):
        facts.append((words("fact.value"), numbers.score(answer.value)))
    extracted = one_line(answer.answer or "")
    if extracted and sample.prompt_hash is not None:
        extracted = _hash(words, extracted)
    return AnswerCard(
        arm=arm,
        text=_shown(words, answer),
        missing=answer.error is not None or answer.text is None or not answer.text.strip(),
        reasoning=_text(words, answer.reasoning or ""),
        answer=extracted,
        outcome=words.name("outcome", one_line(answer.outcome or "unscored")),
        explanation=one_line(answer.explanation),
        facts=tuple(facts),
    )


def _shown(words: Words, answer: AnswerView) -> str:
    """Return the text of an answer, or what stands for it."""
    if answer.error is not None:
        return words("no_answer", reason=one_line(answer.error))
    if answer.text_hash is not None and answer.text_length:
        length, shown = numbers.count(answer.text_length), one_line(answer.text_hash)
        return words("redacted.text", n=length, hash=shown[:_HASH])
    if answer.text is None and answer.text_length is None:
        return words("no_answer", reason=words("null_text"))
    text = answer.text or ""
    return _text(words, text) if text.strip() else words("empty_text")


def _hash(words: Words, text: str) -> str:
    return words("redacted.hash", hash=one_line(text)[:_HASH])


def _text(words: Words, text: str) -> str:
    # The marker's own field is filled by `cut`, after the text has been shortened.
    return visible(cut(text, _HEAD, _TAIL, words("cut", n="{n}")))
