"""Telling what a model thought from what it answered, where the server did not."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPEN, _CLOSE = "<think>", "</think>"
# In the middle of a sentence a tag is only spoken of.
_BEGIN = r"(?:^|(?<=</think>))[ \t]*"
_BLOCK = re.compile(_BEGIN + "<think>", re.MULTILINE)
_FENCE = re.compile(_BEGIN + "(?:```|~~~)", re.MULTILINE)


def split_think(text: str) -> tuple[str | None, str]:
    """Split an answer at its `<think>` blocks into reasoning and answer.

    Templates that open the tag in the prompt leave only the closing one in the answer. A
    tag that never closes means that the answer was cut within the reasoning. A tag inside
    code is part of the answer, and so is an opening one in the middle of a line.

    Returns:
        The reasoning, blocks joined by a line end, or `None` when there is none; and the
        answer, which keeps its white space when there is no reasoning.
    """
    if _OPEN not in text and _CLOSE not in text:
        return None, text
    thought, kept, at = [], [], 0
    for start, inner, close, end in _blocks(text):
        kept.append(text[at:start])
        thought.append(text[inner:close].strip())
        at = end
    if not thought:
        return None, text
    kept.append(text[at:])
    return "\n".join(filter(None, thought)), "".join(kept).lstrip()


def _blocks(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield where each block starts, what it holds starts and ends, and where it ends."""
    at = fences = 0
    close = text.find(_CLOSE)
    if close >= 0 and text.find(_OPEN, 0, close) < 0 and not _in_code(text[:close]):
        at = close + len(_CLOSE)
        yield 0, 0, close, at
    scanned = at
    for found in _BLOCK.finditer(text, at):
        if found.start() < at:
            continue
        fences += len(_FENCE.findall(text, scanned, found.start()))
        scanned = found.start()
        if fences % 2 == 1:
            continue
        close = text.find(_CLOSE, found.end())
        close = len(text) if close < 0 else close
        at = scanned = min(len(text), close + len(_CLOSE))
        yield found.start(), found.end(), close, at


def _in_code(before: str) -> bool:
    """Whether the text that ends here ends within a block or a span of code."""
    in_block = len(_FENCE.findall(before)) % 2 == 1
    return in_block or before.rpartition("\n")[2].count("`") % 2 == 1
