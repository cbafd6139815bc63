"""What is handed to every format: runs as rows, and what a comparison says of them."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from evalkit.types import Completion, Identity, Sample, Sampling, Score, ScoreStatus, Taskset

_LONGEST = 500
_LOGIN = re.compile(r"(?<=://)[^/@\s'\"]*@")
_MISSING = (ScoreStatus.MISSING, ScoreStatus.ERROR)


@dataclass(frozen=True, slots=True)
class Row:
    """One request that came to an end, with its score.

    Attributes:
        sample: What was asked.
        completion: An answer, or why there is none.
        score: What was said of it.
        redacted: Whether no text of prompt, target or answer may leave the run.
    """

    sample: Sample
    completion: Completion
    score: Score
    redacted: bool

    @property
    def missing(self) -> bool:
        """Whether there is no answer to count: the infrastructure's or the scorer's fault."""
        return self.score.status in _MISSING

    @property
    def value(self) -> float | None:
        """The score as accuracies count it: an answer with nothing to score is not correct."""
        if self.missing:
            return None
        return 0.0 if self.score.value is None else self.score.value


@dataclass(frozen=True, slots=True)
class ExportRun:
    """A run, as far as others may know it: no key and no command is in it.

    Attributes:
        name: Of the endpoint.
        label: What it is, for readers.
        run_id: Drawn when it was begun.
        created: When it was begun.
        identity: What the endpoint was found to be.
        tasksets: What it was asked.
        sampling: How, by taskset.
        seed: Of the whole run.
        epochs: How often each prompt was asked.
        versions: Of evalkit and its packages.
        redacted: Whether its texts are not kept.
        rows: Read it again each time: memory holds one at a time.
    """

    name: str
    label: str
    run_id: str
    created: datetime
    identity: Identity
    tasksets: Sequence[Taskset]
    sampling: Mapping[str, Sampling]
    seed: int
    epochs: int
    versions: Mapping[str, str]
    redacted: bool
    rows: Callable[[], Iterator[Row]]

    def facts(self) -> dict[str, Any]:
        """Return what it is in plain words and numbers, for the parameters of a tracker."""
        identity = self.identity
        shown = (
            "kind", "model", "engine", "engine_version", "quantization", "context_length",
            "template_hash", "tokenizer_hash", "weights_hash", "weights_bytes", "hardware",
        )  # fmt: skip
        found = {key: getattr(identity, key) for key in shown}
        facts = {
            "endpoint": self.name,
            "label": self.label,
            "evalkit_run_id": self.run_id,
            "evalkit_version": self.versions.get("evalkit"),
            "seed": self.seed,
            "epochs": self.epochs,
            "tasksets": ",".join(taskset.name for taskset in self.tasksets),
            "redacted": self.redacted,
            **found,
        }
        return {key: value for key, value in facts.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison says of a candidate.

    Attributes:
        state: `SHIP`, `HOLD`, `INCONCLUSIVE` or `INVALID`.
        sentence: The same in words.
        metrics: Differences and recoveries with their intervals, by name; fractions.
    """

    candidate: str
    state: str
    sentence: str
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Export:
    """What is exported: one run, or the runs of a comparison.

    Attributes:
        name: Of the run, or of the comparison.
        runs: The baseline's first.
        verdicts: Of every candidate; none for a single run.
        files: The comparison's own files, as far as they are there.
    """

    name: str
    runs: Sequence[ExportRun]
    verdicts: Sequence[Verdict] = ()
    files: Sequence[Path] = ()


@dataclass(slots=True)
class Tally:
    """Counts of one taskset."""

    n: int = 0
    missing: int = 0
    values: list[float] = field(default_factory=list)
    hallucinated: int = 0
    abstained: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @property
    def accuracy(self) -> float | None:
        """Mean of the scores; `None` when nothing was answered."""
        return math.fsum(self.values) / len(self.values) if self.values else None

    @property
    def standard_error(self) -> float | None:
        """Of the mean, from the sample's variance, as lm-eval computes it."""
        n = len(self.values)
        if n < 2:
            return None
        mean = math.fsum(self.values) / n
        return math.sqrt(math.fsum((v - mean) ** 2 for v in self.values) / (n - 1) / n)

    def add(self, row: Row) -> None:
        """Count one more."""
        self.n += 1
        self.missing += row.missing
        if row.value is not None:
            self.values.append(row.value)
        self.hallucinated += "hallucinated" in row.score.flags
        self.abstained += row.score.outcome == "abstained"
        self.tokens += row.completion.usage.completion_tokens or 0
        self.seconds += row.completion.timing.total


def reason_without_login(error: Exception) -> str:
    """Return what a tracker says, in one line and without the logins of addresses."""
    return _LOGIN.sub("", " ".join(str(error).split()))[:_LONGEST]


def tallies(run: ExportRun) -> dict[str, Tally]:
    """Count a run by taskset."""
    found: defaultdict[str, Tally] = defaultdict(Tally)
    for row in run.rows():
        found[row.sample.taskset].add(row)
    return dict(sorted(found.items()))


def run_metrics(run: ExportRun) -> dict[str, float]:
    """Return the numbers of a run by name: over everything, and `NAME/TASKSET`."""
    counted = tallies(run)
    measured = {taskset.name for taskset in run.tasksets if taskset.measures_hallucination}
    metrics: dict[str, float] = {
        "n": sum(one.n for one in counted.values()),
        "missing": sum(one.missing for one in counted.values()),
        "completion_tokens": sum(one.tokens for one in counted.values()),
        "request_seconds": sum(one.seconds for one in counted.values()),
    }
    values = [value for one in counted.values() for value in one.values]
    if values:
        metrics["accuracy"] = math.fsum(values) / len(values)
    for name, one in counted.items():
        metrics |= {f"n/{name}": one.n, f"missing/{name}": one.missing}
        if one.accuracy is not None:
            metrics[f"accuracy/{name}"] = one.accuracy
        if name in measured and one.values:
            metrics[f"hallucination/{name}"] = one.hallucinated / len(one.values)
            metrics[f"abstention/{name}"] = one.abstained / len(one.values)
    return metrics
