"""Were answers cut off before the bound that was asked for? Read off all answers of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from evalkit.results import ReasonCode
from evalkit.types import Completion, Request

_LEAST: Final = 3
# Servers may count the last token otherwise.
_SLACK: Final = 2


def capped(
    arm: str, requests: Sequence[Request], completions: Iterable[Completion]
) -> list[ReasonCode]:
    """Return a reason when answers end at one number of tokens, and more were allowed.

    The preflight tries answers of some length only; a bound above it shows here. Answers that
    fill the context end at numbers that differ with their prompts.
    """
    cut = [one for one in completions if one.finish_reason == "length"]
    if len(cut) < _LEAST:
        return []
    allowed = {request.fingerprint: request.sampling.max_tokens for request in requests}
    ends = Counter(
        tokens
        for completion in cut
        if (tokens := completion.usage.completion_tokens) is not None
        and tokens + _SLACK < allowed.get(completion.fingerprint, 0)
    )
    tokens, n = max(ends.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    if n < _LEAST:
        return []
    message = f"{n} answers were cut off at {tokens} tokens, where more were allowed."
    values = {"finding": "max_tokens", "message": message, "endpoint": arm}
    return [ReasonCode("PREFLIGHT_FAILED", values=values)]
