"""Instructions beyond IFEval's, each decidable without any doubt, many of them for Chinese.

| id | holds when |
|---|---|
| `keywords:forbidden_letters` | none of `letters` (letters or Chinese characters) is used |
| `keywords:word_order` | all `keywords` are there, first seen in this order |
| `length_constraints:number_characters` | so many Chinese characters |
| `length_constraints:number_lines` | so many lines that are not blank |
| `length_constraints:number_blocks` | exactly so many paragraphs between blank lines |
| `length_constraints:words_per_line`, `:characters_per_line` | true of every line |
| `length_constraints:word_length` | no word has more than `num_letters` letters |
| `length_constraints:growing_lines` | `num_lines` lines, each longer than the one before |
| `detectable_format:numbered_list` | lines that begin `1.`, `2.`, ... to `num_items`, once each |
| `detectable_format:json_schema` | a JSON object with exactly these `keys` of these types |
| `detectable_format:table_shape` | one Markdown table of so many `columns` and body `rows` |
| `detectable_format:separated_items` | exactly so many different items between commas, one line |
| `detectable_format:sorted_lines` | so many lines without numbers, in alphabetical order |
| `detectable_format:acrostic` | the first letters of the lines spell `letters` |
| `detectable_content:number_questions` | so many question marks |
| `startend:start_checker` | begins with `start_phrase` |
| `startend:line_start`, `startend:line_end` | every line begins or ends with `mark` |
| `punctuation:forbidden_marks`, `punctuation:no_digits` | none of them is used |
| `change_case:title_case` | every word begins with a capital |
| `language:paragraph_languages` | each paragraph is in its language, in order |

All are linear in the answer. Lines are not counted when they are blank.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from evalkit.scoring.checks_base import Kwargs, check, holds, nonempty_lines, quotes_of
from evalkit.scoring.checks_ifeval import unfenced_json
from evalkit.scoring.checks_language import is_in
from evalkit.scoring.checks_text import word_counts
from evalkit.scoring.scripts import han_count

_QUESTION = re.compile(r"[?？]")
_COMMA = re.compile(r"[,，、]")
_ITEM = re.compile(r"(\d{1,4})[.)、．]")
_OPENING = re.compile(r"^[\W\d_]+")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


# ---- keywords and letters ------------------------------------------------------------


@check("keywords:forbidden_letters")
def _forbidden_letters(text: str, kw: Kwargs) -> bool:
    lower = text.lower()
    return not any(letter.lower() in lower for letter in kw["letters"])


@check("keywords:word_order")
def _word_order(text: str, kw: Kwargs) -> bool:
    lower = text.lower()
    places = [lower.find(word.lower()) for word in kw["keywords"]]
    return min(places) >= 0 and all(a < b for a, b in pairwise(places))


# ---- length --------------------------------------------------------------------------


@check("length_constraints:number_characters")
def _characters(text: str, kw: Kwargs) -> bool:
    return holds(han_count(text), kw["relation"], kw["num_characters"])


@check("length_constraints:number_lines")
def _lines(text: str, kw: Kwargs) -> bool:
    return holds(len(nonempty_lines(text)), kw["relation"], kw["num_lines"])


@check("length_constraints:number_blocks")
def _blocks(text: str, kw: Kwargs) -> bool:
    return len(_paragraphs(text)) == int(kw["num_paragraphs"])


@check("length_constraints:words_per_line")
def _words_per_line(text: str, kw: Kwargs) -> bool:
    def follows(line: str) -> bool:
        return any(holds(n, kw["relation"], kw["num_words"]) for n in word_counts(line))

    return all(map(follows, nonempty_lines(text)))


@check("length_constraints:characters_per_line")
def _characters_per_line(text: str, kw: Kwargs) -> bool:
    lines = nonempty_lines(text)
    return all(holds(han_count(line), kw["relation"], kw["num_characters"]) for line in lines)


@check("length_constraints:word_length")
def _word_length(text: str, kw: Kwargs) -> bool:
    longest = max(map(len, re.findall(r"[^\W\d_]+", text)), default=0)
    return longest <= int(kw["num_letters"])


@check("length_constraints:growing_lines")
def _growing_lines(text: str, kw: Kwargs) -> bool:
    lengths = [len(line) for line in nonempty_lines(text)]
    return len(lengths) == int(kw["num_lines"]) and all(a < b for a, b in pairwise(lengths))


def _paragraphs(text: str) -> list[str]:
    parts: list[str] = []
    joined = False
    for line in text.splitlines():
        if not line.strip():
            joined = False
        elif joined:
            parts[-1] += f"\n{line}"
        else:
            parts.append(line)
            joined = True
    return parts


# ---- format --------------------------------------------------------------------------


@check("detectable_format:numbered_list")
def _numbered_list(text: str, kw: Kwargs) -> bool:
    found = (_ITEM.match(line) for line in nonempty_lines(text))
    numbers = [int(match.group(1)) for match in found if match]
    return numbers == list(range(1, int(kw["num_items"]) + 1))


@check("detectable_format:json_schema")
def _json_schema(text: str, kw: Kwargs) -> bool:
    parsed = unfenced_json(text, exact=True)
    if parsed is None or not isinstance(parsed[0], dict):
        return False
    value = parsed[0]
    keys: dict[str, str] = kw["keys"]
    return set(value) == set(keys) and all(_is_a(value[key], keys[key]) for key in keys)


def _is_a(value: Any, kind: str) -> bool:
    # In Python, unlike in JSON, a truth value is a number.
    if isinstance(value, bool) and kind != "boolean":
        return False
    return isinstance(value, _TYPES[kind])


@check("detectable_format:table_shape")
def _table_shape(text: str, kw: Kwargs) -> bool:
    lines = nonempty_lines(text)
    rules = [at for at, line in enumerate(lines) if "|" in line and _RULE.fullmatch(line)]
    if len(rules) != 1 or not rules[0]:
        return False
    start = end = rules[0] - 1
    while end < len(lines) and "|" in lines[end]:
        end += 1
    widths = {len(line.strip("|").split("|")) for line in lines[start:end]}
    return widths == {int(kw["columns"])} and end - start - 2 == int(kw["rows"])


@check("detectable_format:separated_items")
def _separated_items(text: str, kw: Kwargs) -> bool:
    lines = nonempty_lines(text)
    items = [item.strip(" .。").lower() for item in _COMMA.split(lines[0])]
    whole = len(lines) == 1 and all(items) and len(set(items)) == len(items)
    return whole and len(items) == int(kw["num_items"])


@check("detectable_format:sorted_lines")
def _sorted_lines(text: str, kw: Kwargs) -> bool:
    lines = nonempty_lines(text)
    if len(lines) != int(kw["num_lines"]) or any(map(_ITEM.match, lines)):
        return False
    # Numbers and bullets would sort by themselves.
    words = [_OPENING.sub("", line, count=1).lower() for line in lines]
    return all(words) and words == sorted(words)


@check("detectable_format:acrostic")
def _acrostic(text: str, kw: Kwargs) -> bool:
    first = (re.sub(r"[\W\d_]", "", line)[:1] for line in nonempty_lines(text))
    return "".join(first).lower() == str(kw["letters"]).lower()


@check("detectable_content:number_questions")
def _questions(text: str, kw: Kwargs) -> bool:
    return holds(len(_QUESTION.findall(text)), kw["relation"], kw["num_questions"])


# ---- start, end, punctuation, case, language -----------------------------------------


@check("startend:start_checker")
def _start(text: str, kw: Kwargs) -> bool:
    phrase = kw["start_phrase"].strip().lower()
    return text.strip().strip(quotes_of(phrase)).lower().startswith(phrase)


@check("startend:line_start")
def _line_start(text: str, kw: Kwargs) -> bool:
    return all(line.startswith(kw["mark"]) for line in nonempty_lines(text))


@check("startend:line_end")
def _line_end(text: str, kw: Kwargs) -> bool:
    return all(line.endswith(kw["mark"]) for line in nonempty_lines(text))


@check("punctuation:forbidden_marks")
def _forbidden_marks(text: str, kw: Kwargs) -> bool:
    return not any(mark in text for mark in kw["marks"])


@check("punctuation:no_digits")
def _no_digits(text: str, _: Kwargs) -> bool:
    return not any(character.isdigit() for character in text)


@check("change_case:title_case")
def _title_case(text: str, _: Kwargs) -> bool:
    # The letter behind an apostrophe or a hyphen begins no word.
    first = re.findall(r"(?<![\w'’-])[^\W\d_]", text)
    return bool(first) and not any(letter.islower() for letter in first)


@check("language:paragraph_languages")
def _paragraph_languages(text: str, kw: Kwargs) -> bool:
    parts, languages = _paragraphs(text), kw["languages"]
    return len(parts) == len(languages) and all(map(is_in, parts, languages))
