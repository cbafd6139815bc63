"""The one catalogue of words: every sentence that any renderer prints comes from here.

A word is a template, or several from the richest to the plainest: the first whose fields
are all known is used, so that a sentence never shows a hole. The last needs the fewest.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Final

from evalkit.errors import UnknownNameError
from evalkit.report import catalogue_en, catalogue_zh

Word = str | tuple[str, ...]

LANGUAGES: Final[Mapping[str, Mapping[str, Word]]] = {
    "en": catalogue_en.WORDS,
    "zh": catalogue_zh.WORDS,
}
_HTML_LANG: Final = {"en": "en", "zh": "zh-Hans"}
_UI: Final = "ui."


class Words:
    """The catalogue of one language.

    Raises:
        UnknownNameError: For a language that has no catalogue.
    """

    def __init__(self, lang: str) -> None:
        if lang not in LANGUAGES:
            raise UnknownNameError("report language", lang, LANGUAGES)
        self.lang = lang
        self.html_lang = _HTML_LANG[lang]
        self._words = LANGUAGES[lang]

    def __contains__(self, key: str) -> bool:
        return key in self._words

    def __call__(self, key: str, **facts: str) -> str:
        """Return the sentence of a key.

        Args:
            key: Name in the catalogue.
            facts: Finished strings for the fields; more than needed is fine.

        Raises:
            KeyError: For a key that is not in the catalogue, or a field without a fact.
        """
        word = self._words[key]
        variants = (word,) if isinstance(word, str) else word
        for variant in variants:
            if fields(variant) <= facts.keys():
                return variant.format_map(facts)
        missing = fields(variants[-1]) - facts.keys()
        raise KeyError(f"{key} needs {', '.join(sorted(missing))}")

    def plain(self, key: str) -> str | None:
        """Return a key's plainest sentence; `None` when there is none that needs no facts."""
        word = self._words.get(key)
        if word is None:
            return None
        last = word if isinstance(word, str) else word[-1]
        return None if fields(last) else last

    def name(self, group: str, key: str) -> str:
        """Return the word for a name that others choose (a flag, a cause); itself if unknown."""
        full = f"{group}.{key}"
        return self(full) if full in self else key

    def ui(self) -> dict[str, str]:
        """Return the fixed words of pages, by their short keys."""
        return self.group(_UI)

    def group(self, prefix: str) -> dict[str, str]:
        """Return words that need no facts, by what follows the prefix of their keys."""
        return {key[len(prefix) :]: self(key) for key in self._words if key.startswith(prefix)}


def fields(template: str) -> set[str]:
    """Return the names of the fields in a template."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}
