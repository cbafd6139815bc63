"""A paired difference over an ordered quantity, as inline SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from markupsafe import Markup

from evalkit.report import numbers
from evalkit.report.figures import Curve, CurvePoint
from evalkit.report.svg import line, opening, text

_WIDTH: Final = 560
_HEIGHT: Final = 300
_LEFT: Final = 62
_RIGHT: Final = 548
_TOP: Final = 26
_BOTTOM: Final = 214
_STEPS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
_MOST_TICKS: Final = 7


def curve(plot: Curve, key: str) -> Markup:
    """Draw a curve with its band; hollow dots stand for few pairs.

    Args:
        plot: Points and words.
        key: Makes the ids of title and description unique in the page.
    """
    scale = _Scale(plot)
    key = f"{key}-{plot.key}"
    parts = [
        opening("curve", _WIDTH, _HEIGHT, key, plot.title, plot.description),
        *_axes(plot, scale),
        *_band(plot, scale),
        *_points(plot, scale),
        "</svg>",
    ]
    return Markup("".join(parts))


class _Scale:
    """From points and places to pixels.

    Intervals of few pairs do not stretch it: they end at the frame.
    """

    def __init__(self, plot: Curve) -> None:
        solid = [point for point in plot.points if not point.few] or list(plot.points)
        ends = [end for point in solid for end in (point.value, point.low, point.high)]
        values = [0.0, -plot.margin, plot.margin / 2]
        values += [end for end in ends if end is not None and math.isfinite(end)]
        values += [point.value for point in plot.points if point.value is not None]
        pad = (max(values) - min(values)) * 0.04
        self.low, self.high = min(values) - pad, max(values) + pad
        span = self.high - self.low
        self.step = next((step for step in _STEPS if span / step <= _MOST_TICKS), 0.5)
        self.places = len(plot.points)

    def y(self, value: float) -> float:
        """Return the pixel of a difference, inside the frame."""
        value = min(max(value, self.low), self.high)
        return _BOTTOM - (value - self.low) / (self.high - self.low) * (_BOTTOM - _TOP)

    def x(self, place: int) -> float:
        """Return the pixel of the n-th point."""
        return _LEFT + (place + 0.5) / self.places * (_RIGHT - _LEFT)

    def ticks(self) -> Iterator[float]:
        """Yield the round differences inside the frame."""
        for index in range(math.ceil(self.low / self.step), math.floor(self.high / self.step) + 1):
            yield index * self.step


def _axes(plot: Curve, scale: _Scale) -> Iterator[str]:
    digits = 1 if scale.step < 0.01 else 0
    for tick in scale.ticks():
        y = scale.y(tick)
        zero = not round(tick, 6)
        yield line(_LEFT, y, _RIGHT, y, "zero" if zero else "grid")
        yield text(_LEFT - 8, y + 4, "0" if zero else numbers.points(tick, digits), "fine", "end")
    margin = scale.y(-plot.margin)
    yield line(_LEFT, margin, _RIGHT, margin, "margin")
    yield text(_RIGHT, margin + 15, plot.margin_label, "margin-label", "end")
    yield text(0, 14, plot.y_axis, "fine")
    for place, point in enumerate(plot.points):
        yield text(scale.x(place), _BOTTOM + 22, point.label, "label", "middle")
        yield text(scale.x(place), _BOTTOM + 42, point.n, "fine", "middle")
    yield text(0, _BOTTOM + 42, plot.pairs, "fine")
    yield text((_LEFT + _RIGHT) / 2, _BOTTOM + 68, plot.x_axis, "fine", "middle")


def _band(plot: Curve, scale: _Scale) -> Iterator[str]:
    """Shade between the intervals' ends, where neighbours have both."""
    known = [(place, point) for place, point in enumerate(plot.points) if _whole(point)]
    if len(known) < 2:
        return
    upper = [f"{scale.x(place):.1f},{scale.y(point.high or 0.0):.1f}" for place, point in known]
    lower = [f"{scale.x(place):.1f},{scale.y(point.low or 0.0):.1f}" for place, point in known]
    yield f'<polygon class="band" points="{" ".join(upper + lower[::-1])}"/>'
    middle = [f"{scale.x(place):.1f},{scale.y(point.value or 0.0):.1f}" for place, point in known]
    yield f'<polyline class="run" points="{" ".join(middle)}"/>'


def _points(plot: Curve, scale: _Scale) -> Iterator[str]:
    for place, point in enumerate(plot.points):
        x = scale.x(place)
        if point.value is None:
            yield text(x, scale.y(0.0) - 6, numbers.DASH, "fine", "middle")
            continue
        if _whole(point):
            low, high = scale.y(point.low or 0.0), scale.y(point.high or 0.0)
            yield line(x, low, x, high, "mark thin")
        hollow = "dot hollow" if point.few else "dot"
        yield f'<circle class="mark {hollow}" cx="{x:.1f}" cy="{scale.y(point.value):.1f}" r="5"/>'


def _whole(point: CurvePoint) -> bool:
    return None not in (point.value, point.low, point.high)
