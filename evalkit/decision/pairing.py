"""Joining two runs, pair by pair, on sample, epoch and prompt hash."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evalkit.types import Completion, Outcome, Sample, Score, ScoreStatus

Key = tuple[str, str, int]

_NOTHING_SAID = Outcome.ABSTAINED
_MISSING = frozenset({ScoreStatus.MISSING, ScoreStatus.ERROR})


class ExclusionReason(StrEnum):
    """Why something that one arm has is not part of a pair."""

    ONLY_IN_BASELINE = "only_in_baseline"
    ONLY_IN_CANDIDATE = "only_in_candidate"
    PROMPT_MISMATCH = "prompt_mismatch"
    UNKNOWN_SAMPLE = "unknown_sample"


@dataclass(frozen=True, slots=True)
class Answer:
    """One arm's part of a pair. What the rule reads often is worked out once.

    Attributes:
        missing: Whether there is no answer to count (infrastructure or judge failed).
        value: Accuracy value in [0, 1]; an answer with nothing to score is not correct;
            `None` when it is missing.
        outcome: An answer with nothing to score attempted nothing that could be false;
            `None` when it is missing.
    """

    completion: Completion
    score: Score
    missing: bool = field(init=False, repr=False, compare=False)
    value: float | None = field(init=False, repr=False, compare=False)
    outcome: Outcome | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        score = self.score
        missing = score.status in _MISSING
        value = score.value if score.value is not None else 0.0
        put = object.__setattr__
        put(self, "missing", missing)
        put(self, "value", None if missing else value)
        put(self, "outcome", None if missing else score.outcome or _NOTHING_SAID)

    @property
    def prompt_hash(self) -> str:
        """What was asked."""
        return self.completion.prompt_hash

    @property
    def said(self) -> str | None:
        """The text, or its hash where the texts of both arms are redacted."""
        redacted = self.completion.redacted
        return self.completion.text if redacted is None else redacted.text


@dataclass(frozen=True, slots=True)
class Pair:
    """The same prompt, answered (or not) by both arms.

    Attributes:
        complete: Whether both arms have an answer to count.
        same_text: Whether both arms answered word for word alike; what is not known is not alike.
        unit: Names the independent unit (`Sample.unit` in its taskset) by a hash, which is
            compared often. Two units that share one by chance count as one: towards caution.
    """

    sample: Sample
    epoch: int
    baseline: Answer
    candidate: Answer
    complete: bool = field(init=False, repr=False, compare=False)
    same_text: bool = field(init=False, repr=False, compare=False)
    unit: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sample, one, other = self.sample, self.baseline, self.candidate
        put = object.__setattr__
        put(self, "complete", not (self.baseline.missing or self.candidate.missing))
        put(self, "same_text", one.said is not None and one.said == other.said)
        put(self, "unit", hash((sample.taskset, sample.unit)))


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
    keys = baseline if baseline.keys() == candidate.keys() else {*baseline, *candidate}
    for key in sorted(keys):
        one, other = baseline.get(key), candidate.get(key)
        sample = samples.get((key[0], key[1]))
        if one is None:
            exclusions.append(Exclusion(key, ExclusionReason.ONLY_IN_CANDIDATE))
        elif other is None:
            exclusions.append(Exclusion(key, ExclusionReason.ONLY_IN_BASELINE))
        elif sample is None:
            exclusions.append(Exclusion(key, ExclusionReason.UNKNOWN_SAMPLE))
        elif one.completion.prompt_hash != other.completion.prompt_hash:
            exclusions.append(Exclusion(key, ExclusionReason.PROMPT_MISMATCH))
        else:
            pairs.append(Pair(sample, key[2], one, other))
    return Pairing(tuple(pairs), tuple(exclusions))
