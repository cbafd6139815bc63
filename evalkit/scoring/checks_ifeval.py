"""The 25 instructions of IFEval (Zhou et al. 2023, arXiv 2311.07911), under their own ids.

Each follows the published check, quirks included, so that scores compare with published
ones. What differs, by name: sentences (`checks_text`) and languages (`checks_language`) are
told without NLTK and langdetect; a keyword is a text, never a pattern; a `letter` that is no
letter is counted itself, where the published check draws a random one. Two have a Chinese
side: a forbidden Chinese word has no word borders, and a Chinese end phrase may stand in
curly quotes. Two take one argument more: `options` for `constrained_response`, `marks` for
`quotation`.

All are linear in the answer: lines are walked, never matched with nested repeats.
"""

from __future__ import annotations

import json
import re
from typing import Any

from evalkit.scoring.checks_base import Kwargs, check, holds, quotes_of
from evalkit.scoring.checks_language import is_in
from evalkit.scoring.checks_text import capital_word_count, sentence_count, word_count, word_counts
from evalkit.scoring.scripts import han_count

_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_POSTSCRIPTS = {"P.S.": r"p\.\s?s\.", "P.P.S": r"p\.\s?p\.\s?s"}
_STAR_BULLET = re.compile(r"^[^\S\n]*\*[^*].*$", re.MULTILINE)
_DASH_BULLET = re.compile(r"^[^\S\n]*-.*$", re.MULTILINE)


# ---- keywords ------------------------------------------------------------------------


@check("keywords:existence")
def _existence(text: str, kw: Kwargs) -> bool:
    return all(_found(word, text) for word in kw["keywords"])


@check("keywords:frequency")
def _frequency(text: str, kw: Kwargs) -> bool:
    found = re.findall(re.escape(kw["keyword"]), text, re.IGNORECASE)
    return holds(len(found), kw["relation"], kw["frequency"])


@check("keywords:forbidden_words")
def _forbidden(text: str, kw: Kwargs) -> bool:
    def found(word: str) -> bool:
        if han_count(word):
            return word in text
        return bool(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE))

    return not any(found(word) for word in kw["forbidden_words"])


@check("keywords:letter_frequency")
def _letter_frequency(text: str, kw: Kwargs) -> bool:
    count = text.lower().count(kw["letter"].lower())
    return holds(count, kw["let_relation"], kw["let_frequency"])


def _found(word: str, text: str) -> bool:
    return re.search(re.escape(word), text, re.IGNORECASE) is not None


# ---- length --------------------------------------------------------------------------


@check("length_constraints:number_words")
def _words(text: str, kw: Kwargs) -> bool:
    # IFEval has no exact counts; where one is asked for, either way to count words will do.
    counts = word_counts(text) if kw["relation"] == "exactly" else (word_count(text),)
    return any(holds(count, kw["relation"], kw["num_words"]) for count in counts)


@check("length_constraints:number_sentences")
def _sentences(text: str, kw: Kwargs) -> bool:
    return holds(sentence_count(text), kw["relation"], kw["num_sentences"])


def _parts(text: str, separator: str) -> list[str] | None:
    """Split, forgiving an empty first and last part; `None` for an empty one between."""
    parts = [part.strip() for part in text.split(separator)]
    inner = parts[1:-1]
    if not all(inner):
        return None
    return [part for part in parts if part]


@check("length_constraints:number_paragraphs")
def _paragraphs(text: str, kw: Kwargs) -> bool:
    parts = _parts(text, "***")
    return parts is not None and len(parts) == int(kw["num_paragraphs"])


@check("length_constraints:nth_paragraph_first_word")
def _nth_paragraph(text: str, kw: Kwargs) -> bool:
    parts = text.split("\n\n")
    count = sum(bool(part.strip()) for part in parts)
    nth = int(kw["nth_paragraph"])
    # As published: empty parts are not counted, but the nth is found among all of them.
    if count != int(kw["num_paragraphs"]) or not 1 <= nth <= count or not parts[nth - 1].strip():
        return False
    word = parts[nth - 1].split(maxsplit=1)[0].lstrip("'").lstrip('"')
    return re.split(r"[.,?!'\"]", word)[0].lower() == str(kw["first_word"]).lower()


# ---- format and content --------------------------------------------------------------


@check("detectable_content:number_placeholders")
def _placeholders(text: str, kw: Kwargs) -> bool:
    return sum(map(_brackets, text.split("\n"))) >= int(kw["num_placeholders"])


def _brackets(line: str) -> int:
    count = end = 0
    while (start := line.find("[", end)) != -1 and (end := line.find("]", start) + 1):
        count += 1
    return count


@check("detectable_content:postscript")
def _postscript(text: str, kw: Kwargs) -> bool:
    marker = kw["postscript_marker"]
    pattern = _POSTSCRIPTS.get(marker, re.escape(marker.lower()))
    return bool(re.search(pattern, text.lower()))


@check("detectable_format:number_bullet_lists")
def _bullets(text: str, kw: Kwargs) -> bool:
    count = len(_STAR_BULLET.findall(text)) + len(_DASH_BULLET.findall(text))
    return count == int(kw["num_bullets"])


@check("detectable_format:constrained_response")
def _constrained(text: str, kw: Kwargs) -> bool:
    if "options" in kw:
        return text.strip().strip("\"“”'。.!！ ") in list(kw["options"])
    return any(option in text for option in _OPTIONS)


@check("detectable_format:number_highlighted_sections")
def _highlights(text: str, kw: Kwargs) -> bool:
    single = re.findall(r"\*([^\n*]*)\*", text)
    double = re.findall(r"\*\*([^\n*]*)\*\*", text)
    return sum(bool(part.strip()) for part in single + double) >= int(kw["num_highlights"])


@check("detectable_format:multiple_sections")
def _sections(text: str, kw: Kwargs) -> bool:
    marks = re.findall(rf"{re.escape(kw['section_spliter'])}\s?\d+", text)
    return len(marks) >= int(kw["num_sections"])


@check("detectable_format:json_format")
def _json(text: str, _: Kwargs) -> bool:
    return unfenced_json(text) is not None


def unfenced_json(text: str, *, exact: bool = False) -> tuple[object] | None:
    """Return the value of an answer that is JSON, in a fence or not, in a tuple of one.

    Args:
        text: The answer.
        exact: Take nothing that JSON has not (NaN, Infinity) and no key twice; IFEval takes
            both.
    """
    value = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        value = value.removeprefix(fence)
    hooks: dict[str, Any] = (
        {"parse_constant": _refuse, "object_pairs_hook": _distinct} if exact else {}
    )
    try:
        return (json.loads(value.removesuffix("```").strip(), **hooks),)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made


@check("detectable_format:title")
def _title(text: str, _: Kwargs) -> bool:
    for line in text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if start != -1 and end >= start + 3 and line[start:end].lstrip("<").rstrip(">").strip():
            return True
    return False


@check("combination:two_responses")
def _two_responses(text: str, _: Kwargs) -> bool:
    parts = _parts(text, "******")
    return parts is not None and len(parts) == 2 and parts[0] != parts[1]


@check("combination:repeat_prompt")
def _repeat_prompt(text: str, kw: Kwargs) -> bool:
    return text.strip().lower().startswith(str(kw["prompt_to_repeat"]).strip().lower())


# ---- start, end, case, punctuation, language -----------------------------------------


@check("startend:end_checker")
def _end(text: str, kw: Kwargs) -> bool:
    phrase = kw["end_phrase"].strip().lower()
    return text.strip().strip(quotes_of(phrase)).lower().endswith(phrase)


@check("startend:quotation")
def _quotation(text: str, kw: Kwargs) -> bool:
    value = text.strip()
    left, right = kw.get("marks", '""')
    return len(value) > 1 and value[0] == left and value[-1] == right


@check("change_case:capital_word_frequency")
def _capital_words(text: str, kw: Kwargs) -> bool:
    return holds(capital_word_count(text), kw["capital_relation"], kw["capital_frequency"])


@check("change_case:english_capital")
def _capital(text: str, _: Kwargs) -> bool:
    return text.isupper() and is_in(text, "en")


@check("change_case:english_lowercase")
def _lowercase(text: str, _: Kwargs) -> bool:
    return text.islower() and is_in(text, "en")


@check("punctuation:no_comma")
def _no_comma(text: str, _: Kwargs) -> bool:
    return "," not in text


@check("language:response_language")
def _language(text: str, kw: Kwargs) -> bool:
    return is_in(text, kw["language"])
