"""Inline SVG: the forest plot of paired differences.

Colours and fonts come from the page's style sheet by class, so that light, dark and print
work; attributes hold geometry only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from markupsafe import Markup

from evalkit.report import numbers
from evalkit.report.model import Forest, ForestRow
from evalkit.report.svg import line, opening, text

_STEPS: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_MAX_TICKS: Final = 9
_DOT: Final = 5.0
_GAP: Final = 22
_STATE_LENGTH: Final = 36
_WORDS: Final = 40
_DIAMOND: Final = 7.0
# More rows than these stand closer, so that the first screen still holds all that decides.
_ROOMY: Final = 5


@dataclass(frozen=True, slots=True)
class _Layout:
    """Pixel geometry of a forest plot. Column positions are `None` where there is no column."""

    width: int
    left: int
    right: int
    row: int
    top: int
    label_x: int
    n_x: int | None
    baseline_x: int | None
    candidate_x: int | None
    difference_x: int | None
    state_x: int | None


WIDE: Final = _Layout(1160, 365, 642, 24, 6, 0, 216, 285, 354, 656, 884)
DENSE: Final = replace(WIDE, row=21)
NARROW: Final = _Layout(360, 12, 348, 66, 4, 0, None, None, None, None, None)


def forest(plot: Forest, key: str, *, narrow: bool = False) -> Markup:
    """Draw a forest plot.

    Args:
        plot: Rows and words.
        key: Makes the ids of title and description unique in the page.
        narrow: For phones: each row's words stand above its interval.
    """
    layout = NARROW if narrow else WIDE if len(plot.rows) <= _ROOMY else DENSE
    key = f"{key}-{'narrow' if narrow else 'wide'}"
    scale = _Scale.fit(plot.rows, layout)
    tops = list(_tops(plot.rows, layout))
    bottom = tops[-1] + layout.row
    height = bottom + 40
    parts = [
        opening("forest", layout.width, height, key, plot.title, plot.description),
        *_head(plot, layout),
        *_axis(plot, layout, scale, _spans(tops, layout), bottom),
        *_margins(plot.rows, tops, layout, scale),
    ]
    for row, top in zip(plot.rows, tops, strict=True):
        parts += _labels(row, top, layout)
        parts += _mark(row, top, layout, scale)
    parts.append("</svg>")
    return Markup("".join(parts))


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    step: float
    left: int
    right: int

    @classmethod
    def fit(cls, rows: Sequence[ForestRow], layout: _Layout) -> _Scale:
        """Choose round limits that hold every interval, zero and every margin."""
        values = [0.0]
        for row in rows:
            number = row.difference
            values += [-row.margin, row.margin / 2]
            ends = (number.value, number.low, number.high, row.low90, row.high90)
            values += [end for end in ends if end is not None and math.isfinite(end)]
        low, high = min(values), max(values)
        most = _MAX_TICKS if layout.width > NARROW.width else _MAX_TICKS - 3
        step = next((s for s in _STEPS if (high - low) / s <= most - 1), 1.0)
        pad = (high - low) * 0.03
        return cls(low - pad, high + pad, step, layout.left, layout.right)

    def x(self, value: float) -> float:
        """Return the pixel of a difference; infinite ends stop at the frame."""
        value = min(max(value, self.low), self.high)
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)

    def ticks(self) -> Iterator[float]:
        """Yield the round values inside the frame."""
        first, last = math.ceil(self.low / self.step), math.floor(self.high / self.step)
        for index in range(first, last + 1):
            yield index * self.step


def _tops(rows: Sequence[ForestRow], layout: _Layout) -> Iterator[float]:
    """Place the rows; another margin begins a new group with room for its label."""
    top = float(layout.top)
    margin: float | None = None
    for row in rows:
        if row.margin != margin:
            top += _GAP
            margin = row.margin
        yield top
        top += layout.row


def _head(plot: Forest, layout: _Layout) -> Iterator[str]:
    places = (
        (layout.n_x, "end"),
        (layout.baseline_x, "end"),
        (layout.candidate_x, "end"),
        (layout.difference_x, "start"),
        (layout.state_x, "start"),
    )
    for words, (x, anchor) in zip(plot.columns, places, strict=True):
        if x is not None:
            yield text(x, 14, _short(words, 11 if anchor == "end" else 28), "fine", anchor)


def _spans(tops: Sequence[float], layout: _Layout) -> list[tuple[float, float]]:
    """Return where vertical lines run: straight through, or beside words only on phones."""
    if layout.n_x is not None:
        return [(tops[0], tops[-1] + layout.row + 4)]
    return [(top + _WORDS, top + layout.row - 4) for top in tops]


def _axis(
    plot: Forest,
    layout: _Layout,
    scale: _Scale,
    spans: Sequence[tuple[float, float]],
    bottom: float,
) -> Iterator[str]:
    digits = 1 if scale.step < 0.01 else 0
    for tick in scale.ticks():
        x = scale.x(tick)
        for start, end in spans:
            yield line(x, start, x, end, "grid")
        label = numbers.points(tick, digits) if round(tick, 6) else "0"
        yield text(x, bottom + 17, label, "fine", "middle")
    zero = scale.x(0.0)
    for start, end in spans:
        yield line(zero, start, zero, end, "zero")
    middle = (layout.left + layout.right) / 2
    yield text(middle, bottom + 34, plot.axis, "fine", "middle")


def _margins(
    rows: Sequence[ForestRow], tops: Sequence[float], layout: _Layout, scale: _Scale
) -> Iterator[str]:
    for _, group in groupby(zip(rows, tops, strict=True), key=lambda item: item[0].margin):
        members = list(group)
        first, top = members[0]
        x = scale.x(-first.margin)
        for start, end in _spans([y for _, y in members], layout):
            yield line(x, start - 4, x, end - 4, "margin")
        anchor = "start" if x < layout.left + 60 else "middle"
        yield text(x, top - 8, first.margin_label, "margin-label", anchor)


def _labels(row: ForestRow, top: float, layout: _Layout) -> Iterator[str]:
    weight = "label strong" if row.pooled else "label"
    difference = row.difference.told
    words = row.state.text if len(row.state.text) <= _STATE_LENGTH else row.state.short
    state = f"{row.state.icon} {words}"
    if layout.n_x is None:
        yield text(0, top + 16, f"{row.label} ({row.n})", weight)
        yield text(layout.width, top + 16, difference, weight, "end")
        yield text(0, top + 34, state, f"fine state-{row.state.key.lower()}")
        return
    y = top + layout.row / 2 + 5
    yield text(layout.label_x, y, _short(row.label, 20), weight)
    for x, words in (
        (layout.n_x, row.n),
        (layout.baseline_x, row.baseline),
        (layout.candidate_x, row.candidate),
    ):
        if x is not None:
            yield text(x, y, words, weight, "end")
    if layout.difference_x is not None and layout.state_x is not None:
        yield text(layout.difference_x, y, difference, weight)
        yield text(layout.state_x, y, state, f"{weight} state-{row.state.key.lower()}")


def _mark(row: ForestRow, top: float, layout: _Layout, scale: _Scale) -> Iterator[str]:
    y = top + (layout.row / 2 if layout.n_x is not None else layout.row - 18)
    number = row.difference
    kind = f"mark state-{row.state.key.lower()}"
    if number.value is None:
        yield text(scale.x(0.0) + 8, y + 5, numbers.DASH, "fine")
        return
    if number.low is not None and number.high is not None:
        yield line(scale.x(number.low), y, scale.x(number.high), y, f"{kind} thin")
    if row.low90 is not None and row.high90 is not None:
        yield line(scale.x(row.low90), y, scale.x(row.high90), y, f"{kind} thick")
    x = scale.x(number.value)
    if row.pooled:
        size = _DIAMOND
        yield (
            f'<path class="{kind} dot" d="M{x - size:.1f} {y:.1f} L{x:.1f} {y - size:.1f} '
            f'L{x + size:.1f} {y:.1f} L{x:.1f} {y + size:.1f} Z"/>'
        )
    else:
        hollow = "dot" if row.gated else "dot hollow"
        yield f'<circle class="{kind} {hollow}" cx="{x:.1f}" cy="{y:.1f}" r="{_DOT}"/>'


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
