"""Gives every completion its score: what is decided before and after a scorer is asked.

Missing is not wrong: a request that was never answered has no value. A failure of the
model (cut off, empty, looping, badly formatted) is an answer, and not a correct one; it
asserts nothing, so it is an abstention and never a hallucination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from evalkit.errors import BadRequest, ContextLengthError, ScoringError
from evalkit.scoring.base import Judgement, Scorer
from evalkit.scoring.health import health_flags
from evalkit.scoring.scripts import names_a_language
from evalkit.scoring.text import is_blank
from evalkit.types import (
    CONTINUATION,
    Completion,
    Family,
    Flag,
    Language,
    Outcome,
    Sample,
    Score,
    ScoreStatus,
)

MODEL_FAILURES = frozenset({Flag.TRUNCATED, Flag.EMPTY, Flag.LOOP, Flag.BAD_FORMAT})
_REQUEST_ERRORS = frozenset({BadRequest.__name__, ContextLengthError.__name__})


def judge(sample: Sample, completion: Completion, scorer: Scorer) -> Score:
    """Score one completion. Never raises for what the model or the scorer did.

    An error of the endpoint is `MISSING` with reason `infra:<class>`, or `request:<class>`
    when the request itself was refused. Null and blank answers are abstentions. A scorer
    that fails gives `ERROR` with the class of its failure as the reason, a judge that failed
    `MISSING` with reason `judge:<what>`. Where nothing could be extracted the score is
    `UNSCORED` and flagged as badly formatted. A model's failure overrides the scorer's
    outcome, and the explanation says so, unless the scorer's word is final: another tool's
    rule is then kept as it is, and the failure stays a flag.
    """
    score = Score(
        sample_id=completion.sample_id,
        taskset=completion.taskset,
        epoch=completion.epoch,
        fingerprint=completion.fingerprint,
        scorer=scorer.name,
        scorer_version=scorer.version,
        status=ScoreStatus.SCORED,
    )
    if completion.error is not None:
        kind = completion.error.kind
        origin = "request" if kind in _REQUEST_ERRORS else "infra"
        return replace(
            score,
            status=ScoreStatus.MISSING,
            reason=f"{origin}:{kind}",
            explanation=completion.error.message,
        )
    text = completion.text
    # Numbers are neither healthy nor sick.
    measured = sample.messages[-1].role == CONTINUATION
    language = expected_language(sample)
    flags = () if measured else health_flags(text, completion.finish_reason, language)
    final = getattr(scorer, "final", False)
    if text is None or (is_blank(text) and not final):
        return _abstained(score, flags, "The answer is empty.")
    try:
        judgement = _checked(scorer(sample, text))
    except Exception as error:  # noqa: BLE001 - a scorer may be anybody's; one may not end a run
        return replace(
            score,
            status=ScoreStatus.ERROR,
            reason=type(error).__name__,
            explanation=" ".join(str(error).split())[:400],
            flags=flags,
        )
    return _combined(score, judgement, flags, final=final)


def decides_itself(sample: Sample, completion: Completion) -> bool:
    """Whether the outcome is known whatever a scorer says: no answer, or a failed one."""
    text = completion.text
    if completion.error is not None or text is None or not text.strip():
        return True
    flags = health_flags(text, completion.finish_reason, expected_language(sample))
    return not MODEL_FAILURES.isdisjoint(flags)


def judge_all(
    samples: Mapping[tuple[str, str], Sample],
    completions: Iterable[Completion],
    scorer_for: Callable[[str], Scorer],
) -> Iterator[Score]:
    """Score completions one by one, in their order.

    Args:
        samples: By taskset name and sample id.
        completions: Any number; nothing is held in memory.
        scorer_for: From the name of a taskset to its scorer.

    Raises:
        ScoringError: For a completion of a sample that is not among `samples`.
    """
    for completion in completions:
        sample = samples.get((completion.taskset, completion.sample_id))
        if sample is None:
            raise ScoringError(
                f"A completion belongs to sample '{completion.sample_id}' of taskset "
                f"'{completion.taskset}', which is not in this prompt set.",
                hint="Score it with the tasksets of its own run.",
            )
        yield judge(sample, completion, scorer_for(completion.taskset))


def expected_language(sample: Sample) -> Language | None:
    """Return the language an answer should be in; `None` for programs.

    `answer_language` in a sample's metadata overrides that of the prompt; any value but
    `en` and `zh` means that no language is expected. Without it, none is expected where the
    prompt asks for a translation or names a language to answer in.
    """
    if sample.family is Family.CODE:
        return None
    language = sample.metadata.get("answer_language")
    if language is None:
        asked = any(names_a_language(message.content) for message in sample.messages)
        language = None if asked else sample.language
    return language if language in ("en", "zh") else None


def _checked(judgement: Judgement) -> Judgement:
    """Return a judgement that keeps its own contract.

    Raises:
        ScoringError: When it does not.
    """
    value = judgement.value
    if (judgement.outcome is None) != (value is None):
        raise ScoringError("The scorer gave an outcome without a value, or the reverse.")
    if value is not None and not 0.0 <= value <= 1.0:
        raise ScoringError(f"The scorer gave the value {value}, which is not in [0, 1].")
    return judgement


def _abstained(score: Score, flags: tuple[Flag, ...], explanation: str) -> Score:
    return replace(
        score, outcome=Outcome.ABSTAINED, value=0.0, flags=flags, explanation=explanation
    )


def _combined(
    score: Score, judgement: Judgement, flags: tuple[Flag, ...], *, final: bool = False
) -> Score:
    flags = tuple(dict.fromkeys((*flags, *judgement.flags)))
    score = replace(
        score,
        answer=judgement.answer,
        explanation=judgement.explanation,
        outcome=judgement.outcome,
        value=judgement.value,
        flags=flags,
        reason=judgement.reason,
    )
    causes = [flag.value for flag in flags if flag in MODEL_FAILURES]
    if judgement.missing:
        if not causes:
            return replace(score, status=ScoreStatus.MISSING)
        said = f"Not counted as an answer ({', '.join(causes)}); nobody was asked."
        return _abstained(replace(score, reason=None), flags, said)
    if judgement.outcome is None:
        return replace(
            score,
            status=ScoreStatus.UNSCORED,
            reason=judgement.reason or "extraction",
            flags=tuple(dict.fromkeys((*flags, Flag.BAD_FORMAT))),
        )
    refused = Flag.REFUSED in flags and judgement.outcome is Outcome.INCORRECT
    if final or (not causes and not refused):
        return score
    causes = causes or [Flag.REFUSED.value]
    return _abstained(
        score,
        tuple(flag for flag in flags if flag is not Flag.HALLUCINATED),
        f"Not counted as an answer ({', '.join(causes)}); "
        f"the scorer said {judgement.outcome.value}: {judgement.explanation}",
    )
