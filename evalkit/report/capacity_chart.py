"""Inline SVG: what each quantization needs, as bars of their parts, and where the device ends.

As in `charts`, colours come from the style sheet by class, and every text is escaped. Parts
follow each other in one order and are told by their legend, a title each, and the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from markupsafe import Markup, escape

from evalkit.report import numbers
from evalkit.report.capacity import Bar, CapacityView
from evalkit.report.svg import line, opening, text

_WIDTH: Final = 1160
_LEFT: Final = 150
_RIGHT: Final = 930
_TOP: Final = 66
_ROW: Final = 46
_BAR: Final = 28
_SWATCH: Final = 12
_LEGEND_CELL: Final = 165
_NAME: Final = 18
_MOST_TICKS: Final = 6
_WORD: Final = 7.5


def capacity_chart(view: CapacityView, description: str) -> Markup:
    """Draw one bar for each quantization.

    Args:
        view: The view-model.
        description: For those who do not see it.
    """
    totals = [sum(segment.bytes for segment in bar.segments) for bar in view.bars]
    most = max([*totals, view.device or 0]) * 1.02 or 1.0
    bottom = _TOP + _ROW * len(view.bars)
    parts = [
        opening("capacity", _WIDTH, bottom + 44, "capacity", view.title, description),
        *_legend(view),
        *_axis(most, bottom),
    ]
    tops = [_TOP + _ROW * row + (_ROW - _BAR) / 2 for row in range(len(view.bars))]
    for bar, y in zip(view.bars, tops, strict=True):
        parts += _bar(bar, y, most)
    # Between bars and words: seen on the one, and never across the others.
    parts += _device(view, most, bottom)
    for bar, y in zip(view.bars, tops, strict=True):
        parts += _words(bar, y + _BAR / 2 + 5, most)
    return Markup("".join([*parts, "</svg>"]))


def _x(size: float, most: float) -> float:
    return _LEFT + size / most * (_RIGHT - _LEFT)


def _legend(view: CapacityView) -> Iterator[str]:
    for index, (key, word) in enumerate(view.legend):
        x = index * _LEGEND_CELL
        yield _box(key, x, 8, _SWATCH, _SWATCH, word)
        yield text(x + _SWATCH + 6, 19, word, "fine")


def _box(key: str, x: float, y: float, width: float, height: float, told: str) -> str:
    return (
        f'<rect class="part-{key}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}"><title>{escape(told)}</title></rect>'
    )


def _axis(most: float, bottom: float) -> Iterator[str]:
    rough = most / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough)
    for index in range(int(most / step) + 1):
        x = _x(index * step, most)
        yield line(x, _TOP - 4, x, bottom, "zero" if index == 0 else "grid")
        yield text(x, bottom + 18, numbers.size(index * step), "fine", "middle")


def _bar(bar: Bar, y: float, most: float) -> Iterator[str]:
    yield f'<g class="need"><title>{escape(bar.text)}</title>'
    done = 0
    for segment in bar.segments:
        width = max(_x(segment.bytes, most) - _LEFT, 0.5)
        yield _box(segment.key, _x(done, most), y, width, _BAR, segment.text)
        done += segment.bytes
    yield "</g>"


def _words(bar: Bar, y: float, most: float) -> Iterator[str]:
    kind = "" if bar.fits is None else ("verdict-ship" if bar.fits else "verdict-hold")
    name = bar.name if len(bar.name) <= _NAME else f"{bar.name[: _NAME - 1]}…"
    yield f'<g class="{kind}">'
    yield text(_LEFT - 10, y, name, "strong", "end")
    done = 0
    for segment in bar.segments:
        label, width = numbers.size(segment.bytes), _x(segment.bytes, most) - _LEFT
        if width >= _WORD * len(label) + 8 and segment.key != "headroom":
            yield text(_x(done, most) + width / 2, y, label, "inside", "middle")
        done += segment.bytes
    yield text(_x(done, most) + 8, y, f"{bar.total} {bar.verdict}".strip(), "sign")
    yield "</g>"


def _device(view: CapacityView, most: float, bottom: float) -> Iterator[str]:
    if view.device is None:
        return
    x = _x(view.device, most)
    yield line(x, _TOP - 10, x, bottom + 4, "margin")
    yield text(x, _TOP - 16, view.device_word, "strong", "middle")
