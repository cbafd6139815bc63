"""Prompts and lengths of a soak: drawn from a seed, English and Chinese, never twice alike."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from evalkit.errors import BadRequest
from evalkit.types import Message

Count = Callable[[tuple[Message, ...]], Awaitable[int | None]]

_TEXT = (
    "river market winter signal garden engine letter summer bridge forest planet window doctor "
    "silver travel number school coffee island camera record morning history kitchen"
)
_EN = _TEXT.split()
_ZH = "山水风云江河湖海日月星辰春夏秋冬东南西北城市学校工厂医院天地人和书画琴棋"
_ASK = {
    "en": "{:06d}. Write a long text about these words: {}",
    "zh": "{:06d}。请用下面的字写一篇长文章：{}",
}
_FEW, _MANY = 8, 72
# A prompt may be a little longer than reckoned.
_ROOM = 0.9


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: what, and how long its answer is to be."""

    messages: tuple[Message, ...]
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Mix:
    """Lengths and languages, each request its own by its number.

    Attributes:
        a_word: Tokens of one more word, by language.
        fixed: Tokens of everything else.
    """

    seed: int
    prompt_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    a_word: dict[str, float]
    fixed: dict[str, float]

    def make(self, number: int) -> Asked:
        """Return a request; equal for equal numbers and seeds."""
        rng = random.Random(f"soak:{self.seed}:{number}")
        lang = rng.choice(("en", "zh"))
        wanted = _between(rng, self.prompt_tokens)
        output = _between(rng, self.output_tokens)
        words = max(1, round((wanted - self.fixed[lang]) / self.a_word[lang]))
        reckoned = round(self.fixed[lang] + words * self.a_word[lang])
        return Asked(_message(lang, words, rng), reckoned, output)


async def calibrated(
    count: Count,
    seed: int,
    prompt_tokens: tuple[int, int],
    output_tokens: tuple[int, int],
    context: int | None,
) -> Mix:
    """Find out how many tokens words have, and cut lengths to what an endpoint holds.

    Args:
        count: Tells how many tokens a prompt has.
        seed: Of the mix.
        prompt_tokens: Shortest and longest.
        output_tokens: The same of answers.
        context: Tokens that it holds, where it says so.

    Raises:
        EndpointError: When it does not answer.
    """
    rng = random.Random(0)
    a_word, fixed = {}, {}
    for lang in _ASK:
        try:
            few = await count(_message(lang, _FEW, rng))
            many = await count(_message(lang, _MANY, rng))
        except BadRequest:
            few = many = None
        known = few is not None and many is not None and many > few
        a_word[lang] = (many - few) / (_MANY - _FEW) if known else 2.0  # type: ignore[operator]
        fixed[lang] = few - _FEW * a_word[lang] if known else 32.0  # type: ignore[operator]
    if context is not None:
        output_tokens = _at_most(output_tokens, max(1, context // 3))
        prompt_tokens = _at_most(prompt_tokens, max(1, int(context * _ROOM) - output_tokens[1]))
    return Mix(seed, prompt_tokens, output_tokens, a_word, fixed)


def _at_most(bounds: tuple[int, int], most: int) -> tuple[int, int]:
    return min(bounds[0], most), min(bounds[1], most)


def _between(rng: random.Random, bounds: tuple[int, int]) -> int:
    """Draw a length; each doubling is as likely, as lengths of real requests are skewed."""
    low, high = (math.log(bound) for bound in bounds)
    return round(math.exp(rng.uniform(low, high)))


def _message(lang: str, words: int, rng: random.Random) -> tuple[Message, ...]:
    pool = _EN if lang == "en" else list(_ZH)
    chosen = rng.choices(pool, k=words)
    text = (" " if lang == "en" else "").join(chosen)
    # Its beginning is its own, so that no prefix cache helps.
    return (Message("user", _ASK[lang].format(rng.randrange(10**6), text)),)
