"""Text that is none: broken bytes, a soup of scripts, pieces of words strung together."""

from __future__ import annotations

import re

from evalkit.scoring.scripts import script_counts

_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
_REPLACEMENT = re.compile("\ufffd")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_SPECIAL = re.compile(r"<\|[a-z_]{2,30}\|>|<unk>|\[UNK\]|<0x[0-9A-F]{2}>")
# UTF-8 read as Latin-1 or Windows-1252 (Ã©, â€™, ä¸­), and as GBK (锟斤拷).
_MISREAD = re.compile(
    "[\u00c2\u00c3][\u0080-\u00bf\u0152-\u0178\u2013-\u2122]"
    "|\u00e2\u20ac|[\u00e4-\u00e9][\u00a0-\u00bf\u0152-\u0178\u2013-\u2122]{2}|锟斤拷|烫烫烫|屯屯屯"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")
_LONG_WORD = 45

# Where words are joined as nobody joins them. Each of these stands in some sound text (a name
# of a product, a file, a quotation); several kinds of them together do not.
_JOINTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"[a-z][A-Z]",
        r"(?<!\S)-[a-z]|[a-z]-(?!\S)",
        r"[A-Za-z]\d[a-z]",
        r"[a-z][.,:;!?)\]}\"“”][a-z]{2}",
        r"(?<=\s)[.,;:)\]][a-z]{2}",
        r"[a-z][\u0400-\u04ff\u0600-\u06ff\u0900-\u0dff]"
        r"|[\u0400-\u04ff\u0600-\u06ff\u0900-\u0dff][a-z]",
        "\ufffd.",
        r"([a-vx-z])\1\1",
        r"(?<=\s)['’\"“][.+,:_](?!\.)|(?<=\s)['’]s?(?=\s)",
        "\xa0\xa0|\xa0 |[a-z]\xa0[a-z]",
    )
)
_LEAST_WORDS, _LEAST_JOINTS, _LEAST_KINDS, _JOINTS_A_WORD = 12, 4, 3, 0.06


def is_garbled(text: str, prose: str) -> bool:
    """Whether the text holds what no tokenizer should give, or is strung together from pieces.

    Words that are whole but make no sense go unseen.

    Args:
        text: The answer.
        prose: The answer without code and tables.
    """
    if len(_CONTROL.findall(text)) >= 2 or len(_SPECIAL.findall(prose)) >= 2:
        return True
    if _is_word_soup(prose) or _is_pieces(prose):
        return True
    if text.isascii():
        return False
    if len(_MISREAD.findall(prose)) >= 3:
        return True
    # One replacement character is a cut multi-byte letter; more are broken bytes.
    if len(_PRIVATE.findall(text)) >= 3 or len(_REPLACEMENT.findall(text)) >= 3:
        return True
    return _mixes_scripts(prose)


def _mixes_scripts(prose: str) -> bool:
    counts = script_counts(prose)
    # Kanji and kana are one writing system; Greek letters are mathematics.
    scripts = {"han" if name == "kana" else name for name in counts if counts[name] >= 2}
    return len(scripts - {"greek"}) >= 5


def _is_word_soup(prose: str) -> bool:
    """Whether the Latin words are no words: glued together, or without any spaces at all."""
    words = [word for word in _WORD.findall(prose) if word[0] < "\u0250"]
    long = [word for word in words if len(word) > _LONG_WORD]
    return len(words) >= 5 and sum(map(len, long)) > 0.3 * sum(map(len, words))


def _is_pieces(prose: str) -> bool:
    """Whether pieces of words are joined in several ways in which nobody joins them."""
    words = len(_LATIN_WORD.findall(prose))
    if words < _LEAST_WORDS:
        return False
    joints = [len(joint.findall(prose)) for joint in _JOINTS]
    if sum(map(bool, joints)) < _LEAST_KINDS:
        return False
    return sum(joints) >= max(_LEAST_JOINTS, _JOINTS_A_WORD * words)
