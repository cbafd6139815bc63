"""Whether an answer sees that a question has no answer: it denies what is taken for granted.

Three ways to do so: naming what is so instead (a correction of the target), saying that
something is wrong with the question ("no such date", "it has not happened yet", 题目有误), and
denying the question in its own words ("Munich isn't Germany's capital", 2月没有30日).

A correction is a name or a number. One that is itself denied ("Munich, not Berlin"), or that
the answer says was there before ("it replaced Berlin"), corrects nothing, and a number counts
only of what was asked: 35 corrects 38 protons in "35 protons", not in "35 electrons".

Everything is linear in the text, of which the first sentences are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from evalkit.scoring.aliases import alias, negated
from evalkit.scoring.text import Span, clip, normalise, sentences

_MAX_SENTENCES = 40
_MAX_CLAUSE = 400

_FLAWED = re.compile(
    r"\b(?:no|not an?|isn't an?|never an?) (?:such|valid|real|actual|possible) \w+"
    r"|\b(?:invalid|impossible|nonexistent|non-existent|fictional|fictitious|made-up) "
    r"(?:date|day|question|premise|element|place|name)"
    r"|\b(?:date|day|question|premise|statement|claim|assumption)\b[^.;]{0,40}"
    r"\b(?:is|are|was|seems|appears)(?: to be)? (?:\w+ )?"
    r"(?:invalid|impossible|wrong|false|incorrect|flawed|mistaken|inaccurate|not (?:valid|possible"
    r"|correct|true|real|accurate))\b"
    r"|\b(?:false|wrong|incorrect|mistaken|flawed|faulty) (?:premise|assumption)"
    r"|\b(?:is|are|was|seems|appears)(?: to be)?(?: an?| entirely| completely)* "
    r"(?:made[- ]up|imaginary|fictional|fictitious|invented|hypothetical|non-?existent)\b"
    r"|\bmisspelled\b|\bmisspelling\b|\btypo\b"
    r"|\b(?:passage|text|paragraph|excerpt)(?: itself)? (?:does not|doesn't|did not|didn't|never"
    r"|(?:gives?|has|contains?|offers?|provides?|makes?) no) \w+"
    r"|\bquestion (?:contains|has|rests on|makes) an? (?:error|mistake|false|wrong|incorrect)"
    r"|\b(?:has|have)(?:n't| not)(?: even)?(?: yet)? (?:happened|occurred|taken place|come|arrived"
    r"|been (?:held|played|awarded|given|elected|announced|decided|determined))\b"
    r"|\byet to (?:happen|occur|come|take place|be (?:held|played|awarded|given|elected|decided))"
    r"|\b(?:is|are|lies?)(?: still)?(?: far)? in the (?:distant |far )?future\b"
    r"|\bfuture events?\b|\b(?:can't|cannot|can not|unable to|impossible to|no way to"
    r"|not possible to|nobody can|no one can) (?:predict|foresee|foretell|know|tell) "
    r"(?:the future|future|what|who|that|this|it)\b"
    r"|(?:题目|问题|题干|提问|前提|说法|表述|假设|日期)[^。，,；]{0,8}"
    r"(?:有误|错误|不正确|不成立|不对|不准确|有问题|不实|无效|不合理)"
    r"|(?:错误|无效|不存在|不可能|虚假)的?(?:前提|日期|日子|说法|问题)"
    r"|(?:尚未|还未|还没有?|并未)(?:到来?|来临|举行|举办|发生|颁发|颁布|产生|揭晓|选出|决出|评选)"
    r"|(?:无法|不能|没法|无从|没人能够?|不可能)(?:提前|准确)?(?:预测|预知|预见|预言|预料)"
    r"|未来的(?:事|赛事|比赛|年份|时间|奖项)|(?:属于|是|在)未来",
)
_NOT_EN = re.compile(r"\b(?:not|never|no|neither|nobody|no one)\b|n't\b")
_NOT_ZH = re.compile(
    r"(?:从来不|绝不|不再|不会|不可能|并不|不|并非|从未|未曾|未见|从来没有?|并没有|并未|没有)"
    r"(?:是|有|在|存在|属于|叫)?"
)
_CLAUSE = re.compile(r"[,;:()，。；：、（）—!?！？]|\.(?:\s|$)| but | and |而是|但是?|而且")
# "Not until 1990", "not only": what is denied is not the question.
_PARTLY = re.compile(
    r"\b(?:until|always|only|just|merely|exactly|originally|alone|yet|fully|officially"
    r"|not known|n't known|recorded|clear|certain|sure|specified|given|documented)\b"
    r"|直到|之前|以前|只|仅|一直|原本|知道|清楚|确定|记载"
)
_BARE_DENIAL = re.compile(
    r"^(?:no, )?(?:it|he|she|they|that|this|there)(?: \w+)?"
    r"(?:n't| (?:do|does|did|is|was|were|has|have) not)$"
)
_WORD = re.compile(r"[a-z]+|\d+")
_FUNCTION_WORDS = (
    "a an the of in on at by to for with and or any it its this that there these such one "
    "is are was were be been has have had do does did s t which what who why how many"
)
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
# What a denial may say that the question did not.
_PLAIN_WORDS = (
    "actually really currently today now present day days date exist exists existed real "
    "country city author write writes wrote "
    "written book novel work capital true correct case protons number atomic person th st nd rd "
    "called named known name calendar valid recognized element country periodic table appear "
    "appears correspond corresponds listed found part official"
)
_PLAIN = _FUNCTION | frozenset(_PLAIN_WORDS.split())
_PLAIN_ZH = frozenset(
    "的了过这那一个天日号存在城市座部作者写著真事情况国家首都目前当今现其实所场发生记录载名为叫"
    "已知历史上任何被元素书说"
)
_BEFORE = re.compile(
    r"(?:\bfrom|\breplac(?:ed|es|ing)|\bover from|\bsucceed(?:ed|s|ing)|\binstead of|\bunlike"
    r"|\brather than|从|自|取代了?|代替了?|接替了?|不同于|而非)(?: the)? ?$"
)
# What may stand behind a number that says how many there are, or which one it is.
_BEHIND_WORDS = (
    "and but not instead rather because so which is are was as in for since only of protons proton"
)
_BEHIND = frozenset(_BEHIND_WORDS.split())
_COUNTED = re.compile(r"\d ?个?([a-z]+|[\u4e00-\u9fff]{1,2})")
_NEXT_WORD = re.compile(r" ?(?:个|號|号)?([a-z]+|[\u4e00-\u9fff]{1,2})?")


def denies_premise(text: str, question: str) -> bool:
    """Say whether an answer denies what a question takes for granted.

    Args:
        text: The answer.
        question: All that was asked; its last line, where a passage stands before it.
    """
    asked = normalise(question.rstrip().rsplit("\n", 1)[-1])
    words = frozenset(map(_stem, _WORD.findall(asked))) | _PLAIN_STEMS
    characters = frozenset(asked) | _PLAIN_ZH
    for sentence in _read(text):
        if _FLAWED.search(sentence) is not None:
            return True
        for clause in _CLAUSE.split(sentence[:_MAX_CLAUSE]):
            if clause and _denied(clause.strip(), asked, words, characters):
                return True
    return False


def corrects(text: str, corrections: Iterable[str], question: str) -> bool:
    """Say whether an answer names what is so instead of what a question takes for granted."""
    wanted = [alias(name) for name in corrections]
    if not wanted:
        return False
    counted = frozenset(match[1] for match in _COUNTED.finditer(normalise(question)))
    for sentence in _read(text):
        for name in wanted:
            for span in name.mentions(sentence):
                number = name.value is not None
                if number and not _of_what_was_asked(sentence, span, counted):
                    continue
                if not (negated(sentence, span) or _BEFORE.search(sentence[: span.start][-24:])):
                    return True
    return False


def _read(text: str) -> list[str]:
    return [normalise(part) for part in sentences(clip(text))[:_MAX_SENTENCES]]


def _denied(clause: str, asked: str, words: frozenset[str], characters: frozenset[str]) -> bool:
    """Say whether a clause denies, and what it denies is all in the question."""
    if _PARTLY.search(clause):
        return False
    if _BARE_DENIAL.match(clause):
        return True
    match = _NOT_EN.search(clause)
    if match is not None and not clause.startswith("not "):
        denied = [_stem(word) for word in _WORD.findall(clause[match.end() :])]
        said = [_stem(word) for word in _WORD.findall(clause)]
        named = frozenset(map(_stem, _WORD.findall(asked))) - _FUNCTION
        return (
            any(word in named for word in said)
            and all(word in words for word in denied)
            and bool(denied)
        )
    match = _NOT_ZH.search(clause)
    if match is None:
        return False
    rest = clause[match.end() :].strip()
    numbers = re.findall(r"\d+", rest)
    known = re.findall(r"\d+", asked)
    plain = set(rest) - characters - set("0123456789 \"'“”《》")
    return len(rest) > 1 and not plain and all(number in known for number in numbers)


def _of_what_was_asked(sentence: str, span: Span, counted: frozenset[str]) -> bool:
    """Say whether a number is said of the thing that the question gives a wrong number."""
    before, said = sentence[: span.start], sentence[span.start : span.end]
    if before.endswith("第") or (said == "one" and re.search(r"\b(?:the|each|no|any) $", before)):
        return False
    match = _NEXT_WORD.match(sentence, span.end)
    following = match[1] if match is not None else None
    if following is None:
        return True
    if following.isascii():
        return _stem(following) in _BEHIND_STEMS or following in counted
    return following in counted or following[0] in "而，不，并，才，的是"


def _stem(word: str) -> str:
    return word if word.isdigit() or len(word) < 4 else word.removesuffix("s")[:6]


_PLAIN_STEMS = frozenset(map(_stem, _PLAIN))
_BEHIND_STEMS = frozenset(map(_stem, _BEHIND))
