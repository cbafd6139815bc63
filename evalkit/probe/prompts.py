"""Prompts of a length in tokens that the server itself counts, each with its own beginning.

Every prompt of one length is the same bag of words in another order: tokens do not reach over
spaces, so that the length is the same for each, and no prefix cache can help.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from evalkit.errors import BadRequest
from evalkit.types import Message

Count = Callable[[tuple[Message, ...]], Awaitable[int | None]]
"""Tells how many tokens a prompt has, by the endpoint's own count."""

# Four letters each: also a tokenizer by letters counts every order alike.
_TEXT = (
    "able back ball bank base bird blue body book both call card care case city club cold come "
    "cost dark data date deep door down draw each east edge even face fact fall farm fast feel "
    "film find fine fire fish five food foot form four free full game girl give goal gold good "
    "half hall hand hard head hear heat help high hill hold home hope hour idea jump keep kind "
    "king lake land last late lead left life line list live long look loss main make mark mind "
    "moon more most move name near need news next nine note open over page park part past path "
    "plan play poor rain read rest rich ring rise road rock role room rule safe sale salt sand"
)
_WORDS = _TEXT.split()
_BEGIN, _END = "Words:", "\nTell a long story with these words."
_FEW = 16
_TRIES = 5
# Beyond this a count is a prefill that takes long: the line through short ones must do.
_LONGEST_TRY = 8192
_SHARED_TAIL = 16


@dataclass(slots=True)
class Prompts:
    """Makes prompts; `calibrate` first.

    Attributes:
        exact: Whether every word is one token, by the endpoint's own count; `None` when it
            does not count.
    """

    count: Count
    seed: int
    shared: bool = False
    exact: bool | None = None
    _fixed: float = 0.0
    _a_word: float = 1.0
    _sizes: dict[int, int] = field(default_factory=dict)

    async def calibrate(self) -> None:
        """Find out how many tokens a word has, and how many the rest.

        Raises:
            EndpointError: When the endpoint does not answer.
        """
        few = await self.count(_message(_WORDS[:_FEW]))
        many = await self.count(_message(_WORDS))
        if few is None or many is None or many <= few:
            return
        self._a_word = (many - few) / (len(_WORDS) - _FEW)
        self._fixed = few - _FEW * self._a_word
        self.exact = self._a_word == 1

    @property
    def least(self) -> int:
        """Tokens of the shortest prompt that can be made."""
        return int(self._fixed + _FEW * self._a_word) + 1

    async def fit(self, tokens: int) -> None:
        """Find the number of words that has so many tokens.

        Raises:
            EndpointError: When the endpoint does not answer.
        """
        words = max(1, round((tokens - self._fixed) / self._a_word))
        self._sizes[tokens] = words
        if self.exact is not False or tokens > _LONGEST_TRY:
            return
        # A length that is refused is told when it is measured.
        with suppress(BadRequest):
            self._sizes[tokens] = await self._nearest(tokens, words)

    async def _nearest(self, tokens: int, words: int) -> int:
        """Try sizes from one on; return that which came nearest."""
        best: tuple[int, int] | None = None
        tried: set[int] = set()
        for _ in range(_TRIES):
            tried.add(words)
            counted = await self.count(_message(_bag(words)))
            if counted is None:
                break
            off = tokens - counted
            best = min(best or (abs(off), words), (abs(off), words))
            step = round(off / self._a_word) or (1 if off > 0 else -1)
            words = max(1, words + step)
            if not off or words in tried:
                break
        return words if best is None else best[1]

    def make(self, tokens: int, *key: object) -> tuple[Message, ...]:
        """Return a prompt of so many tokens.

        Args:
            tokens: That `fit` was asked for.
            key: What tells this prompt from every other; equal for equal keys.
        """
        words = _bag(self._sizes[tokens])
        rng = random.Random(f"{self.seed}:{tokens}:{key}")
        if self.shared:
            tail = words[-_SHARED_TAIL:]
            rng.shuffle(tail)
            words[-_SHARED_TAIL:] = tail
        else:
            rng.shuffle(words)
        return _message(words)


def _bag(size: int) -> list[str]:
    return [_WORDS[place % len(_WORDS)] for place in range(size)]


def _message(words: list[str]) -> tuple[Message, ...]:
    return (Message("user", f"{_BEGIN} {' '.join(words)}{_END}"),)
