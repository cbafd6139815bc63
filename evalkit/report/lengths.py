"""Length curves for readers: one plot and one table a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from evalkit.report import numbers
from evalkit.report.estimates import as_difference
from evalkit.report.figures import Curve, CurvePoint
from evalkit.report.model import LengthCurve, Table
from evalkit.report.verdicts import Names
from evalkit.report.words import Words
from evalkit.results import CandidateResult, LengthPoint

_DIMENSIONS: Final = ("prompt_length", "output_length")
# Below it an interval is as wide as the plot.
_FEW: Final = 10


def length_curves(words: Words, names: Names, result: CandidateResult) -> tuple[LengthCurve, ...]:
    """Return the curves that have at least two points."""
    made = []
    for dimension in _DIMENSIONS:
        points = [point for point in result.lengths if point.dimension == dimension]
        if len(points) > 1:
            made.append(_curve(words, names, result, dimension, points))
    return tuple(made)


def length_name(words: Words, bucket: str) -> str:
    """Return a bucket in words: `medium`, or `256–1K tokens`."""
    name = words.name("prompt_length", bucket)
    return name if name != bucket else words("slice_value.tokens", value=bucket)


def _curve(
    words: Words,
    names: Names,
    result: CandidateResult,
    dimension: str,
    points: Sequence[LengthPoint],
) -> LengthCurve:
    title = words(f"lengths.{dimension}")
    differences = [as_difference(words, point.difference) for point in points]
    margin = result.pooled.accuracy.margin
    named = [words.name("prompt_length", point.bucket) for point in points]
    told = "; ".join(
        f"{name}: {number.told}" for name, number in zip(named, differences, strict=True)
    )
    return LengthCurve(
        curve=Curve(
            key=dimension.replace("_", "-"),
            title=title,
            description=words("lengths.description", told=told),
            x_axis=title if named[0] != points[0].bucket else words("lengths.tokens", title=title),
            y_axis=words("lengths.axis"),
            pairs=words("col.pairs"),
            margin=margin,
            margin_label=words("forest.margin", margin=numbers.size_in_points(margin)),
            points=tuple(
                CurvePoint(
                    label=name,
                    n=numbers.count(point.n),
                    value=number.value,
                    low=number.low,
                    high=number.high,
                    few=point.n < _FEW,
                )
                for name, point, number in zip(named, points, differences, strict=True)
            ),
        ),
        table=Table(
            caption=title,
            columns=(
                words("col.length"),
                words("col.pairs"),
                names.baseline,
                names.candidate,
                words("col.difference"),
            ),
            rows=tuple(
                (
                    length_name(words, point.bucket),
                    numbers.count(point.n),
                    numbers.percent(point.baseline, numbers.digits_for(point.n)),
                    numbers.percent(point.candidate, numbers.digits_for(point.n)),
                    number.told,
                )
                for point, number in zip(points, differences, strict=True)
            ),
        ),
    )
