"""`scores.jsonl`: what was said of each completion, beside the evidence and never in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from evalkit.collect.records import decode_score
from evalkit.collect.writer import write_atomic
from evalkit.errors import StoreError
from evalkit.types import Score

SCORES = "scores.jsonl"


def write_scores(folder: Path, scores: Iterable[Score]) -> None:
    """Replace the scores of a run folder as a whole, one by one as they come.

    Raises:
        StoreError: When they cannot be written.
    """
    lines = (orjson.dumps(score, option=orjson.OPT_APPEND_NEWLINE) for score in scores)
    try:
        write_atomic(folder / SCORES, lines)
    except OSError as error:
        raise StoreError(f"{folder / SCORES} cannot be written: {error.strerror}.") from error


def read_scores(folder: Path) -> Iterator[Score]:
    """Yield the scores of a run folder.

    Raises:
        StoreError: When there are none, or a line is none.
    """
    path = folder / SCORES
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from error
    for number, line in enumerate(lines, start=1):
        if line:
            yield _decode(line, f"{path}, line {number}")


def _decode(line: bytes, where: str) -> Score:
    try:
        return decode_score(orjson.loads(line))
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(f"{where} is not a score: {error}.") from error
