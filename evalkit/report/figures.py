"""What plots are drawn from: geometry as fractions, words finished."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One place on a curve. `few`: so few pairs that its interval says little."""

    label: str
    n: str
    value: float | None
    low: float | None
    high: float | None
    few: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A paired difference over an ordered quantity, with all its words."""

    key: str
    title: str
    description: str
    x_axis: str
    y_axis: str
    pairs: str
    margin: float
    margin_label: str
    points: tuple[CurvePoint, ...]
