"""Is the sampling that was asked for the sampling that is done? And how repeatable is it?

Where there are log-probabilities one answer tells: at temperature 0 every token must be the
likeliest one. A temperature, a penalty or a filter that the server sets itself shows as
tokens that are not. Without them only repeats can tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from evalkit.collect.preflight.asking import Asker, Heard, user
from evalkit.collect.preflight.choices import Choice, Token, read_choice, said
from evalkit.collect.preflight.findings import Canary, Finding, Observation, ProbeOptions
from evalkit.types import Sampling

STORY: Final = user("Write the first two sentences of a story about an old lighthouse.")
STORY_SAMPLING: Final = Sampling(max_tokens=48)
TOP: Final = 5
_SPECIAL: Final = re.compile(r"<.*>|", re.DOTALL)
# Below it, a rounding of the server's own may be meant.
_GAP: Final = 0.01
_HOT: Final = Sampling(max_tokens=24, temperature=1.0)
_HOT_SEEDS: Final = (11, 12)


async def observe(asker: Asker, options: ProbeOptions) -> tuple[dict[str, Any], list[Choice]]:
    """Ask an open question again and again: as it is, with log-probabilities, and hot.

    Returns:
        What was seen, and the bodies that came with log-probabilities.
    """
    first = await asker.ask(STORY, STORY_SAMPLING)
    raw, choices = [], []
    for seed in (0, 1):
        heard, choice = await with_logprobs(asker, STORY, STORY_SAMPLING, seed=seed)
        raw.append(heard)
        choices.append(choice)
    hot = [
        await asker.ask(STORY, Sampling(max_tokens=_HOT.max_tokens, temperature=1.0, seed=seed))
        for seed in (*_HOT_SEEDS, *(_HOT_SEEDS[:1] if options.temperature > 0 else ()))
    ]
    texts = [first.said, *(said(choice.reasoning, choice.content) for choice in choices)]
    seen = {
        "texts": texts,
        "hot": [heard.said for heard in hot],
        "answer": first.text,
        "overridden": [row for choice in choices for row in unlikely(choice.tokens)],
        "logprobs": any(choice.tokens for choice in choices),
        "temperature": options.temperature,
        "heard": [first.plain(), *(heard.plain() for heard in (*raw, *hot))],
    }
    return seen, choices


async def with_logprobs(
    asker: Asker, messages: Any, sampling: Sampling, *, seed: int = 0, **fields: Any
) -> tuple[Heard, Choice]:
    """Ask with the likeliest tokens and their log-probabilities; without, if that is refused."""
    sampling = replace(sampling, seed=seed)
    heard = await asker.raw(messages, replace(sampling, logprobs=TOP), **fields)
    if heard.status in {400, 422, 501}:
        heard = await asker.raw(messages, sampling, **fields)
    return heard, read_choice(heard.data)


def unlikely(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    """Return the tokens that a greedy choice would not have made."""
    return [
        {"position": at, "token": token.text, "logprob": token.logprob, "likeliest": token.top[0]}
        for at, token in enumerate(tokens)
        if token.top
        and token.top[0][1] - token.logprob > _GAP
        # The end of the text may be forbidden, where a long answer was asked for.
        and not _SPECIAL.fullmatch(token.top[0][0])
    ]


def canaries(seen: Observation, capital: Heard) -> tuple[Canary, ...]:
    """Return what to ask again during a run. The short answer is left out: it never changes."""
    found = []
    texts = [text for text in seen["texts"] if text is not None]
    if texts and len(texts) == len(seen["texts"]):
        found.append(Canary("story", texts[0], stable=len(set(texts)) == 1))
    if capital.said:
        found.append(Canary("capital", capital.said, stable=True))
    return tuple(found)


def findings(seen: Observation) -> list[Finding]:
    """Judge one endpoint."""
    evidence = {"replies": seen["heard"]}
    texts = [text for text in seen["texts"] if text is not None]
    found = [_greedy(seen, texts, evidence)]
    found.append(_repeats(texts, evidence))
    found += _seeds(seen, texts, evidence)
    return found


def _greedy(seen: Observation, texts: Sequence[str], evidence: Mapping[str, Any]) -> Finding:
    rows = seen["overridden"]
    if rows:
        row = rows[0]
        message = (
            f"Asked for temperature 0 without penalties, it chose {len(rows)} tokens that are not "
            f"the likeliest (the first: {row['token']!r}, where {row['likeliest'][0]!r} is): the "
            "server samples in its own way."
        )
        return Finding("sampling", "failed", message, {**evidence, "tokens": rows[:20]})
    if seen["logprobs"]:
        message = "At temperature 0 it chooses the likeliest token each time."
        return Finding("sampling", "ok", message, evidence)
    if len(texts) < 3:
        return Finding("sampling", "not_testable", "It did not answer often enough.", evidence)
    if len(set(texts)) == len(texts):
        message = (
            f"Asked {len(texts)} times for temperature 0, it answered differently each time: the "
            "server samples in its own way."
        )
        return Finding("sampling", "failed", message, evidence)
    message = (
        "It gives no log-probabilities; by its repeats it is greedy, but a penalty of the "
        "server's own would not show."
    )
    return Finding("sampling", "ok", message, evidence)


def _repeats(texts: Sequence[str], evidence: Mapping[str, Any]) -> Finding:
    if len(texts) < 2:
        return Finding("repeats", "not_testable", "It did not answer often enough.", evidence)
    same = max(texts.count(text) for text in texts)
    noise = "" if same == len(texts) else ": there is noise from run to run"
    message = f"At temperature 0, {same} of {len(texts)} repeats gave the same text{noise}."
    return Finding("repeats", "ok", message, evidence)


def _seeds(seen: Observation, texts: Sequence[str], evidence: Mapping[str, Any]) -> list[Finding]:
    hot = seen["hot"]
    if len(texts) == 0 or any(text is None for text in hot):
        return [Finding("seed", "not_testable", "It did not answer at temperature 1.", evidence)]
    samples = seen["temperature"] > 0
    one, other, *again = hot
    if one == other and texts[0].startswith(one.rstrip()):
        message = "At temperature 1 it answers as at 0: it does not follow the temperature"
        ends = "." if samples else ", which this run leaves at 0."
        return [Finding("seed", "failed", message + ends, evidence, blocks=samples)]
    if one == other:
        message = "At temperature 1 two seeds gave one text: it does not follow the seed"
        ends = "." if samples else "; at temperature 0 nothing rests on it."
        return [Finding("seed", "failed", message + ends, evidence, blocks=samples)]
    if again and again[0] != one:
        message = "At temperature 1 the same seed gave two texts: it cannot be repeated."
        return [Finding("seed", "ok", message, evidence)]
    return [Finding("seed", "ok", "At temperature 1 another seed gives another text.", evidence)]


def compare(a: Observation, b: Observation) -> list[Finding]:
    """Judge two endpoints: one that follows the temperature and one that does not differ."""
    follows = [
        None if any(text is None for text in seen["hot"]) else seen["hot"][0] != seen["hot"][1]
        for seen in (a, b)
    ]
    evidence = {"baseline": a["hot"], "candidate": b["hot"]}
    if None in follows:
        return []
    if follows[0] == follows[1]:
        return [Finding("seed", "ok", "Both treat temperature and seed alike.", evidence)]
    which = "first" if follows[0] else "second"
    message = f"Only the {which} follows temperature and seed."
    return [Finding("seed", "differs", message, evidence)]
