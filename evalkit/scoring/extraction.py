r"""Where an answer says what its answer is: the marks that come before a final answer.

In order of how sure they are: "the final answer is ... I hope it is correct" (Lewkowycz et
al. 2022, Minerva), the last `####` (Cobbe et al. 2021, GSM8K), the last `\boxed{}` (Hendrycks
et al. 2021, MATH), the last "the answer is" (答案是), and bold text. What follows a mark is for
a scorer to read.

An answer that takes itself back ("12. No, wait: 13", 不对，应该是13) states what comes after.

A scorer's second extractor looks at none of these marks; where the two come to different
answers, `Flag.EXTRACTORS_DISAGREE` is counted for the arm.

Every pattern is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

CORRECTION = re.compile(
    r"\b(?:no,? wait|wait,? no|scratch that|correction\s?:"
    r"|i (?:made|see) (?:an?|my) (?:mistake|error)"
    r"|(?:wait|no|oops|hmm)\b[^.\n]{0,20}\bthat(?:'s| is| was) (?:wrong|not right|incorrect))"
    r"|不对(?=[，,。！!：:])|更正|(?<![你您])(?:算|写|弄|搞)错了|口误",
    re.IGNORECASE,
)
"""Where an answer takes back what it has stated."""

MAX_STATED = 120
MAX_BOXED = 2_000
_MAX_MARKS = 20
_MAX_JOINT = 80
_MINERVA = re.compile(
    r"\bfinal answer(?: is)?[ :]{0,3}(?P<said>[^\n]{1,400}?)[. ]{0,2}I hope it is correct",
    re.IGNORECASE,
)
_HASHES = re.compile(r"####")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s{0,3}\{")
_ANSWER = re.compile(
    r"\banswer\b\*{0,2}(?:[ ](?:to|for|of)\b[^.\n:=]{0,60}?)?"
    r"(?:\s(?:is|was|would be|should be|must be|equals)\b|\s?[:=])"
    r"|\b(?:correct|right|best)\s(?:option|choice)\s?(?:is\b|:)"
    r"|^A[:：]"
    r"|^#{1,6}[ ](?:final[ ])?answer[ *]{0,4}$"
    r"|答案(?:应该|应当|应|就)?\s?(?:是|为|等于|选|[:：=])|(?<![回解])答\s?[:：]|故选|因此选|所以选|选项(?:是|为)",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE = re.compile(r"(?=[A-Za-z])[^\n]*?(?=[.](?:\s|$)|$)")
_IS = re.compile(r"\b(?:is|are|was|were|equals)[ :]{1,3}(?=[^\n]*\d)")
# Between boxes that are parts of one answer.
_JOINT = re.compile(r"(?:[\s,;$]|\\q?quad|\b(?:and|or)\b|\\text\s?\{[^{}]{0,40}\}){0,80}")
_WHOLE = re.compile(r"[-$€£¥*]{0,3}\d[\d,]{0,30}[*]{0,2}(?=[.)][*]{0,2}\s)")
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")


def stated_answers(text: str) -> Iterator[tuple[str, str]]:
    """Yield what stands after each mark of a final answer, the surest first.

    Yields:
        The mark's name, and the text that it points at.
    """
    for source, segments in _MARKS.items():
        for segment in segments(text):
            yield source, segment


def last_word(text: str, answer: re.Pattern[str]) -> str:
    """Return what stands behind the last correction that has an answer behind it, or all.

    Args:
        text: An answer.
        answer: What an answer looks like, at least: a digit, a letter of an option.
    """
    for match in _last(CORRECTION, text):
        if answer.search(text, match.end()):
            return text[match.end() :]
    return text


def boxed(text: str) -> Iterator[str]:
    r"""Yield what stands in `\boxed{}`, the last first; one that is never closed to its end.

    Boxes with no more between them than a comma or an "and" are one answer.
    """
    parts: list[str] = []
    begins = -1
    for match in _last(_BOXED, text):
        inner = _balanced(text[match.end() : match.end() + MAX_BOXED])
        between = text[match.end() + len(inner) + 1 : begins] if parts else ""
        if parts and not (len(between) <= _MAX_JOINT and _JOINT.fullmatch(between)):
            yield ", ".join(reversed(parts))
            parts = []
        parts.append(inner)
        begins = match.start()
    if parts:
        yield ", ".join(reversed(parts))


def _balanced(text: str) -> str:
    depth = 1
    for at, character in enumerate(text):
        if character in "{}" and not text[:at].endswith("\\"):
            depth += 1 if character == "{" else -1
        if depth == 0:
            return text[:at]
    return text


def _after(pattern: re.Pattern[str]) -> Callable[[str], Iterator[str]]:
    """Return a function that cuts out what follows each match, to the end of its line."""

    def segments(text: str) -> Iterator[str]:
        for match in _last(pattern, text):
            said = text[match.end() : match.end() + MAX_STATED]
            line = said.lstrip().partition("\n")[0]
            whole = _WHOLE.match(line)
            # On the mark's own line "12. Then" is an answer and no item of a list.
            same = whole is not None and "\n" not in said[: len(said) - len(said.lstrip())]
            yield whole.group() if whole is not None and same else _predicate(line)

    return segments


def _minerva(text: str) -> Iterator[str]:
    return (_predicate(match["said"]) for match in _last(_MINERVA, text))


def _predicate(line: str) -> str:
    """Return what a sentence says of its subject: "The sum of 3 boxes is 12" says 12."""
    sentence = _SENTENCE.match(line)
    verbs = list(_IS.finditer(sentence.group())) if sentence else []
    return line[verbs[-1].end() :] if verbs else line


def _bold(text: str) -> Iterator[str]:
    return (match[1] for match in _last(_BOLD, text))


def _last(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Return the last matches, the last of all first."""
    return reversed(list(pattern.finditer(text))[-_MAX_MARKS:])


_MARKS: dict[str, Callable[[str], Iterator[str]]] = {
    "the final answer": _minerva,
    "####": _after(_HASHES),
    "\\boxed": boxed,
    "the stated answer": _after(_ANSWER),
    "the bold text": _bold,
}
