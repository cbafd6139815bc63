"""Inline SVG: one figure of a soak over time, its warm-up, its fitted line, its breaks.

As in `charts`, colours come from the style sheet by class, and every text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from markupsafe import Markup, escape

from evalkit.report.soak_model import SoakPlot, SoakView
from evalkit.report.svg import line, opening, text

_WIDTH: Final = 1160
_LEFT: Final = 84
_RIGHT: Final = 1140
_TOP: Final = 34
_BOTTOM: Final = 194
_HEIGHT: Final = 226
_RADIUS: Final = 3.0
_KINDS: Final = {"found": "verdict-hold", "steady": "verdict-ship"}
_WORD_ROOM: Final = 70


def soak_charts(view: SoakView) -> Sequence[tuple[str, Markup]]:
    """Return the title of each chart, and the chart."""
    words = (view.warm_up_word, view.restart_word)
    return [(plot.title, soak_chart(plot, *words)) for plot in view.plots]


def soak_chart(plot: SoakPlot, warm_up: str, restart: str) -> Markup:
    """Draw one figure.

    Args:
        plot: What to draw.
        warm_up: The word for what is not counted.
        restart: The word for a server that began anew.
    """
    kind = _KINDS.get(plot.state, "verdict-inconclusive")
    parts = [
        opening("history", _WIDTH, _HEIGHT, plot.key, plot.title, plot.told),
        *_shades(plot, warm_up),
        text(0, 14, plot.title, "strong"),
        f'<g class="{kind}">',
        text(_RIGHT, 14, plot.verdict, "sign", "end"),
        "</g>",
        *_axes(plot),
        *_breaks(plot, restart),
        *_runs(plot),
    ]
    if plot.line is not None:
        (begin, low), (end, high) = plot.line
        start, stop = (_x(plot, begin), _y(plot, low)), (_x(plot, end), _y(plot, high))
        parts += [f'<g class="{kind}">', line(*start, *stop, "bar"), "</g>"]
    return Markup("".join([*parts, "</svg>"]))


def _x(plot: SoakPlot, seconds: float) -> float:
    return _LEFT + min(max(seconds / plot.ran, 0.0), 1.0) * (_RIGHT - _LEFT)


def _y(plot: SoakPlot, value: float) -> float:
    share = (value - plot.low) / (plot.high - plot.low) if plot.high > plot.low else 0.5
    return _BOTTOM - min(max(share, 0.0), 1.0) * (_BOTTOM - _TOP)


def _shades(plot: SoakPlot, warm_up: str) -> Iterator[str]:
    shades = [(0.0, plot.settled)] if plot.settled else []
    for begin, end in (*shades, *plot.outages):
        left, right = _x(plot, begin), _x(plot, end)
        yield (
            f'<rect class="band" x="{left:.1f}" y="{_TOP}" width="{max(right - left, 1):.1f}" '
            f'height="{_BOTTOM - _TOP}"/>'
        )
    if shades and _x(plot, shades[0][1]) - _LEFT >= _WORD_ROOM:
        yield text(_LEFT + 6, _TOP + 14, warm_up, "fine")


def _axes(plot: SoakPlot) -> Iterator[str]:
    for value, told in plot.ticks:
        y = _y(plot, value)
        yield line(_LEFT, y, _RIGHT, y, "grid")
        yield text(_LEFT - 8, y + 4, told, "fine", "end")
    yield line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "zero")
    for seconds, told in plot.times:
        yield text(_x(plot, seconds), _BOTTOM + 20, told, "fine", "middle")


def _breaks(plot: SoakPlot, restart: str) -> Iterator[str]:
    for at in plot.restarts:
        x = _x(plot, at)
        yield line(x, _TOP - 4, x, _BOTTOM, "break")
    if plot.restarts:
        yield text(_x(plot, plot.restarts[0]) + 4, _TOP + 10, restart, "fine")


def _runs(plot: SoakPlot) -> Iterator[str]:
    run: list[str] = []
    for at, value in (*plot.points, (0.0, None)):
        if value is not None:
            run.append(f"{_x(plot, at):.1f},{_y(plot, value):.1f}")
            continue
        if len(run) > 1:
            yield f'<polyline class="run" points="{escape(" ".join(run))}"/>'
        run = []
    for at, value in plot.points:
        if value is not None:
            x, y = _x(plot, at), _y(plot, value)
            yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"/>'
