"""Checks of single instructions, under the ids of IFEval (Zhou et al. 2023) where one fits.

Each follows the published check, except that word and sentence counts use no tokenizer
from NLTK, and that a language is told by its script. Ids that IFEval does not have:
`length_constraints:number_characters` (Chinese characters), `:number_lines`,
`startend:start_checker`, `punctuation:forbidden_marks`, and `options` for
`detectable_format:constrained_response`.

All checks are linear in the answer: lines are walked, never matched with nested repeats.
"""

from __future__ import annotations

import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from evalkit.errors import ScoringError
from evalkit.scoring.scripts import han_count, script_counts, written_in

Kwargs = Mapping[str, Any]
Check = Callable[[str, Kwargs], bool]

CHECKS: dict[str, Check] = {}

_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "less than": operator.lt,
    "at least": operator.ge,
    "at most": operator.le,
    "exactly": operator.eq,
}
_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_SENTENCE_END = re.compile(r"[.!?]+(?=[\s\"'”’)]|$)|[。！？]+")
_ABBREVIATION = re.compile(r"\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|[a-z])\.", re.IGNORECASE)


def follows(instruction_id: str, text: str, kwargs: Kwargs) -> bool:
    """Say whether an answer follows one instruction.

    Raises:
        ScoringError: For an unknown id, or arguments that the check cannot use.
    """
    check = CHECKS.get(instruction_id)
    if check is None:
        raise ScoringError(f"Unknown instruction '{instruction_id}'.")
    try:
        return bool(text.strip()) and check(text, kwargs)
    except (KeyError, TypeError) as error:
        raise ScoringError(f"Instruction '{instruction_id}': bad arguments: {error!r}.") from error


def _check(instruction_id: str) -> Callable[[Check], Check]:
    def register(check: Check) -> Check:
        CHECKS[instruction_id] = check
        return check

    return register


def _holds(count: int, relation: str, bound: int) -> bool:
    return _RELATIONS[relation](count, bound)


# ---- keywords ------------------------------------------------------------------------


@_check("keywords:existence")
def _existence(text: str, kw: Kwargs) -> bool:
    lower = text.lower()
    return all(word.lower() in lower for word in kw["keywords"])


@_check("keywords:frequency")
def _frequency(text: str, kw: Kwargs) -> bool:
    return _holds(text.lower().count(kw["keyword"].lower()), kw["relation"], kw["frequency"])


@_check("keywords:forbidden_words")
def _forbidden(text: str, kw: Kwargs) -> bool:
    # A Chinese word has no borders; an English one is not forbidden inside another.
    def found(word: str) -> bool:
        if han_count(word):
            return word in text
        return bool(re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE))

    return not any(found(word) for word in kw["forbidden_words"])


@_check("keywords:letter_frequency")
def _letter_frequency(text: str, kw: Kwargs) -> bool:
    count = Counter(text.lower())[kw["letter"].lower()]
    return _holds(count, kw["let_relation"], kw["let_frequency"])


# ---- length --------------------------------------------------------------------------


@_check("length_constraints:number_words")
def _words(text: str, kw: Kwargs) -> bool:
    return _holds(len(re.findall(r"\w+", text)), kw["relation"], kw["num_words"])


@_check("length_constraints:number_characters")
def _characters(text: str, kw: Kwargs) -> bool:
    return _holds(han_count(text), kw["relation"], kw["num_characters"])


@_check("length_constraints:number_sentences")
def _sentences(text: str, kw: Kwargs) -> bool:
    plain = _ABBREVIATION.sub("x", text.strip())
    ends = [match.end() for match in _SENTENCE_END.finditer(plain)]
    count = len(ends)
    rest = plain[ends[-1] :] if ends else plain
    if re.search(r"\w", rest):
        count += 1
    return _holds(count, kw["relation"], kw["num_sentences"])


@_check("length_constraints:number_lines")
def _lines(text: str, kw: Kwargs) -> bool:
    count = sum(bool(line.strip()) for line in text.splitlines())
    return _holds(count, kw["relation"], kw["num_lines"])


def _parts(text: str, separator: str) -> list[str] | None:
    """Split, forgiving an empty first and last part; `None` for an empty one between."""
    parts = [part.strip() for part in text.split(separator)]
    if parts and not parts[0]:
        parts = parts[1:]
    if parts and not parts[-1]:
        parts = parts[:-1]
    return parts if all(parts) else None


@_check("length_constraints:number_paragraphs")
def _paragraphs(text: str, kw: Kwargs) -> bool:
    parts = _parts(text, "***")
    return parts is not None and len(parts) == int(kw["num_paragraphs"])


@_check("length_constraints:nth_paragraph_first_word")
def _nth_paragraph(text: str, kw: Kwargs) -> bool:
    parts = [part.strip() for part in text.split("\n\n")]
    nth = kw["nth_paragraph"]
    if sum(map(bool, parts)) != kw["num_paragraphs"] or not 1 <= nth <= len(parts):
        return False
    words = parts[nth - 1].split(maxsplit=1)
    first = re.split(r"[.,?!'\"]", words[0].lstrip("'\""))[0] if words else ""
    return first.lower() == str(kw["first_word"]).lower()


# ---- format and content --------------------------------------------------------------


@_check("detectable_content:number_placeholders")
def _placeholders(text: str, kw: Kwargs) -> bool:
    return len(re.findall(r"\[[^\[\]\n]*\]", text)) >= int(kw["num_placeholders"])


@_check("detectable_content:postscript")
def _postscript(text: str, kw: Kwargs) -> bool:
    marker = kw["postscript_marker"].lower()
    letters = {"p.s.": r"p\.\s?s\.", "p.p.s": r"p\.\s?p\.\s?s"}.get(marker, re.escape(marker))
    return bool(re.search(letters, text.lower()))


@_check("detectable_format:number_bullet_lists")
def _bullets(text: str, kw: Kwargs) -> bool:
    lines = [line.lstrip() for line in text.splitlines()]
    count = sum(line.startswith("-") or bool(re.match(r"\*[^*]", line)) for line in lines)
    return count == int(kw["num_bullets"])


@_check("detectable_format:constrained_response")
def _constrained(text: str, kw: Kwargs) -> bool:
    if "options" in kw:
        return text.strip().strip("\"“”'。.!！ ") in list(kw["options"])
    return any(option in text for option in _OPTIONS)


@_check("detectable_format:number_highlighted_sections")
def _highlights(text: str, kw: Kwargs) -> bool:
    single = re.findall(r"\*([^\n*]*)\*", text)
    double = re.findall(r"\*\*([^\n*]*)\*\*", text)
    return sum(bool(part.strip()) for part in single + double) >= int(kw["num_highlights"])


@_check("detectable_format:multiple_sections")
def _sections(text: str, kw: Kwargs) -> bool:
    marks = re.findall(rf"{re.escape(kw['section_spliter'])}\s?\d+", text)
    return len(marks) >= int(kw["num_sections"])


@_check("detectable_format:json_format")
def _json(text: str, _: Kwargs) -> bool:
    value = text.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        value = value.removeprefix(fence)
    try:
        json.loads(value.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


@_check("detectable_format:title")
def _title(text: str, _: Kwargs) -> bool:
    for line in text.splitlines():
        start = line.find("<<")
        end = line.rfind(">>")
        if start != -1 and end > start and line[start:end].strip("<> \t"):
            return True
    return False


@_check("combination:two_responses")
def _two_responses(text: str, _: Kwargs) -> bool:
    parts = _parts(text, "******")
    return parts is not None and len(parts) == 2 and parts[0] != parts[1]


@_check("combination:repeat_prompt")
def _repeat_prompt(text: str, kw: Kwargs) -> bool:
    return text.strip().lower().startswith(str(kw["prompt_to_repeat"]).strip().lower())


# ---- start, end, case, punctuation, language ------------------------------------------


@_check("startend:start_checker")
def _start(text: str, kw: Kwargs) -> bool:
    return text.strip().strip('"“”').lower().startswith(kw["start_phrase"].strip().lower())


@_check("startend:end_checker")
def _end(text: str, kw: Kwargs) -> bool:
    return text.strip().strip('"“”').lower().endswith(kw["end_phrase"].strip().lower())


@_check("startend:quotation")
def _quotation(text: str, _: Kwargs) -> bool:
    value = text.strip()
    return len(value) > 1 and value[0] == '"' and value[-1] == '"'


@_check("change_case:capital_word_frequency")
def _capital_words(text: str, kw: Kwargs) -> bool:
    count = sum(word.isupper() for word in re.findall(r"[^\W_]+", text))
    return _holds(count, kw["capital_relation"], kw["capital_frequency"])


@_check("change_case:english_capital")
def _capital(text: str, _: Kwargs) -> bool:
    return text.isupper() and written_in(text, "en")


@_check("change_case:english_lowercase")
def _lowercase(text: str, _: Kwargs) -> bool:
    return text.islower() and written_in(text, "en")


@_check("punctuation:no_comma")
def _no_comma(text: str, _: Kwargs) -> bool:
    return "," not in text


@_check("punctuation:forbidden_marks")
def _forbidden_marks(text: str, kw: Kwargs) -> bool:
    return not any(mark in text for mark in kw["marks"])


@_check("language:response_language")
def _language(text: str, kw: Kwargs) -> bool:
    return bool(script_counts(text)) and written_in(text, kw["language"])
