r"""Words and sentences of an answer, counted as the published IFEval checks count them.

IFEval counts with NLTK: `\w+` for words, the Penn Treebank tokenizer for words in capitals,
and Punkt (Kiss & Strunk 2006, doi 10.1162/coli.2006.32.4.485) for sentences. The same rules
stand here without NLTK and its downloads; in place of Punkt's learned tables there are a list
of abbreviations and one of words that usually begin a sentence. Chinese marks end a sentence
wherever they stand.

Every function is linear in the text.
"""

from __future__ import annotations

import re
from itertools import pairwise

from evalkit.scoring.checks_base import words_of

_CHUNK = re.compile(r"\S+")
# Behind one of these the end of a sentence needs no white space.
_CLOSING = frozenset(")\";}]*:@'({[!?")
_WORD_BORDER = re.compile(r"[)\";}\]*:@'({\[!?`&#]|-{2,}")
_REALIGNED = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)")
_CHINESE_END = re.compile(r"[。！？]+[”’」』）)\"']*")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.\-]*")
_WHOLE_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_NOT_IN_WORDS = re.compile(r"[\s;@#$%&?!*()\[\]{}<>\"“”«»‘’„`\u2012-\u2015:]+|,(?!\d)|--|\.{2,}")
_CLITIC = re.compile(r"(?:'(?:[SMDsmd]|LL|RE|VE|ll|re|ve)|N'T|n't)$")


def word_count(text: str) -> int:
    """Count runs of letters, digits and underscores."""
    return sum(1 for _ in re.finditer(r"\w+", text))


def word_counts(text: str) -> frozenset[int]:
    """Return the ways to count words: as IFEval does, and with "don't" and "well-known" whole."""
    return frozenset({word_count(text), sum(1 for _ in _WHOLE_WORD.finditer(text))})


def capital_word_count(text: str) -> int:
    """Count words without small letters: "NEW", "U.S.", the "I" of "I'm"; "DON'T" is two."""
    count = 0
    for chunk in _NOT_IN_WORDS.split(text):
        piece = chunk.rstrip(".")
        clitic = _CLITIC.search(piece)
        parts = (piece[: clitic.start()], clitic.group()) if clitic else (piece,)
        count += sum(part.isupper() for part in parts)
    return count


def sentence_count(text: str) -> int:
    """Count sentences. A text without any mark is one; a blank one has none."""
    first, *rest = _CHINESE_END.split(text)
    parts = [first, *(part for part in rest if re.search(r"\w", part))]
    return sum(_sentences(part.strip()) for part in parts if part.strip())


def _sentences(text: str) -> int:
    """Count sentences as Punkt does, which looks at the last mark of each chunk."""
    chunks = list(_CHUNK.finditer(text))
    starts = [0]
    for match, after in zip(chunks, [*chunks[1:], None], strict=True):
        chunk = match.group()
        at = _last_mark(chunk, after is not None)
        if at is None:
            continue
        inside = at + 1 < len(chunk)
        following = chunk[at + 1] if inside else _first_word(after.group() if after else "")
        if _ends_sentence(chunk[: at + 1], following):
            starts.append(match.start() + at + 1 if inside or after is None else after.start())
    borders = [*starts, len(text)]
    pieces = (text[a:b] for a, b in pairwise(borders[1:]))
    return 1 + sum(not _only_closes(piece) for piece in pieces)


def _only_closes(piece: str) -> bool:
    """Say whether nothing is left of a piece when its closing marks go to the one before."""
    closing = _REALIGNED.match(piece)
    return closing is not None and not piece[closing.end() :].strip()


def _last_mark(chunk: str, more: bool) -> int | None:
    for at in range(len(chunk) - 1, -1, -1):
        if chunk[at] in ".?!":
            last = at + 1 == len(chunk)
            if (last and more) or (not last and chunk[at + 1] in _CLOSING):
                return at
    return None


def _first_word(chunk: str) -> str:
    if chunk and chunk[0].isalnum():
        return _WORD_BORDER.split(chunk, maxsplit=1)[0].rstrip(",.")
    return chunk[:1]


def _ends_sentence(before: str, following: str) -> bool:
    """Say whether a chunk that ends with a mark ends a sentence.

    An ordinary word always does. An abbreviation or three dots do before a word that usually
    begins a sentence; an initial does before such a word or before no capital at all; a number
    does unless a word in small letters follows.
    """
    if "?" in before or "!" in before:
        return True
    if before.endswith(".."):
        return _begins(following)
    word = _WORD_BORDER.split(before[:-1])[-1].lstrip("-,").lower()
    if len(word) == 1 and word.isalpha() and word != "v":
        # "J. Smith" is a name, "a. Pack" an item of a list.
        listed = before[-2].islower() and following[:1].isupper()
        return listed or not following[:1].isalpha() or _begins(following)
    if _NUMBER.fullmatch(word):
        return not following[:1].islower()
    if {word, word.rpartition("-")[2]} & words_of("abbreviations")["en"]:
        return _begins(following)
    return True


def _begins(word: str) -> bool:
    return word[:1].isupper() and word.lower() in words_of("starters")["en"]
