"""The paired difference over length: does the candidate fall back on long input or output?

Described, never tested: a length goes with family and difficulty, so that a falling curve
says where to look, not why.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from evalkit.decision.pairing import Pair
from evalkit.decision.tables import build_table, differences
from evalkit.results import LengthPoint
from evalkit.stats.engine import engine_interval, summarize

Dimension = Literal["prompt_length", "output_length"]
LENGTHS = ("<64", "64–256", "256–1K", "1K–4K", "4K–16K", "16K–64K", "≥64K")
_EDGES = (64, 256, 1024, 4096, 16_384, 65_536)
# Buckets of samples whose tokens no server counted, then those of counted ones.
_ORDER = ("short", "medium", "long", *LENGTHS)


def length_bucket(tokens: int) -> str:
    """Return the pre-declared bucket of a length in tokens; 16,384 begins `16K–64K`."""
    return LENGTHS[bisect_right(_EDGES, tokens)]


def prompt_length(pair: Pair) -> str:
    """Return the bucket of a prompt's length: the sample's own where nobody counted tokens."""
    tokens = pair.baseline.completion.usage.prompt_tokens
    return pair.sample.length_bucket if tokens is None else length_bucket(tokens)


def output_length(pair: Pair) -> str | None:
    """Return the bucket of the baseline's answer: the cut must not depend on the candidate."""
    tokens = pair.baseline.completion.usage.completion_tokens
    return None if tokens is None else length_bucket(tokens)


_READERS: Mapping[Dimension, Callable[[Pair], str | None]] = {
    "prompt_length": prompt_length,
    "output_length": output_length,
}


def length_curves(pairs: Sequence[Pair]) -> tuple[LengthPoint, ...]:
    """Return both arms' mean goodness and their difference, by length.

    Args:
        pairs: Complete pairs are read, all others left out.

    Returns:
        By dimension, then from short to long. A dimension with a single bucket is left out:
        it says what the pooled difference says.
    """
    complete = [pair for pair in pairs if pair.complete]
    table = build_table(complete, "accuracy")
    points: list[LengthPoint] = []
    for dimension, read in _READERS.items():
        buckets = np.array([read(pair) or "" for pair in complete])
        found = [name for name in _ORDER if (buckets == name).any()]
        if len(found) < 2:
            continue
        for name in found:
            inside = table.only(buckets == name)
            points.append(
                LengthPoint(
                    dimension=dimension,
                    bucket=name,
                    n=len(inside.baseline),
                    baseline=float(inside.baseline.mean()),
                    candidate=float(inside.candidate.mean()),
                    difference=engine_interval(summarize(*differences(inside, "CC"))),
                )
            )
    return tuple(points)
