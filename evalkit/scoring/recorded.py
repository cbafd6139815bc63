"""Scores that another tool gave: looked up in the run's folder, never made here.

`recorded.jsonl` in a run folder holds them, in the shape of `scores.jsonl`. They are evidence,
as the answers are: scoring again copies them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from evalkit.collect.records import decode_score
from evalkit.collect.writer import write_atomic
from evalkit.errors import StoreError
from evalkit.scoring.base import SCORERS, Judgement
from evalkit.tasksets.head import RECORDED
from evalkit.types import Completion, Sample, Score

RECORDED_SCORES: Final = "recorded.jsonl"


@dataclass(frozen=True, slots=True)
class RecordedScorer:
    """Stands in tasksets for the tool that scored; it decides nothing."""

    name: str = RECORDED
    version: int = 1

    def __call__(self, sample: Sample, text: str) -> Judgement:
        """Say that nobody has scored this."""
        return Judgement.failed("recorded:not_scored", "No tool has scored this answer.")


SCORERS.register(RECORDED)(RecordedScorer())


def write_recorded(folder: Path, scores: Iterable[Score]) -> None:
    """Keep what a tool said.

    Raises:
        StoreError: When it cannot be written.
    """
    lines = (orjson.dumps(score, option=orjson.OPT_APPEND_NEWLINE) for score in scores)
    try:
        write_atomic(folder / RECORDED_SCORES, lines)
    except OSError as error:
        raise StoreError(
            f"{folder / RECORDED_SCORES} cannot be written: {error.strerror}."
        ) from error


def recorded_scores(
    folder: Path, completions: Iterable[Completion]
) -> Iterator[tuple[Completion, Score]]:
    """Yield each completion with the score that its tool gave.

    Raises:
        StoreError: When there is none, or what is kept is damaged.
    """
    known = _read(folder / RECORDED_SCORES)
    for completion in completions:
        score = known.get(completion.fingerprint)
        if score is None:
            raise StoreError(
                f"{folder} holds an answer that its tool has not scored.",
                hint="Import the log again, with the command that made this folder.",
            )
        yield completion, score


def _read(path: Path) -> Mapping[str, Score]:
    try:
        lines = path.read_bytes().split(b"\n")
        found = (decode_score(orjson.loads(line)) for line in lines if line)
        return {score.fingerprint: score for score in found}
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise StoreError(f"{path} holds a line that is no score: {error}.") from error
