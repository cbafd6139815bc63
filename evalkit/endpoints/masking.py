"""Masks secrets in what a server says, in the forms in which servers repeat them.

A key can come back whole, cut off, percent-encoded, escaped for JSON or HTML, in hex, or in
base64, also as part of a longer text (`Basic` of user and password). No mask finds every
code that a hostile server may think of: one that turns the key round letter by letter has
told it to itself, and nobody else.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final
from urllib.parse import quote, quote_plus

MASK: Final = "***"
# A shorter part of a key is no key: OpenAI itself shows four characters of each end.
_PART: Final = 8
_CODED_PART: Final = 12
# Shorter values are placeholders (EMPTY, none) or words that an answer may need.
_LEAST: Final = 6
_PREFIX: Final = re.compile(r"(?:[A-Za-z0-9]{1,8}[-_])+")


class Secrets:
    """Texts that are never shown."""

    def __init__(self, values: Iterable[str]) -> None:
        # The longest first: a short secret may be part of a long one.
        self._values = sorted({value for value in values if value}, key=len, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"

    def more(self, values: Iterable[str]) -> Secrets:
        """Return these secrets and further ones."""
        return Secrets((*self._values, *values))

    def scrub(self, text: str) -> str:
        """Mask secrets in a text that is about to be told: an error, a page, an address.

        Every form is masked, and so is every part of eight characters or more.
        """
        for pattern in self._patterns:
            text = pattern.sub(MASK, text)
        for value in self._values:
            text = _mask_parts(text, value, _windows(value, _PART))
            for form in _encodings(value):
                text = _mask_parts(text, form, _windows(form, _CODED_PART))
        return text

    def scrub_answer(self, text: str) -> str:
        """Mask secrets in a model's answer: quickly, and so that no plain word is lost.

        Masked are whole secrets, their usual encodings, and parts of 15 characters or more.
        A value that is a placeholder or a plain word stays: it cannot be told from an answer.
        """
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        for value, parts in self._parts:
            if any(part in text for part in parts):
                text = _mask_parts(text, value, parts)
        return text

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        forms = [form for value in self._values for form in _encodings(value)]
        found = [re.compile(_spelled(value)) for value in self._values]
        return found + [re.compile(re.escape(form)) for form in forms]

    @cached_property
    def _forms(self) -> list[str]:
        values = [value for value in self._values if _is_secret(value)]
        forms = {form for value in values for form in (value, *_encodings(value))}
        return sorted(forms, key=len, reverse=True)

    @cached_property
    def _parts(self) -> list[tuple[str, list[str]]]:
        found = [(value, list(_pieces(value))) for value in self._values if _is_secret(value)]
        return [(value, parts) for value, parts in found if parts]


def _is_secret(value: str) -> bool:
    """Whether a value can be told from a word of an answer."""
    return len(value) >= _LEAST and not (value.isalpha() and len(value) < 2 * _LEAST)


def _spelled(value: str) -> str:
    """Return a pattern of a value of which any character may be escaped for URL, JSON or HTML."""
    spelled = "".join(_character(character) for character in value)
    if len(value) < _LEAST:
        # A short value stands in longer words, which say something else.
        return rf"(?<![A-Za-z0-9])(?:{spelled})(?![A-Za-z0-9])"
    return spelled


def _character(character: str) -> str:
    code = ord(character)
    percent = "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "replace"))
    escaped = rf"\\u{code:04x}|\\x{code:02x}|&#0*{code};|&#x0*{code:x};|{percent}"
    own = {json.dumps(character)[1:-1], html.escape(character), f"\\{character}", character}
    plain = "|".join(re.escape(one) for one in sorted(own, key=len, reverse=True))
    return f"(?:{plain}|(?i:{escaped}))"


def _encodings(value: str) -> Iterator[str]:
    """Yield the encodings of a value as a whole, and of its place within a longer text."""
    if len(value) < _LEAST:
        return
    data = value.encode("utf-8", "replace")
    yield data.hex()
    yield data.hex().upper()
    for form in (quote(value, safe=""), quote_plus(value)):
        if form != value:
            yield form
    for before in range(3):
        # What stands before and after shares its characters with the value's first and last.
        coded = base64.b64encode(b"\0" * before + data).decode().rstrip("=")
        inner = coded[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
        if len(inner) >= _LEAST:
            yield inner
            yield inner.translate(str.maketrans("+/", "-_"))


def _windows(value: str, length: int) -> list[str]:
    """Return every part of a length."""
    return [value[i : i + length] for i in range(len(value) - length + 1)]


def _pieces(value: str) -> Iterator[str]:
    """Yield parts, one beside the other, of which a longer part must hold one.

    What every key of a provider begins with, and what could be a word, is none.
    """
    prefix = _PREFIX.match(value)
    start = prefix.end() if prefix is not None and prefix.end() <= len(value) // 2 else 0
    for place in range(start, len(value) - _PART + 1, _PART):
        piece = value[place : place + _PART]
        kinds = (str.isdigit, str.islower, str.isupper)
        if sum(any(kind(character) for character in piece) for kind in kinds) >= 2:
            yield piece


def _mask_parts(text: str, value: str, parts: Iterable[str]) -> str:
    """Mask the longest stretch around each part that a text shares with a value."""
    for part in parts:
        place = text.find(part)
        while place >= 0:
            start, end = _stretch(text, value, place, part)
            text = text[:start] + MASK + text[end:]
            place = text.find(part, start + len(MASK))
    return text


def _stretch(text: str, value: str, place: int, part: str) -> tuple[int, int]:
    within = value.index(part)
    start, first = place, within
    while start > 0 and first > 0 and text[start - 1] == value[first - 1]:
        start, first = start - 1, first - 1
    end, last = place + len(part), within + len(part)
    while end < len(text) and last < len(value) and text[end] == value[last]:
        end, last = end + 1, last + 1
    return start, end
