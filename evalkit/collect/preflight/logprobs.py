"""Are log-probabilities there, do they belong to the answer's tokens, and are they whole?

A server may send them shifted, over the likeliest few only (so that these sum to one), after
the temperature, or to another base. None of that touches the scores of texts, but whoever
compares them compares two different things.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from evalkit.collect.preflight.choices import Choice, Token
from evalkit.collect.preflight.findings import Finding, Observation

_SUM_SLACK: Final = 1e-3
_UNSURE: Final = 0.6
_SCALE_LOW: Final = 0.75
_SCALE_HIGH: Final = 1.33
# Another temperature scales every difference alike; a coarse quantization scatters them.
_SCALE_SCATTER: Final = 0.15
_SCALE_SHARE: Final = 0.75


def observe(choices: Sequence[Choice]) -> dict[str, Any]:
    """Keep what two answers to one prompt hold of log-probabilities.

    Args:
        choices: The bodies; both were asked the same.
    """
    first = next((choice for choice in choices if choice.tokens), None)
    if first is None:
        return {"shape": None}
    return {
        "shape": first.shape,
        "aligned": all(_aligned(choice) for choice in choices if choice.tokens),
        "sums": _sums(first.tokens),
        "tokens": [
            [[token.text, token.logprob, [list(pair) for pair in token.top]] for token in c.tokens]
            for c in choices
            if c.tokens
        ],
        "content": first.content,
    }


def _aligned(choice: Choice) -> bool:
    """Whether the tokens spell the answer; tokens that are no text (its end) may stand about."""
    said = "".join(token.text for token in choice.tokens)
    content = choice.content or ""
    if content.strip() and content.strip() in said:
        return True
    # A character of several tokens comes as U+FFFD or as escapes in each of them.
    return not said.isascii() or "\\x" in said or choice.reasoning is not None


def _sums(tokens: Sequence[Token]) -> dict[str, Any]:
    unsure = [
        sum(math.exp(min(value, 1.0)) for _, value in token.top)
        for token in tokens
        if len(token.top) > 1 and math.exp(min(token.top[0][1], 1.0)) < _UNSURE
    ]
    whole = sum(abs(total - 1) < _SUM_SLACK for total in unsure)
    every = [sum(math.exp(min(value, 1.0)) for _, value in token.top) for token in tokens]
    return {
        "unsure": len(unsure),
        "whole": whole,
        "most": round(max(every, default=0.0), 6),
        "positive": sum(token.logprob > 1e-6 for token in tokens),
    }


def findings(seen: Observation) -> list[Finding]:
    """Judge one endpoint. Scores of texts do not rest on log-probabilities."""
    if seen["shape"] is None:
        return [Finding("logprobs", "not_testable", "It gives no log-probabilities.")]
    evidence = {"tokens": seen["tokens"][0][:8], "sums": seen["sums"], "content": seen["content"]}
    fault = _fault(seen)
    if fault is not None:
        message = f"Its log-probabilities are not those of the model: {_FAULTS[fault]}."
        return [Finding("logprobs", "failed", message, evidence, blocks=False)]
    message = f"It gives log-probabilities (as {_SHAPES[seen['shape']]})."
    return [Finding("logprobs", "ok", message, evidence)]


_SHAPES: Final = {"content": "a list of tokens", "lists": "parallel lists"}
_FAULTS: Final = {
    "shifted": "their tokens do not spell the answer",
    "no_logarithms": "some are positive, or the likeliest few sum to more than one",
    "renormalized": "the likeliest few sum to one at every token",
}


def _fault(seen: Observation) -> str | None:
    sums = seen["sums"]
    if not seen["aligned"]:
        return "shifted"
    if sums["positive"] or sums["most"] > 1 + _SUM_SLACK:
        return "no_logarithms"
    if sums["unsure"] >= 3 and sums["whole"] == sums["unsure"]:
        return "renormalized"
    return None


def compare(a: Observation, b: Observation) -> list[Finding]:
    """Judge two endpoints: the same kind of numbers, to the same base."""
    shapes = {"baseline": a["shape"], "candidate": b["shape"]}
    if a["shape"] is None and b["shape"] is None:
        return []
    if a["shape"] != b["shape"]:
        words = [_SHAPES.get(seen["shape"], "none") for seen in (a, b)]
        message = f"Log-probabilities: {words[0]} on one, {words[1]} on the other."
        return [Finding("logprobs", "differs", message, shapes, blocks=False)]
    faults = {"baseline": _fault(a), "candidate": _fault(b)}
    if faults["baseline"] != faults["candidate"]:
        which, fault = next((name, one) for name, one in faults.items() if one is not None)
        message = f"Log-probabilities of the {which} are others: {_FAULTS[fault]}."
        return [Finding("logprobs", "differs", message, faults)]
    scale = _scale(a, b)
    if scale is not None and not _SCALE_LOW <= scale <= _SCALE_HIGH:
        message = (
            f"Log-probabilities are scaled by {scale:.2f} from one to the other, as with another "
            "temperature or another base of the logarithm."
        )
        return [Finding("logprobs", "differs", message, {"scale": scale})]
    return [Finding("logprobs", "ok", "Log-probabilities are of one kind.", {"scale": scale})]


def _scale(a: Observation, b: Observation) -> float | None:
    """Return how many times as far apart the candidate's likeliest tokens are.

    Differences to the likeliest token at the same position after the same text, so that the
    sum over all tokens, which neither tells, does not matter. The median of the ratios; `None`
    when they are too few, or too scattered to be one scale.
    """
    ratios: list[float] = []
    rows = zip(a["tokens"][0], b["tokens"][0], strict=False)
    for (text, _, top), (other_text, _, other_top) in rows:
        others = dict(map(tuple, other_top))
        shared = [(value, others[token]) for token, value in map(tuple, top) if token in others]
        ratios += [
            (other - shared[0][1]) / (value - shared[0][0])
            for value, other in shared[1:]
            if value - shared[0][0] < -0.5
        ]
        if text != other_text:
            break
    if len(ratios) < 4:
        return None
    scale = sorted(ratios)[len(ratios) // 2]
    near = sum(abs(ratio - scale) <= _SCALE_SCATTER * abs(scale) for ratio in ratios)
    return scale if near >= _SCALE_SHARE * len(ratios) else None


def same_numbers(a: Observation, b: Observation) -> bool | None:
    """Whether two endpoints compute the very same numbers, as one model does twice.

    Two quantizations never do. Noise within an endpoint, measured by asking it twice, is
    allowed for. `None` when they do not tell.
    """
    if a["shape"] is None or b["shape"] is None:
        return None
    between = _distance(a["tokens"][0], b["tokens"][0])
    within = [_distance(*seen["tokens"]) for seen in (a, b) if len(seen["tokens"]) == 2]
    if between is None or None in within:
        return None
    noise = max((distance for distance in within if distance is not None), default=0.0)
    return between <= 1e-5 + 1.5 * min(noise, 5e-3)


def _distance(one: Sequence[Any], other: Sequence[Any]) -> float | None:
    """Return the mean distance of log-probabilities, up to the first token that differs."""
    gaps = []
    for (text, value, _), (other_text, other_value, _) in zip(one, other, strict=False):
        if text != other_text:
            return math.inf
        gaps.append(abs(value - other_value))
    if not gaps:
        return None
    return sum(gaps) / len(gaps) if len(one) == len(other) else math.inf
