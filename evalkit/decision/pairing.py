"""Joining two runs, pair by pair, on sample, epoch and prompt hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from evalkit.types import Completion, Outcome, Sample, Score, ScoreStatus

Key = tuple[str, str, int]


class ExclusionReason(StrEnum):
    """Why something that one arm has is not part of a pair."""

    ONLY_IN_BASELINE = "only_in_baseline"
    ONLY_IN_CANDIDATE = "only_in_candidate"
    PROMPT_MISMATCH = "prompt_mismatch"
    UNKNOWN_SAMPLE = "unknown_sample"


@dataclass(frozen=True, slots=True)
class Answer:
    """One arm's part of a pair."""

    completion: Completion
    score: Score

    @property
    def missing(self) -> bool:
        """Whether there is no answer to count (infrastructure or judge failed)."""
        return self.score.status in (ScoreStatus.MISSING, ScoreStatus.ERROR)

    @property
    def value(self) -> float | None:
        """Accuracy value in [0, 1]; an answer with nothing to score is not correct."""
        if self.missing:
            return None
        return self.score.value if self.score.value is not None else 0.0

    @property
    def outcome(self) -> Outcome | None:
        """Outcome; an answer with nothing to score attempted nothing that could be false."""
        if self.missing:
            return None
        return self.score.outcome or Outcome.ABSTAINED


@dataclass(frozen=True, slots=True)
class Pair:
    """The same prompt, answered (or not) by both arms."""

    sample: Sample
    epoch: int
    baseline: Answer
    candidate: Answer

    @property
    def complete(self) -> bool:
        """Whether both arms have an answer to count."""
        return not (self.baseline.missing or self.candidate.missing)

    @property
    def same_text(self) -> bool:
        """Whether both arms answered word for word alike."""
        return _said(self.baseline.completion) == _said(self.candidate.completion)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What could not be paired."""

    key: Key
    reason: ExclusionReason


@dataclass(frozen=True, slots=True)
class Pairing:
    """All pairs, in the order of their keys, and everything that was left out."""

    pairs: tuple[Pair, ...]
    exclusions: tuple[Exclusion, ...]

    def counts(self) -> dict[str, int]:
        """Count exclusions by reason, zeros included."""
        found = Counter(exclusion.reason for exclusion in self.exclusions)
        return {reason.value: found[reason] for reason in ExclusionReason}


def pair(
    baseline: Mapping[Key, Answer],
    candidate: Mapping[Key, Answer],
    samples: Mapping[tuple[str, str], Sample],
) -> Pairing:
    """Join two arms.

    Args:
        baseline: Answers of the reference by (taskset, sample id, epoch).
        candidate: The same of the arm under test.
        samples: What was asked, by (taskset, sample id).
    """
    pairs: list[Pair] = []
    exclusions: list[Exclusion] = []
    for key in sorted({*baseline, *candidate}):
        reason = _exclusion(key, baseline, candidate, samples)
        if reason is not None:
            exclusions.append(Exclusion(key, reason))
        else:
            pairs.append(Pair(samples[key[:2]], key[2], baseline[key], candidate[key]))
    return Pairing(tuple(pairs), tuple(exclusions))


def _said(completion: Completion) -> str | None:
    """Return an answer's text, or its hash where the texts of both arms are redacted."""
    redacted = completion.redacted
    return completion.text if redacted is None else redacted.text


def _exclusion(
    key: Key,
    baseline: Mapping[Key, Answer],
    candidate: Mapping[Key, Answer],
    samples: Mapping[tuple[str, str], Sample],
) -> ExclusionReason | None:
    if key not in candidate:
        return ExclusionReason.ONLY_IN_BASELINE
    if key not in baseline:
        return ExclusionReason.ONLY_IN_CANDIDATE
    if key[:2] not in samples:
        return ExclusionReason.UNKNOWN_SAMPLE
    if baseline[key].completion.prompt_hash != candidate[key].completion.prompt_hash:
        return ExclusionReason.PROMPT_MISMATCH
    return None
