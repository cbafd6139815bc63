"""Whether an answer declines to answer, denies the premise, or asserts something all the same.

An answer abstains when a clause of it says that the answer is not known, not said or not
given, and no other clause asserts one. "I'm not sure, but I think it is Lyon" asserts;
"Lyon, but I don't know when it was founded" does too, since what is not known there is not
what was asked; "I don't know, but France is in Europe" does not. What others do not know
("most people don't know"), what was unknown once, and quoted words are not the speaker's.

This follows the grading of SimpleQA (Wei et al. 2024): hedging is not abstaining. How often
it agrees with labelled phrases is in docs/scorer-agreement.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import ModuleType

from evalkit.scoring.abstention_clauses import (
    Asked,
    Clause,
    Kind,
    bare,
    clauses_of,
    grammar_of,
    kind_of,
)
from evalkit.scoring.text import QUOTES, sentences
from evalkit.types import Language

# Who declines does so in the first or the last sentences, and not in endless ones.
_END = 60
_MAX_SENTENCE = 2_000
_UNSAID: frozenset[Kind] = frozenset({"declines", "partly", "denies"})
_SAID: frozenset[Kind] = frozenset({"claims", "content"})


@dataclass(frozen=True, slots=True)
class Stance:
    """How an answer stands to its question.

    Attributes:
        declines: A clause says "I don't know", or that the text does not say.
        denies: A clause says that the thing asked about does not exist.
        asserts: Nothing declines or denies, or another clause answers all the same ("... but
            I think it is Lyon").
        rest: What neither declines nor denies, in its order: whole sentences, or the rest
            of one.
    """

    declines: bool
    denies: bool
    asserts: bool
    rest: tuple[str, ...]

    @property
    def abstains(self) -> bool:
        """Whether it declines and asserts nothing."""
        return self.declines and not self.asserts


def read_stance(text: str, question: str, language: Language) -> Stance:
    """Sort the clauses of an answer into declining, denying, asserting and the rest.

    Each sentence is read as English or Chinese by its own script.

    Args:
        text: The answer, without its reasoning.
        question: What was asked; its last line, where a passage stands before it.
        language: Of the question; decides for sentences without letters.
    """
    parts = sentences(text.translate(QUOTES))
    if not any(character.isalnum() for character in text):
        # A question mark, a dash: nothing is asserted.
        return Stance(declines=True, denies=False, asserts=False, rest=())
    ends = [*range(min(len(parts), _END)), *range(max(_END, len(parts) - _END), len(parts))]
    if not any(_may_decline(parts[at], language) for at in ends):
        return Stance(declines=False, denies=False, asserts=bool(parts), rest=tuple(parts))
    found = _Found(Asked.read(question, language))
    for at, part in enumerate(parts):
        found.add(part, read=at < _END or at >= len(parts) - _END)
    return found.stance()


def _may_decline(part: str, language: Language) -> bool:
    """Say whether a sentence could decline or deny; most do not, and the rest is costly."""
    if len(part) > _MAX_SENTENCE:
        return False
    return grammar_of(part, language).SIGNS.search(part.lower()) is not None


class _Found:
    """What the sentences said so far."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._whole = self._partial = self._denies = self._claims = self._content = False
        self._rest: list[str] = []

    def add(self, sentence: str, *, read: bool) -> None:
        """Take one more sentence, and read it unless it is one of very many, or endless."""
        if not read or len(sentence) > _MAX_SENTENCE:
            self._content = True
            self._rest.append(sentence)
            return
        grammar = grammar_of(sentence, self._asked.language)
        plain = bare(sentence)
        clauses = [
            (clause, kind_of(clause, grammar, self._asked)) for clause in clauses_of(plain, grammar)
        ]
        kinds = {kind for _, kind in clauses}
        self._whole |= "declines" in kinds
        self._partial |= "partly" in kinds
        self._denies |= "denies" in kinds
        if grammar.CONDITION.search(sentence.lower()) is None:
            self._weigh(clauses, grammar)
        if kinds & _UNSAID:
            self._rest.extend(_said(plain, clauses))
        else:
            self._rest.append(sentence)

    def _weigh(self, clauses: Sequence[tuple[Clause, Kind]], grammar: ModuleType) -> None:
        """Take note of what is asserted, but not of what is left undecided."""
        undecided = any(kind == "declines" for _, kind in clauses) and any(
            grammar.UNDECIDED.search(clause.read) for clause, _ in clauses
        )
        for clause, kind in clauses:
            if kind in _SAID and not (undecided and grammar.ALTERNATIVES.search(clause.read)):
                self._claims |= kind == "claims"
                self._content = True

    def stance(self) -> Stance:
        """Return what all of it comes to."""
        # Where only something beside the question is not known, the rest answers it.
        beside = self._partial and not self._whole and not self._denies
        return Stance(
            declines=self._whole or self._partial,
            denies=self._denies,
            asserts=self._claims or (beside and self._content),
            rest=tuple(self._rest),
        )


def _said(sentence: str, clauses: Sequence[tuple[Clause, Kind]]) -> Iterator[str]:
    """Yield the parts of a sentence that neither decline nor deny, side by side ones as one."""
    for said, group in groupby(clauses, key=lambda pair: pair[1] in _SAID):
        part = [clause for clause, _ in group]
        if said:
            yield sentence[part[0].start : part[-1].end].strip()
