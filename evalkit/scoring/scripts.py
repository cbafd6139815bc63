"""Which writing system a text is in, by Unicode block.

Enough to tell Chinese from English; not a language detector: French is Latin, as English is.
"""

from __future__ import annotations

import re
from collections import Counter

_BLOCKS: dict[str, str] = {
    "latin": "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a",
    "han": "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f",
    "kana": "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\uff66-\uff9d",
    "hangul": "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3",
    "cyrillic": "\u0400-\u052f",
    "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0620-\u064a\u066e-\u06d3\u0750-\u077f",
    "hebrew": "\u05d0-\u05ea",
    "devanagari": "\u0904-\u0939\u0958-\u0961",
    "thai": "\u0e01-\u0e30\u0e40-\u0e46",
    "armenian": "\u0531-\u0556\u0561-\u0587",
    "georgian": "\u10a0-\u10ff",
    "bengali": "\u0985-\u09b9",
    "tamil": "\u0b85-\u0bb9",
    "telugu": "\u0c05-\u0c39",
    "gujarati": "\u0a85-\u0ab9",
    "gurmukhi": "\u0a05-\u0a39\u0a59-\u0a5e",
    "kannada": "\u0c85-\u0cb9",
    "malayalam": "\u0d05-\u0d39",
}
_LETTERS = {name: re.compile(f"[{block}]+") for name, block in _BLOCKS.items()}
_LATIN = {"latin": _LETTERS["latin"]}
_LANGUAGES: dict[str, frozenset[str]] = {
    "en": frozenset({"latin"}),
    "zh": frozenset({"han"}),
    "ja": frozenset({"han", "kana"}),
    "ko": frozenset({"hangul"}),
    "ru": frozenset({"cyrillic"}),
    "el": frozenset({"greek"}),
    "ar": frozenset({"arabic"}),
    "he": frozenset({"hebrew"}),
    "hi": frozenset({"devanagari"}),
    "th": frozenset({"thai"}),
}

_TONGUES = (
    r"(?:english|chinese|mandarin|cantonese|french|german|spanish|italian|portuguese|russian|"
    r"japanese|korean|arabic|hindi|latin|greek|thai|vietnamese|pinyin)"
)
_ASKS_EN = re.compile(
    rf"\btranslat(?:e|ed|ion|ing)\b|\b(?:in|into|to)\s+(?:\w+\s+)?{_TONGUES}\b"
    rf"|\b{_TONGUES}\s+(?:only|version|translation|sentence|poem|answer|words?|names?|idioms?)\b",
    re.IGNORECASE,
)
_ASKS_ZH = re.compile(
    r"翻译|译[成为作]|[用以成](?:一[句段个种])?(?:简体|繁体)?[中英法德日韩俄西汉拉](?:班牙|丁)?[语文]"
    r"|[英法德日韩俄](?:语|文)(?:回答|作答|写|版|翻译|单词|名|句子|怎么说|是什么)"
)


def names_a_language(prompt: str) -> bool:
    """Whether a prompt asks for a translation, or names a language to answer in.

    Towards yes: then no language is expected, and none can be the wrong one.

    >>> names_a_language("Translate into Chinese: good morning"), names_a_language("用英语回答。")
    (True, True)
    >>> names_a_language("What is the capital of France?"), names_a_language("怎样学好英语？")
    (False, False)
    """
    return bool(_ASKS_EN.search(prompt) or _ASKS_ZH.search(prompt))


def _possible(text: str) -> dict[str, re.Pattern[str]]:
    return _LATIN if text.isascii() else _LETTERS


def script_counts(text: str) -> Counter[str]:
    """Count the letters of each writing system. Linear in the text."""
    counts: Counter[str] = Counter()
    for name, letters in _possible(text).items():
        total = sum(len(run) for run in letters.findall(text))
        if total:
            counts[name] = total
    return counts


def han_count(text: str) -> int:
    """Count Chinese characters."""
    return sum(len(run) for run in _LETTERS["han"].findall(text))


def written_in(text: str, language: str) -> bool:
    """Whether most of the words are in the script of a language.

    A Chinese character weighs as half a word, so that a Chinese sentence with an English
    name in it stays Chinese.

    Raises:
        KeyError: For a language whose script is not known here.
    """
    scripts = _LANGUAGES[language]
    own = foreign = 0.0
    for name, letters in _possible(text).items():
        runs = letters.findall(text)
        weight = sum(map(len, runs)) / 2 if name in {"han", "kana"} else float(len(runs))
        if name in scripts:
            own += weight
        else:
            foreign += weight
    if language == "zh" and _LETTERS["kana"].search(text):
        return False
    return own > foreign
