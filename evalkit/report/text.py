"""Hostile text made visible: what a reader must see, and no renderer may obey.

Completions may hold anything. Before a text enters the view-model, the characters that
act instead of being read are replaced by something that can be seen: control characters,
lone surrogates, noncharacters, and the bidi controls that reorder what follows. Escaping
for HTML, Markdown or XML is the renderer's own duty.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from evalkit.report import numbers

_ACTING: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and line feed
    "\u202a-\u202e\u2066-\u2069"  # bidi embeddings, overrides and isolates
    "\ufdd0-\ufdef\ufffe\uffff"  # noncharacters, which XML cannot hold
    "\ud800-\udfff"  # surrogates: in a str they are always lone
    "\U000e0000-\U000e007f]"  # tag characters: text that nobody sees
)
_DELETE: Final = 0x7F


def visible(text: str) -> str:
    """Replace each acting character by a visible one, e.g. NUL by `␀`, U+202E by `⟦U+202E⟧`."""
    return _ACTING.sub(_picture, text.replace("\r\n", "\n"))


def one_line(text: str, most: int = 400) -> str:
    """Return `visible(text)` on one line of at most `most` characters, for names and cells."""
    if len(text) > most:
        text = f"{text[:most]}…"
    return " ".join(visible(text).split())


def columns(text: str) -> int:
    """Return how many columns a text fills where East Asian wide characters fill two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def cut(text: str, head: int, tail: int, marker: str) -> str:
    """Keep the first `head` and the last `tail` characters of a long text.

    The end is kept because that is where a final answer stands.

    Args:
        text: Any text.
        head: Characters kept from the start.
        tail: Characters kept from the end.
        marker: What stands in between; `{n}` in it becomes the number of characters cut.
    """
    surplus = len(text) - head - tail
    if surplus <= 0:
        return text
    end = text[-tail:] if tail else ""
    return (
        text[:head] + "\n" + marker.format(n=numbers.count(surplus)) + ("\n" + end if end else "")
    )


def without_surrogates(text: str) -> str:
    """Return a text that UTF-8 can hold; lone surrogates become visible."""
    return _SURROGATE.sub(_picture, text)


_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == _DELETE:
        return "␡"
    return f"⟦U+{code:04X}⟧"
