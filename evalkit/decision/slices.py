"""Where the loss sits: pre-declared cuts of the prompts, screened for damage.

Slices explain a verdict and never make one. A slice is flagged when it is worse than zero
and worse than the rest of the prompts, beyond what chance does to so many slices.

Only complete pairs are read. One cut looks at an answer: the length of the baseline's, so
that the cut does not depend on the candidate. What made the baseline's answer long may
have made it wrong too, so a difference in one bucket of that cut alone says less than the
others: part of it can be the baseline's own bad luck.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evalkit.decision.lengths import LENGTHS, output_length, prompt_length
from evalkit.decision.pairing import Pair
from evalkit.decision.tables import Table, build_table, differences
from evalkit.results import SliceDimension, SliceResult
from evalkit.stats.distributions import normal_cdf, t_cdf
from evalkit.stats.engine import PairedSummary, engine_interval, engine_z, summarize
from evalkit.stats.multiplicity import benjamini_hochberg
from evalkit.stats.pooling import mover_z

FALSE_DISCOVERY_RATE = 0.10
MIN_UNITS = 10

Key = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Cut:
    """One dimension.

    Attributes:
        keys: Each slice's value and family, in the order in which slices are told.
        codes: For each pair the place of its key; -1 where it has no place.
    """

    dimension: SliceDimension
    keys: tuple[Key, ...]
    codes: NDArray[np.intp]

    @classmethod
    def of(cls, dimension: SliceDimension, keys: Iterable[Key | None]) -> Self:
        """Number the keys of all pairs; `None` for a pair that has no place."""
        numbers: dict[Key | None, int] = {}
        seen = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp)
        found = sorted((key for key in numbers if key is not None), key=_order)
        places = np.full(len(numbers), -1, dtype=np.intp)
        places[[numbers[key] for key in found]] = np.arange(len(found))
        return cls(dimension, tuple(found), places[seen])


@dataclass(frozen=True, slots=True)
class _Part:
    """One slice; the mask, packed, tells slices apart that hold other pairs."""

    mask: bytes
    inside: PairedSummary
    result: SliceResult


def find_slices(pairs: Sequence[Pair]) -> tuple[SliceResult, ...]:
    """Cut pairs by every dimension and screen the slices.

    The cuts are: family, category within its family, language, length of the prompt in
    tokens (by the sample's own bucket where the server does not count them), length of the
    baseline's answer in tokens, and the sample's `level`.

    Returns:
        By dimension, then by value; slices that hold the same pairs stand once. A dimension
        with a single value is left out: it says what the pooled difference says.
    """
    complete = [pair for pair in pairs if pair.complete]
    cuts = [Cut.of(dimension, map(read, complete)) for dimension, read in _CUTS.items()]
    return screen(build_table(complete, "accuracy"), cuts)


def screen(table: Table, cuts: Sequence[Cut]) -> tuple[SliceResult, ...]:
    """Test every slice of every cut, then control the false discoveries over all.

    The p-value is the larger of two one-sided ones (an intersection-union test, Berger
    1982): of a mean difference below zero, by the engine; and of one below that of the
    cut's other pairs, by MOVER (Zou & Donner 2008) on the difference of the two means.
    Where a cluster lies on both sides the second is conservative. Slices whose adjusted
    p-value (Benjamini & Hochberg 1995) is at most `FALSE_DISCOVERY_RATE` are flagged.

    Args:
        table: Complete pairs only.
        cuts: Each with as many codes as the table has pairs.
    """
    d, clusters = differences(table, "CC")
    moved = _Moved(d, clusters, table.baseline >= 0.5, table.candidate >= 0.5)
    seen: set[bytes] = set()
    results: list[SliceResult] = []
    for cut in cuts:
        for part in _shrunken(list(_parts(cut, moved))):
            if part.mask not in seen:
                seen.add(part.mask)
                results.append(part.result)
    return _flagged(results)


def shrink(
    values: Sequence[float], variances: Sequence[float], sizes: Sequence[int]
) -> list[float]:
    """Draw noisy differences toward their mean (empirical Bayes).

    Each value is B * mean + (1 - B) * value with B = variance / (variance + tau2) (Efron &
    Morris 1975). The mean is weighted by size, and tau2, the variance between the true
    differences, is the moment estimate with the same weights (DerSimonian & Kacker 2007):
    estimated variances as weights would favour slices that happened not to flip.

    >>> [round(x, 4) for x in shrink([0.0, -0.3], [0.001, 0.001], [100, 100])]
    [-0.0033, -0.2967]
    >>> [round(abs(x), 4) for x in shrink([0.01, -0.01], [0.01, 0.01], [100, 100])]
    [0.0, 0.0]
    """
    x, v, w = (np.asarray(part, dtype=np.float64) for part in (values, variances, sizes))
    total = w.sum()
    mean = float(w @ x / total)
    freedom = total - w @ w / total
    spread = w @ (x - mean) ** 2 - (w @ v - (w * w) @ v / total)
    tau2 = max(0.0, float(spread / freedom)) if freedom > 0 else 0.0
    drawn = v / (v + tau2) * mean + tau2 / (v + tau2) * x
    return [float(one) for one in drawn]


def _by_output_length(pair: Pair) -> Key | None:
    bucket = output_length(pair)
    return None if bucket is None else (bucket, None)


def _by_difficulty(pair: Pair) -> Key | None:
    level = pair.sample.metadata.get("level")
    return None if level is None else (str(level), None)


_CUTS: Mapping[SliceDimension, Callable[[Pair], Key | None]] = {
    "family": lambda pair: (pair.sample.family.value, None),
    "category": lambda pair: (pair.sample.category, pair.sample.family.value),
    "language": lambda pair: (pair.sample.language, None),
    "prompt_length": lambda pair: (prompt_length(pair), None),
    "output_length": _by_output_length,
    "difficulty": _by_difficulty,
}


@dataclass(frozen=True, slots=True)
class _Moved:
    """All pairs: differences, clusters, and which arm is right."""

    d: NDArray[np.float64]
    clusters: NDArray[np.int64] | None
    before: NDArray[np.bool_]
    after: NDArray[np.bool_]

    def summary(self, mask: NDArray[np.bool_]) -> PairedSummary:
        """Summarise the pairs of a mask."""
        return summarize(self.d[mask], None if self.clusters is None else self.clusters[mask])


def _parts(cut: Cut, moved: _Moved) -> Iterator[_Part]:
    if len(cut.keys) < 2:
        return
    placed = cut.codes >= 0
    size = len(cut.keys)
    lost, gained = (
        np.bincount(cut.codes[placed & flips], minlength=size)
        for flips in (moved.before & ~moved.after, moved.after & ~moved.before)
    )
    for index, (value, family) in enumerate(cut.keys):
        inside = cut.codes == index
        own, rest = moved.summary(inside), moved.summary(placed & ~inside)
        result = SliceResult(
            dimension=cut.dimension,
            value=value,
            family=family,
            n=own.n,
            regressions=int(lost[index]),
            improvements=int(gained[index]),
            difference=engine_interval(own),
            shrunken=own.difference,
            pvalue=_pvalue(own, rest),
            p_adjusted=None,
            flagged=False,
        )
        yield _Part(np.packbits(inside).tobytes(), own, result)


def _order(key: Key) -> tuple[str, int, str]:
    value, family = key
    return family or "", LENGTHS.index(value) if value in LENGTHS else -1, value


def _pvalue(own: PairedSummary, rest: PairedSummary) -> float | None:
    if min(own.n_clusters, rest.n_clusters) < MIN_UNITS:
        return None
    z = engine_z(own, 0.0)
    below_zero = normal_cdf(z) if own.df is None else t_cdf(z, own.df)
    # The rest turned round: the mean of the two is half of "slice minus rest".
    turned = replace(rest, gains=rest.losses, losses=rest.gains)
    return max(below_zero, normal_cdf(mover_z([own, turned], None, 0.0)))


def _shrunken(parts: Sequence[_Part]) -> list[_Part]:
    if not parts:
        return []
    inside = [part.inside for part in parts]
    drawn = shrink(
        [own.difference for own in inside],
        [_variance(own) for own in inside],
        [o.n for o in inside],
    )
    return [
        replace(part, result=replace(part.result, shrunken=value))
        for part, value in zip(parts, drawn, strict=True)
    ]


def _variance(own: PairedSummary) -> float:
    """Variance of a mean difference, never zero: a slice without flips may still have them."""
    flips = min((own.gains + own.losses + 1) / (own.n + 2), 1.0)
    return max(flips - own.difference**2, 1 / (own.n + 2)) / (own.r * own.n)


def _flagged(results: Sequence[SliceResult]) -> tuple[SliceResult, ...]:
    tested = [result.pvalue for result in results if result.pvalue is not None]
    adjusted = iter(benjamini_hochberg(tested))
    made = []
    for result in results:
        if result.pvalue is None:
            made.append(result)
            continue
        p_value = next(adjusted)
        flagged = p_value <= FALSE_DISCOVERY_RATE
        made.append(replace(result, p_adjusted=p_value, flagged=flagged))
    return tuple(made)
