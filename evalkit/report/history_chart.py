"""Inline SVG: one metric's difference over releases, with intervals, margin and breaks.

As in `charts`, colours come from the style sheet by class, and every text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from evalkit.report import numbers
from evalkit.report.history_model import HistoryPlot, PlotPoint
from evalkit.report.svg import line, opening, text

_WIDTH: Final = 1160
_LEFT: Final = 64
_RIGHT: Final = 1080
_TOP: Final = 34
_BOTTOM: Final = 214
_HEIGHT: Final = 262
_STEPS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MOST_TICKS: Final = 7
# A date needs so much room; more of them would run into each other.
_DATE_ROOM: Final = 96
_SIGN_ROOM: Final = 16
_WORD_ROOM: Final = 130
_DODGE: Final = 14.0
_RADIUS: Final = 5.0
_NAME: Final = 24
_NAME_ROOM: Final = 15


@dataclass(frozen=True, slots=True)
class _Frame:
    low: float
    high: float
    step: float
    gap: float
    dodge: dict[str, float]

    @property
    def words(self) -> bool:
        """Whether a verdict's word has room beside its sign."""
        return len(self.dodge) == 1 and self.gap >= _WORD_ROOM

    def x(self, point: PlotPoint) -> float:
        return self.place(point.place) + self.dodge[point.series]

    def place(self, place: int) -> float:
        return _LEFT + self.gap * (place + 0.5)

    def y(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        return _BOTTOM - (value - self.low) / (self.high - self.low) * (_BOTTOM - _TOP)


def history_chart(plot: HistoryPlot) -> Markup:
    """Draw one metric over releases."""
    frame = _frame(plot)
    key = f"history-{plot.key}"
    parts = [
        opening("history", _WIDTH, _HEIGHT, key, plot.title, plot.description),
        text(0, 14, plot.title, "strong"),
        *_axes(plot, frame),
        *_margins(plot, frame),
        *_lines(plot, frame),
    ]
    for point in plot.points:
        parts += _mark(point, frame)
    parts += _names(plot, frame)
    return Markup("".join([*parts, "</svg>"]))


def _frame(plot: HistoryPlot) -> _Frame:
    values = [0.0]
    for point in plot.points:
        number = point.difference
        values += [point.margin, -point.margin / 2]
        ends = (number.value, number.low, number.high)
        values += [end for end in ends if end is not None and math.isfinite(end)]
    low, high = min(values), max(values)
    pad = (high - low) * 0.06 or 0.01
    step = next((s for s in _STEPS if (high - low) / s <= _MOST_TICKS - 1), 1.0)
    series = list(dict.fromkeys(point.series for point in plot.points))
    gap = (_RIGHT - _LEFT) / len(plot.dates)
    width = min(_DODGE, gap / (len(series) + 1))
    middle = (len(series) - 1) / 2
    dodge = {name: (place - middle) * width for place, name in enumerate(series)}
    return _Frame(low - pad, high + pad, step, gap, dodge)


def _axes(plot: HistoryPlot, frame: _Frame) -> Iterator[str]:
    digits = 1 if frame.step < 0.01 else 0
    first, last = math.ceil(frame.low / frame.step), math.floor(frame.high / frame.step)
    for index in range(first, last + 1):
        y = frame.y(index * frame.step)
        yield line(_LEFT, y, _RIGHT, y, "grid" if index else "zero")
        label = numbers.points(index * frame.step, digits) if index else plot.zero_word
        yield text(_LEFT - 8, y + 4, label, "fine", "end")
    every = max(1, math.ceil(_DATE_ROOM / frame.gap))
    for place, date in enumerate(plot.dates):
        x = frame.place(place)
        if plot.broken[place]:
            edge = x - frame.gap / 2
            yield line(edge, _TOP - 4, edge, _BOTTOM + 6, "break")
            yield text(edge, _BOTTOM + 20, "≠", "strong", "middle")
        # The newest is always named.
        if (len(plot.dates) - 1 - place) % every == 0:
            yield text(x, _BOTTOM + 44, date[:10], "fine", "middle")


def _margins(plot: HistoryPlot, frame: _Frame) -> Iterator[str]:
    """Draw the margin of each comparison: it may change from one to the next."""
    last: float | None = None
    for place in range(len(plot.dates)):
        margins = [point.margin for point in plot.points if point.place == place]
        if not margins:
            continue
        x, y = frame.place(place), frame.y(margins[0])
        yield line(x - frame.gap / 2, y, x + frame.gap / 2, y, "margin")
        last = margins[0]
    if last is not None:
        yield text(_RIGHT + 6, frame.y(last) + 4, plot.margin_word, "fine")


def _lines(plot: HistoryPlot, frame: _Frame) -> Iterator[str]:
    before: dict[str, PlotPoint] = {}
    for point in plot.points:
        value, earlier = point.difference.value, before.get(point.series)
        if value is None or point.gate.state == "INVALID":
            before.pop(point.series, None)
            continue
        if point.joined and earlier is not None and earlier.difference.value is not None:
            start = (frame.x(earlier), frame.y(earlier.difference.value))
            yield line(*start, frame.x(point), frame.y(value), "series")
        before[point.series] = point


def _names(plot: HistoryPlot, frame: _Frame) -> Iterator[str]:
    """Name each series at its newest point, where there are several."""
    newest = {point.series: point for point in plot.points if point.difference.value is not None}
    if len(frame.dodge) < 2:
        return
    lowest: dict[int, float] = {}
    heights = {name: frame.y(point.difference.value or 0.0) for name, point in newest.items()}
    for series in sorted(newest, key=heights.__getitem__):
        point = newest[series]
        # Names of one comparison stand below each other where their points lie together.
        y = max(heights[series] + 4, lowest.get(point.place, 0.0) + _NAME_ROOM)
        lowest[point.place] = y
        name = point.name if len(point.name) <= _NAME else f"{point.name[: _NAME - 1]}…"
        x = frame.place(point.place) + _DODGE * (len(frame.dodge) + 1) / 2
        yield text(x, y, name, "fine")


def _mark(point: PlotPoint, frame: _Frame) -> Iterator[str]:
    x, number = frame.x(point), point.difference
    kind = f"verdict-{point.gate.state.lower()}"
    yield f'<g class="{kind}"><title>{escape(point.text)}</title>'
    if number.low is not None and number.high is not None:
        yield line(x, frame.y(number.low), x, frame.y(number.high), "bar")
    if number.value is not None:
        y = frame.y(number.value)
        hollow = " hollow" if point.gate.state in ("INCONCLUSIVE", "INVALID") else ""
        yield f'<circle class="dot{hollow}" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"/>'
    told = f"{point.gate.icon} {point.gate.word}" if frame.words else point.gate.icon
    if frame.gap >= _SIGN_ROOM * len(frame.dodge):
        yield text(x, _BOTTOM + 24, told, "sign", "middle")
    yield "</g>"
