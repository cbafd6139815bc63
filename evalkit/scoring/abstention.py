"""Whether an answer declines to answer, denies the premise, or guesses all the same."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalkit.scoring.text import QUOTES, sentences
from evalkit.types import Language

_DECLINE: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\bi(?: really| simply| just)? (?:do not|don't|did not|didn't) (?:know|have (?:any "
        r"|enough |access|that|this|the ))"
        r"|\bi(?: am|'m) (?:not sure|not certain|unsure|not aware|not familiar|unaware|unable"
        r"|not able)"
        r"|\bi (?:cannot|can't|can not|could not|couldn't) (?:answer|find|say|tell|determine"
        r"|verify|confirm|provide)"
        r"|\bi have no (?:idea|information|record|knowledge)"
        r"|\b(?:there is|there's) (?:no|not enough) (?:information|mention|record|evidence|data)"
        r"|\bno information\b|\bnot enough information\b|\binsufficient information\b"
        r"|\b(?:is|are|was) (?:not|never) (?:mentioned|stated|given|specified|provided|said"
        r"|known|listed)\b"
        r"|\b(?:isn't|aren't|wasn't) (?:mentioned|stated|given|specified|provided|said|known"
        r"|listed)\b"
        r"|\b(?:does not|doesn't|do not|don't|did not|didn't) (?:mention|say|state|specify|tell"
        r"|give|provide|include)\b"
        r"|\b(?:cannot|can't|can not|could not) be (?:determined|known|answered|verified|found)\b"
        r"|^(?:unknown|unclear|no idea)\b|\bi would need more (?:information|context)"
        r"|\b(?:is|are|was|remains) (?:unknown|unclear|not clear)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(?:我|并|也)?不(?:太)?(?:知道|清楚|确定|了解)|(?:我)?没有(?:足够的?|相关的?)?(?:信息|资料|记录|线索)"
        r"|无法(?:回答|确定|得知|判断|知道|确认|找到|提供)|(?:没有|没|未)(?:有)?(?:提到|提及|说明|说|写|给出|交代)"
        r"|不得而知|无从(?:得知|知道)|查不到|找不到"
    ),
}
_DENY: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:does not|doesn't|do not|don't|did not|didn't|never) (?:actually "
        r"|really )?exist(?:ed)?\b"
        r"|\b(?:is not|isn't|are not|was not|wasn't) (?:actually )?(?:an? )?(?:real|existing"
        r"|actual|known|recognized|valid)\b"
        r"|\b(?:there is|there's|there was) no (?:such|known|real|country|novel|element|person"
        r"|king|record)\b"
        r"|\bno such\b|\b(?:is|are|was) (?:an? )?(?:entirely )?(?:fictional|made-up|made up"
        r"|imaginary|invented|fictitious)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"不存在|并没有这|没有这(?:个|样|种|部|座|位)|没有叫|(?:是|属于)(?:一个|一部)?(?:虚构|杜撰|编造|假想)"
        r"|(?:并)?(?:不是|非)(?:一个)?(?:真实|真正)"
    ),
}
_GUESS = re.compile(
    r"\b(?:but|however|although|though|maybe|perhaps|possibly|probably|likely|i think|i believe"
    r"|i guess|i would say|i'd say|my (?:best )?guess|it (?:could|might|may) be)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"\b[A-Z][A-Za-z]+|\b[0-9]+")
_CHINESE_CLAIM = re.compile(
    r"(?:但|不过|可能|也许|大概|或许|应该|我猜|我想|我认为|我觉得|估计)[^，。！？\n]{0,8}(?:是|在|叫|有|[0-9])"
)
_NO_CLAIM = frozenset({
    "i", "it", "the", "this", "that", "there", "please", "if", "you", "can", "could", "for", "and",
    "so", "he", "she", "they", "what", "my", "we", "let", "would", "but", "however", "although",
    "though", "maybe", "perhaps", "possibly", "probably", "likely",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stance:
    """How an answer stands to its question.

    Attributes:
        declines: A sentence says "I don't know", or that the text does not say.
        denies: A sentence says that the thing asked about does not exist.
        guesses: Another sentence guesses all the same ("... but I think it is Lyon").
        rest: The sentences that neither decline nor deny.
    """

    declines: bool
    denies: bool
    guesses: bool
    rest: tuple[str, ...]


def read_stance(text: str, question: str, language: Language) -> Stance:
    """Sort the sentences of an answer into declining, denying and the rest.

    A sentence that hedges and then names something new ("I'm not sure, but I think it is
    Lyon") belongs to the rest: hedging is not abstaining (Wei et al. 2024, SimpleQA).
    English phrases count in a Chinese answer too.
    """
    declines = denies = guesses = False
    rest: list[str] = []
    for sentence in sentences(text.translate(QUOTES)):
        if _guesses(sentence, question, language):
            guesses = True
            rest.append(sentence)
        elif _says(_DENY, sentence, language):
            denies = True
        elif _says(_DECLINE, sentence, language):
            declines = True
        else:
            rest.append(sentence)
    return Stance(declines, denies, guesses, tuple(rest))


def _says(patterns: dict[Language, re.Pattern[str]], sentence: str, language: Language) -> bool:
    return any(patterns[spoken].search(sentence) for spoken in dict.fromkeys((language, "en")))


def _guesses(sentence: str, question: str, language: Language) -> bool:
    """Say whether a sentence hedges and then names something that the question does not."""
    if language == "zh" and _CHINESE_CLAIM.search(sentence):
        return True
    hedge = _GUESS.search(sentence)
    if hedge is None:
        return False
    known = {word.casefold() for word in _NAME.findall(question)} | _NO_CLAIM
    return any(word.casefold() not in known for word in _NAME.findall(sentence, hedge.end()))
