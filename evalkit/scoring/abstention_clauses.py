"""What one clause of an answer does: declines, denies, asserts, or none of these.

The patterns are those of `abstention_en` and `abstention_zh`; what is asked decides whether
what is not known is the answer or something beside it, and which form an answer would have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from evalkit.scoring import abstention_en, abstention_zh
from evalkit.scoring.number_folding import fold_numbers
from evalkit.scoring.number_words import find_number_words
from evalkit.scoring.numbers import find_numbers
from evalkit.scoring.scripts import han_count
from evalkit.scoring.text import clip
from evalkit.types import Language

Kind = Literal["declines", "partly", "denies", "claims", "content", "chatter"]

_QUOTED = re.compile(r"[\"「『《][^\"「」『』《》\n]{1,300}[\"」』》]")
_SAID_BY_SPEAKER = re.compile(
    r"(?:\b(?:answers?|i say|i'd say|i would say)\b|答案|回答|我说)(?: is|是|为)?\W*$",
    re.IGNORECASE,
)
_MASK = "\u25a1"
_MARKUP = re.compile(r"[*_`#>{}\[\]]+")
_LABEL = re.compile(
    r"^\W*(?:(?:the )?(?:final |short )?answer|response|a|答案?|回答)\W*[:：]\W*", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]")
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-z]+|\b[0-9]+")
_ANY_NAME = re.compile(r"\b[A-Z][A-Za-z]+|\b[0-9]+")
_RANK = re.compile(r"第[一二三四五六七八九十\d]+|\b(?:first|second|third|fourth|fifth|one)\b")
_CENTURY = re.compile(r"(?:th|st|nd|rd) century|世纪")
_FRAGMENT_WORDS = 4
_FRAGMENT_CHARS = 8


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a sentence.

    Attributes:
        text: As it is written.
        read: As it is read: quoted words blanked out, in lower case.
        start: Where it begins in its sentence.
        end: Past its end.
    """

    text: str
    read: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for.

    Attributes:
        text: Its last line: a passage may stand before it.
        passage: Whether one does.
        language: Of the question.
        kind: What it asks for: a number or a date, a person, a place, or anything else; a key
            of `KIND_WORDS`.
        words: Its words, by stem.
        plain_words: Those of them that are no names.
        numbers: Which it holds anywhere.
    """

    text: str
    passage: bool
    language: Language
    kind: Literal["number", "who", "where", ""]
    words: frozenset[str]
    plain_words: frozenset[str]
    numbers: frozenset[object]

    @classmethod
    def read(cls, question: str, language: Language) -> Asked:
        """Read a question."""
        lines = question.rstrip().split("\n")
        text = lines[-1]
        lower = text.lower()
        names = {name.lower() for name in _NAME.findall(text)}
        words = _words(lower)
        return cls(
            text=text,
            passage=len(lines) > 1,
            language=language,
            kind=_asked_kind(lower),
            words=words,
            plain_words=words - {_stem(name) for name in names},
            numbers=_numbers(clip(question)),
        )


def _asked_kind(question: str) -> Literal["number", "who", "where", ""]:
    if abstention_en.ASKS_NUMBER.search(question) or abstention_zh.ASKS_NUMBER.search(question):
        return "number"
    if re.search(r"\bwho(?:se|m)?\b|谁|作者", question):
        return "who"
    return "where" if re.search(r"\bwhere\b|哪里|哪儿|何处", question) else ""


def grammar_of(text: str, language: Language) -> ModuleType:
    """Return the patterns of the language that a sentence is written in."""
    if han_count(text):
        return abstention_zh
    return abstention_en if language == "en" or re.search(r"[A-Za-z]", text) else abstention_zh


def bare(sentence: str) -> str:
    """Return a sentence without its markup and without a label such as "Answer:"."""
    return _LABEL.sub("", _MARKUP.sub("", sentence))


def clauses_of(sentence: str, grammar: ModuleType) -> Iterator[Clause]:
    """Cut a bare sentence where a clause ends, but not within quoted words."""
    masked = _masked(sentence)
    start = 0
    for match in grammar.CLAUSE.finditer(masked):
        yield from _clause(sentence, masked, start, match.start())
        start = match.end()
    yield from _clause(sentence, masked, start, len(sentence))


def _clause(sentence: str, masked: str, start: int, end: int) -> Iterator[Clause]:
    if sentence[start:end].strip(" \t.,;:!?\"'"):
        read = masked[start:end].strip().lower()
        yield Clause(sentence[start:end].strip(), read, start, end)


def _masked(sentence: str) -> str:
    """Blank out quoted words, unless they are all that is said."""
    outside = _QUOTED.sub("", sentence)
    if len(_LETTERS.findall(outside)) + 2 * han_count(outside) < 8:
        return sentence

    def blank(match: re.Match[str]) -> str:
        if _SAID_BY_SPEAKER.search(sentence[max(0, match.start() - 20) : match.start()]):
            return match.group()
        return _MASK * len(match.group())

    return _QUOTED.sub(blank, sentence)


def kind_of(clause: Clause, grammar: ModuleType, asked: Asked) -> Kind:
    """Say what a clause does; `partly` declines to tell something beside the question."""
    read = clause.read
    plain = read.strip(" \t.,;:!?\"'。，！？、")
    if grammar.SELF.search(plain.lower()):
        return "chatter"
    if grammar.DENY.search(read):
        return "denies"
    if asked.passage and plain in ("无", "没有", "none", "nothing", "no"):
        return "declines"
    if plain in ("过", "pass", "略"):
        return "declines"
    match = grammar.DECLINE.search(read)
    if match is not None and not grammar.VETO.search(read):
        if grammar.REFUSES.search(match.group()):
            return "declines"
        beside = f"{read[: match.start()]} {read[match.end() :]}"
        return "partly" if _partial(beside, grammar, asked) else "declines"
    if _denies_asked(read, grammar, asked):
        return "denies"
    if _claims(clause, grammar, asked):
        return "claims"
    if grammar.CHATTER.search(plain) or not _content(read, grammar, asked):
        return "chatter"
    return "content"


def _denies_asked(read: str, grammar: ModuleType, asked: Asked) -> bool:
    """Say whether a clause denies what the question takes for granted."""
    if grammar is abstention_zh:
        match = re.search(r"(?:从未|从没|未曾|没有|不可能|并未)(.{1,12})", read)
        return match is not None and bool(
            _pairs(re.sub(r"[的了过]", "", match[1])[:4]) & _pairs(_verb_part(asked.text))
        )
    match = re.search(
        r"\b(?:never|did not|didn'?t|could not have|couldn'?t have|could never have)"
        r"(?: ever| actually| possibly)? (\w+)",
        read,
    )
    return match is not None and _stem(match[1]) in asked.plain_words


def _verb_part(question: str) -> str:
    """Return what a Chinese question says of its subject: behind the words that ask."""
    parts = re.split(r"哪一?年|何时|什么时候|哪里|谁|几|多少|哪", question)
    return parts[-1] if len(parts) > 1 else ""


def _partial(beside: str, grammar: ModuleType, asked: Asked) -> bool:
    """Say whether what is not known is something beside the question."""
    if grammar is abstention_zh:
        left = abstention_zh.FILLER.sub("", re.sub(r"[^\u3400-\u9fff]", "", beside))
        kinds = abstention_zh.KIND_WORDS[asked.kind]
        near = any(word in beside for word in kinds) or bool(_pairs(left) & _pairs(asked.text))
    else:
        words = _words(beside)
        left = " ".join(words)
        near = bool(
            words & (asked.words | {_stem(w) for w in abstention_en.KIND_WORDS[asked.kind]})
        )
    wanted = grammar.ASKING.search(beside)
    if wanted is not None and wanted.group() not in asked.text.lower():
        return not (grammar.WHEN.search(wanted.group()) and grammar.WHEN.search(asked.text.lower()))
    if near:
        return False
    return len(left) > 1 or bool(grammar.PARTIAL.search(beside))


def _claims(clause: Clause, grammar: ModuleType, asked: Asked) -> bool:
    """Say whether a clause has the form of an answer to the question."""
    if grammar is abstention_zh:
        return _claims_zh(clause, asked)
    read = clause.read
    hedge = abstention_en.HEDGE.search(read)
    said = read[hedge.end() :] if hedge else read
    said = said[abstention_en.LEAD.match(said).end() :]  # type: ignore[union-attr]
    if abstention_en.META.search(said):
        return False
    if abstention_en.ENDORSED.search(read) and _new_name(clause, asked):
        return True
    if hedge is not None:
        # "I think ..." answers, whatever it is that is thought.
        thought = _words(said) or re.search(r"\d|^\W*(?:yes|no|none|zero)\b", said)
        return bool(thought) and abstention_en.ADVICE.search(read) is None
    if asked.kind == "number":
        return _new_number(said, asked) and not abstention_en.CHATTER.search(read)
    new = _words(said) - asked.words
    if not new and not _new_name(clause, asked):
        return False
    if abstention_en.CHATTER.search(read):
        return False
    if abstention_en.PRONOUN_CLAIM.search(said):
        return abstention_en.ASIDE.search(said) is None
    if len(said.split()) <= _FRAGMENT_WORDS and not re.search(
        r"\b(?:is|are|was|were|has|have|can|will|do|does)\b", said
    ):
        return True
    return bool(_words(said) & asked.plain_words) and _new_name(clause, asked)


def _claims_zh(clause: Clause, asked: Asked) -> bool:
    read = clause.read
    if abstention_zh.META.search(read):
        return False
    hedge = abstention_zh.HEDGE.search(read)
    lead = abstention_zh.LEAD.match(read)
    said = read[hedge.end() :] if hedge else read[lead.end() :] if lead else read
    left = re.sub(r"[^\u3400-\u9fffA-Za-z0-9\u25a1]", "", said)
    if hedge:
        return bool(left) and abstention_zh.ADVICE.search(read) is None
    if asked.kind == "number":
        return _new_number(said, asked) and not abstention_zh.CHATTER.search(read)
    if not left or left in asked.text:
        return False
    if abstention_zh.CHATTER.search(read):
        return False
    if abstention_zh.OPENS_CLAIM.search(said) or abstention_zh.OPENS_CLAIM.search(read):
        return True
    verb = abstention_zh.CLAIM_VERB.search(said)
    if verb is None:
        return len(left) <= _FRAGMENT_CHARS
    focus = _focus(asked.text)
    return bool(focus) and focus in said and len(left) > len(focus) + 1


def _focus(question: str) -> str:
    """Return what a Chinese question asks for: 首都 of 澳大利亚的首都是哪座城市."""
    match = re.search(r"的([\u3400-\u9fff]{2,4}?)(?:是|为|在|叫)", question) or re.search(
        r"(?:哪种|什么|哪个|哪位|哪首|哪部|哪座)([\u3400-\u9fff]{1,3})", question
    )
    return match[1] if match else ""


def _content(read: str, grammar: ModuleType, asked: Asked) -> bool:
    if grammar is abstention_zh:
        left = re.sub(r"[^\u3400-\u9fffa-z0-9\u25a1]", "", read)
        return bool(left) and left not in asked.text.lower()
    return bool(_words(read) - asked.words) or bool(re.search(r"\d", read))


def _new_number(said: str, asked: Asked) -> bool:
    """Say whether a clause holds a number that is not asked about, or says that there is none."""
    if _numbers(_RANK.sub(" ", said)) - asked.numbers or _CENTURY.search(said):
        return True
    return bool(re.fullmatch(r"\W*(?:none|zero|零|没有)\W*", said))


def _numbers(text: str) -> frozenset[object]:
    folded = fold_numbers(text)
    return frozenset(
        number.value
        for number in (
            *find_numbers(folded),
            *find_number_words(folded, "en"),
            *(find_number_words(folded, "zh") if han_count(folded) else ()),
        )
        if not (number.ordinal or number.marker)
    )


def _new_name(clause: Clause, asked: Asked) -> bool:
    known = {name.casefold() for name in _ANY_NAME.findall(asked.text)}
    return any(
        name.casefold() not in known and name.casefold() not in abstention_en.STOP
        for name in _ANY_NAME.findall(clause.text)
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(
        _stem(word) for word in abstention_en.WORD.findall(text) if word not in abstention_en.STOP
    )


def _stem(word: str) -> str:
    return word.lower().removesuffix("'s").removesuffix("s")[:6]


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}
