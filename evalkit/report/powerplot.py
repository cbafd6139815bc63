"""The power curve as one small page: a chart, and the plan's text below it.

The chart draws the chance to pass over the number of prompts, one line a flip rate. The
page needs no script and no network, and follows light, dark and print.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from evalkit.report import numbers
from evalkit.report.svg import line

_WIDTH: Final = 820
_HEIGHT: Final = 400
_LEFT: Final = 64
_RIGHT: Final = 700
_TOP: Final = 16
_BOTTOM: Final = 330
_LABEL_GAP: Final = 16.0
# Lines are told apart by their dashes and labels, not by colour alone (Okabe and Ito).
_DASHES: Final = ("", "8 4", "2 4", "10 4 2 4")
_STYLE: Final = """
:root { color-scheme: light dark; --bg: #ffffff; --ink: #1a1d21; --soft: #59616c; --line: #d8dce1;
  --c0: #005b8e; --c1: #00694a; --c2: #a83a00; --c3: #7f3b78; }
@media screen and (prefers-color-scheme: dark) { :root { --bg: #14171a; --ink: #e8eaed;
  --soft: #a4acb6; --line: #343a41; --c0: #8cc2ff; --c1: #5ed3a4; --c2: #ff9a66; --c3: #dda3d6; } }
body { background: var(--bg); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
svg { width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 13px; }
.grid { stroke: var(--line); } .soft { stroke: var(--soft); stroke-dasharray: 4 4; }
.curve { fill: none; stroke-width: 2.5; }
pre { overflow-x: auto; font: 13px/1.45 ui-monospace, Menlo, Consolas, monospace; }
"""


@dataclass(frozen=True, slots=True)
class PowerPlot:
    """What the page shows.

    Attributes:
        sizes: Numbers of prompts, rising.
        curves: A label and the chance at each size, from the fewest flips to the most.
        wanted: The wanted chance.
        own: Prompts of this plan.
        text: The plan in plain text.
    """

    title: str
    sizes: Sequence[int]
    curves: Sequence[tuple[str, Sequence[float]]]
    wanted: float
    own: int
    text: str


def power_page(plot: PowerPlot) -> str:
    """Return the whole page as HTML."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(plot.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<main>\n<h1>{escape(plot.title)}</h1>\n{power_svg(plot)}\n"
        f'<pre tabindex="0">{escape(plot.text)}</pre>\n</main>\n</body>\n</html>\n'
    )


def power_svg(plot: PowerPlot) -> Markup:
    """Draw the curves; the same numbers are in the text of the page."""
    parts = [
        f'<svg role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}" aria-labelledby="pt pd">',
        f'<title id="pt">{escape(plot.title)}</title>',
        '<desc id="pd">One line for each flip rate: the chance to pass over the number of '
        "prompts. The numbers are in the table below.</desc>",
        *_axes(plot),
        *_curves(plot),
        "</svg>",
    ]
    return Markup("".join(parts))


def _axes(plot: PowerPlot) -> Iterator[str]:
    for percent in (0, 20, 40, 60, 80, 100):
        y = _y(percent / 100)
        yield line(_LEFT, y, _RIGHT, y, "grid")
        yield _text(_LEFT - 8, y + 4, f"{percent}%", "end")
    first, last = plot.sizes[0], plot.sizes[-1]
    for power in range(math.floor(math.log10(first)), math.floor(math.log10(last)) + 1):
        for tick in (10**power, 2 * 10**power, 5 * 10**power):
            if first <= tick <= last:
                x = _x(tick, plot)
                yield line(x, _TOP, x, _BOTTOM, "grid")
                yield _text(x, _BOTTOM + 18, numbers.count(tick), "middle")
    yield line(_LEFT, _y(plot.wanted), _RIGHT, _y(plot.wanted), "soft")
    own = _x(plot.own, plot)
    yield line(own, _TOP, own, _BOTTOM, "soft")
    yield _text(own, _BOTTOM + 36, f"this plan: {numbers.count(plot.own)}", "middle")
    yield _text((_LEFT + _RIGHT) / 2, _BOTTOM + 60, "prompts (logarithmic)", "middle")


def _curves(plot: PowerPlot) -> Iterator[str]:
    lowest = -math.inf
    for index, (label, chances) in enumerate(plot.curves):
        points = " ".join(
            f"{_x(size, plot):.1f},{_y(chance):.1f}"
            for size, chance in zip(plot.sizes, chances, strict=True)
        )
        dash = _DASHES[index % len(_DASHES)]
        stroke = f"stroke:var(--c{index % len(_DASHES)})"
        yield f'<polyline class="curve" style="{stroke};stroke-dasharray:{dash or "none"}" '
        yield f'points="{points}"/>'
        # Labels stand at the ends of their lines, and below each other where those meet.
        y = max(_y(chances[-1]) + 4, lowest + _LABEL_GAP)
        lowest = y
        yield f'<line style="{stroke};stroke-dasharray:{dash or "none"}" stroke-width="2.5" '
        yield f'x1="{_RIGHT + 8}" y1="{y - 4:.1f}" x2="{_RIGHT + 36}" y2="{y - 4:.1f}"/>'
        yield _text(_RIGHT + 42, y, label, "start")


def _x(size: float, plot: PowerPlot) -> float:
    first, last = math.log(plot.sizes[0]), math.log(plot.sizes[-1])
    share = (math.log(size) - first) / (last - first) if last > first else 0.5
    return _LEFT + share * (_RIGHT - _LEFT)


def _y(chance: float) -> float:
    return _BOTTOM - chance * (_BOTTOM - _TOP)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
