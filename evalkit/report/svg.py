"""Marks of inline SVG. Every text is escaped here; colours come from the page by class."""

from __future__ import annotations

from markupsafe import escape


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Draw a straight line of a class."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    """Write words, with their baseline at `y`."""
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def opening(kind: str, width: float, height: float, key: str, title: str, told: str) -> str:
    """Open a picture with its title and its description for those who do not see it."""
    return (
        f'<svg class="{kind}" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" aria-labelledby="{key}-title {key}-desc">'
        f'<title id="{key}-title">{escape(title)}</title>'
        f'<desc id="{key}-desc">{escape(told)}</desc>'
    )
