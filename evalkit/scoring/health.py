"""Signs of degeneration that any completion can show, whatever it was asked.

Precision comes first: a table, a program, a numbered list or a refrain is no loop, a name
in another script is no language switch. Everything is linear, and a very long text is
judged by its two ends, so that 10 MB cost no more than 200 kB.

The thresholds were set on completions of SmolLM2-135M-Instruct at 8 and 4 bits and of the
same model broken by rounding to 3 and 2 bits. They were read and labelled by hand and are
kept as tests; what the rules find in the half that was not looked at when they were set is
in docs/scorer-agreement.md.
"""

from __future__ import annotations

import re
from collections import Counter

from evalkit.scoring.garble import is_garbled
from evalkit.scoring.scripts import han_count, script_counts, written_in
from evalkit.scoring.text import is_blank
from evalkit.types import Flag, Language

_END = 50_000
_TAIL = 12_000
_REPEATED = 16

_FENCE = re.compile(r"^[ \t]*(?:```|~~~)")
_LAST = 400
_SIGNS = 150
_CLOSING = 200
_PARAGRAPH = 40
_BREAKS = 8
_BREAK = re.compile(r"[.,;:!?](?=\s|$)|[\n。！？，；]")
# 0.333…: the digits of a fraction repeat, and rightly so.
_RECURRING = re.compile(r"\d[.,]\d{0,12}$")
_UNIT = re.compile(r"[\u3400-\u9fff]|[^\s\u3400-\u9fff]+")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def health_flags(
    text: str | None, finish_reason: str | None, language: Language | None
) -> tuple[Flag, ...]:
    """Return the signs of degeneration in one answer.

    Args:
        text: The answer, reasoning already taken out; `None` for null content.
        finish_reason: As the server gave it; `length` is truncation.
        language: The language that the answer should be in; `None` when any will do
            (a program, a translation).
    """
    flags: list[Flag] = []
    if finish_reason == "length":
        flags.append(Flag.TRUNCATED)
    if text is None or is_blank(text):
        if not flags or text is not None:
            flags.append(Flag.EMPTY)
        return tuple(flags)
    text = _ends(text)
    prose = _without_code(text)
    if is_loop(text, prose, cut=Flag.TRUNCATED in flags):
        flags.append(Flag.LOOP)
    if is_garbled(text, prose):
        flags.append(Flag.GARBLED)
    if language is not None and is_wrong_language(prose, language):
        flags.append(Flag.WRONG_LANGUAGE)
    if is_refusal(text):
        flags.append(Flag.REFUSED)
    return tuple(flags)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def _without_code(text: str) -> str:
    """Leave out fenced blocks, inline code, table rows and addresses."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith("|"):
            lines.append(line)
    prose = re.sub(r"`[^`\n]{1,200}`", " ", "\n".join(lines))
    return re.sub(r"https?://\S{1,500}", " ", prose)


# ---- loops ---------------------------------------------------------------------------


def is_loop(text: str, prose: str, *, cut: bool = False) -> bool:
    """Whether the text repeats itself without end.

    Two signs: the text ends in many copies of one unit (after which a few more words
    may still end it), or one sentence makes up most of the prose. (A compression ratio added
    nothing to them on real loops, and took JSON and numbered lists for loops.) Others hold
    only for a text that was cut: hardly a new word in its last lines, or no word at all.
    Lists, tables and programs have at least one new word in five there, and loops of the
    broken model fewer.

    Args:
        text: The answer.
        prose: The answer without code and tables.
        cut: Whether it was cut at `max_tokens`. Then it was still repeating when it ended,
            and a few copies say as much as many in a text that came to an end.
    """
    if _ends_in_copies(text, cut) or _one_segment_dominates(prose, 3 if cut else 4):
        return True
    if cut:
        return _says_nothing_new(prose) or _only_signs(text)
    return _stops_after_copies(prose)


def _ends_in_copies(text: str, cut: bool) -> bool:
    tail = text.rstrip()[-_TAIL:][::-1]
    # Whatever is called a loop below has at least 30 characters in 2.2 copies: its last 16
    # stand once more before. Nearly no other text has that, and to look for it is quick.
    if tail.find(tail[:_REPEATED], 1) < 0:
        return False
    return any(
        _are_a_loop(tail, *_periodic_prefix(tail, copies), cut) for copies in (4, 2.2 if cut else 3)
    )


def _are_a_loop(tail: str, covered: int, period: int, cut: bool) -> bool:
    """Whether copies of a unit at the end of a text (turned round) are more than a repetition."""
    if not covered:
        return False
    unit, copies = tail[:period], covered / period
    # A letter of Chinese says as much as several of English.
    wide = covered + sum(char > "\u2e7f" for char in tail[:covered])
    if not _LETTER.search(unit):
        # A rule of dashes or a row of zeros is no loop; a page of them is.
        if _RECURRING.search(tail[covered : covered + 40][::-1]) and unit.isdigit():
            return covered >= 1_000
        drawn = not any(char.isdigit() or char == "\n" for char in unit)
        return wide >= (101 if cut and not drawn else 160) and copies >= 20
    if wide < (60 if cut else 100):
        return False
    words = len(unit.split()) + han_count(unit)
    if words < 4:
        return copies >= 8
    return copies >= 4 or words >= (8 if cut else _PARAGRAPH)


def _stops_after_copies(prose: str) -> bool:
    """Whether most of a text is copies of one unit, and a few more words then end it."""
    text = prose.rstrip()
    if len(text) < 2 * _CLOSING:
        return False
    breaks = [match.start() for match in _BREAK.finditer(text, len(text) - _CLOSING)]
    for end in reversed(breaks[-_BREAKS:]):
        before = text[:end].rstrip()
        if _ends_in_copies(before, cut=False):
            covered, _ = _periodic_prefix(before[-_TAIL:][::-1], 4)
            return covered >= 0.5 * min(len(text), _TAIL)
    return False


def _only_signs(text: str) -> bool:
    """Whether a long end of the text is signs alone, one by one, without a letter or digit."""
    signs = text.rstrip()[-_SIGNS:].split()
    return len(signs) >= 40 and not any(char.isalnum() for sign in signs for char in sign)


def _periodic_prefix(text: str, copies: float) -> tuple[int, int]:
    """Return the longest prefix made of so many copies of a unit, and the unit's length.

    The prefix function of Knuth, Morris and Pratt gives the smallest period of every prefix.
    """
    borders = [0] * len(text)
    best = (0, 1)
    k = 0
    for i in range(1, len(text)):
        while k and text[i] != text[k]:
            k = borders[k - 1]
        if text[i] == text[k]:
            k += 1
        borders[i] = k
        period = i + 1 - k
        if i + 1 >= copies * period:
            best = (i + 1, period)
    return best


def _one_segment_dominates(prose: str, least: int) -> bool:
    """Whether one sentence or line of some length makes up most of the prose."""
    segments = [s.strip() for s in re.split(r"[\n.!?。！？；]", prose)]
    long = [s for s in segments if len(s) + 2 * han_count(s) >= 12 and _LETTER.search(s)]
    if len(long) < least:
        return False
    segment, copies = Counter(long).most_common(1)[0]
    return copies >= least and copies * len(segment) >= 0.6 * sum(map(len, segments))


def _says_nothing_new(prose: str) -> bool:
    """Whether the end holds fewer than one new word in five, or Chinese character in seven."""
    units = _UNIT.findall(prose.rstrip()[-_LAST:])
    chinese = 2 * sum(unit > "\u33ff" for unit in units) > len(units)
    return len(units) >= 40 and len(set(units)) * (7 if chinese else 5) < len(units)


# ---- language and refusal ------------------------------------------------------------

_LEAST_WORDS = 6
_LATIN_WORDS = re.compile(r"[A-Za-z]{2,}")
_QUOTED = re.compile(r"\"[^\"\n]{1,1000}\"|“[^”]{1,1000}”|「[^」]{1,1000}」|《[^》]{1,200}》")


def _weight(text: str) -> int:
    """Letters, a Chinese one as three."""
    return len(_LETTER.findall(text)) + 2 * han_count(text)


def is_wrong_language(prose: str, language: Language) -> bool:
    """Whether the prose is in another script than expected, beyond a name or a term.

    Scripts only: German for English goes unseen. What stands in quotation marks is read only
    where it is most of the answer.
    """
    unquoted = _QUOTED.sub(" ", prose)
    if _weight(unquoted) >= 0.15 * _weight(prose):
        prose = unquoted
    counts = script_counts(prose)
    words = len(_WORD.findall(prose)) + (counts["han"] + counts["kana"]) / 2
    if words < _LEAST_WORDS:
        return False
    if language == "zh":
        latin = len(_LATIN_WORDS.findall(prose))
        if latin + counts["kana"] < _LEAST_WORDS:
            return False
        few = counts["han"] < min(2 * _LEAST_WORDS, 0.2 * latin)
        switched = latin >= 40 and counts["han"] < 0.5 * latin
        return few or switched or counts["kana"] > 0.3 * counts["han"] + 6
    return not written_in(prose, language)


_APOSTROPHES = str.maketrans({"’": "'", "‘": "'"})
_REFUSAL_EN = re.compile(
    r"\b(?:i am|i'm)\s(?:sorry|afraid|unable|not able)\b.{0,40}?"
    r"\b(?:can't|cannot|can not|unable to|not able to|won't)\s(?:\w+\s){0,2}?"
    r"(?:help|assist|comply|fulfill?|do that|provide|write|create|generate|engage|discuss)\b"
    r"|\bi\s(?:can't|cannot|can not|won't|will not)\s(?:\w+\s){0,2}?"
    r"(?:help|assist|comply|fulfill?)\b"
    r"|\bi(?: must| have to| need to|'ll have to|'m going to have to) "
    r"(?:(?:respectfully|politely) )?(?:decline|refuse)\b"
    r"|\bi (?:won't|will not) be able to (?:help|assist|comply|fulfill?|provide|write|create)\b"
    r"|\bi(?:'m| am) (?:unable|not able) to (?:help|assist|comply|fulfill?|provide|write|create)\b"
    r"|\bas an ai(?: language model| assistant)?,? i "
    r"(?:can't|cannot|can not|do not|don't|am unable)\b"
)
_UNWILLING = (
    "can't", "cannot", "can not", "unable", "not able", "won't", "will not", "do not", "don't",
    "decline", "refuse",
)  # fmt: skip
_REFUSAL_ZH = re.compile(
    r"(?:抱歉|对不起|很遗憾)[,，。!！、\s]{0,3}(?:但是?|不过|作为[^,，。]{0,12}[,，])?"
    r"[,，\s]{0,2}(?:我|本助手)?(?:无法|不能|不可以|没有办法|没办法)"
    r"(?:帮|协助|提供|完成|满足|回应|继续|生成|写|讨论|这样做|回答(?:这个|该|此|这类|此类|您的|你的))"
    r"|我(?:无法|不能)(?:帮助你|帮助您|帮忙|协助|为你提供|为您提供|满足|完成)"
    r"|作为(?:一个|一名)?(?:AI|人工智能)[^,，。]{0,12}[,，]?我(?:无法|不能|没有)"
)


def is_refusal(text: str) -> bool:
    """Whether the answer opens by declining to do what was asked.

    "I don't know" is not a refusal: it abstains, and the scorer of facts sees that.
    """
    opening = " ".join(text[:400].split()).translate(_APOSTROPHES).lower()[:200]
    # Both patterns are slow to find nothing, and every refusal has one of these words.
    if any(word in opening for word in _UNWILLING) and _REFUSAL_EN.search(opening):
        return True
    return not opening.isascii() and bool(_REFUSAL_ZH.search(opening.replace("ai", "AI")))
