"""Stop strings, max_tokens and finish reasons: is an answer ended where it was asked to be?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evalkit.collect.preflight.asking import Asker, user
from evalkit.collect.preflight.choices import Choice
from evalkit.collect.preflight.findings import Finding, Observation, ProbeOptions
from evalkit.collect.preflight.sampling import STORY, STORY_SAMPLING, unlikely, with_logprobs
from evalkit.types import Sampling

COUNTING: Final = user("Count from 1 to 500, one number on each line. Do not stop before 500.")
_LONGEST: Final = 128
# Known to both; a server that does not know the field may refuse it.
_ENDLESS: Final = ("vLLM", "SGLang", "llama.cpp")


async def observe_stop(asker: Asker, text: str | None) -> dict[str, Any]:
    """Ask for a known text again, with a word from its middle as stop string."""
    word = stop_word(text)
    if word is None or text is None:
        return {"word": None, "left": False}
    sampling = Sampling(max_tokens=STORY_SAMPLING.max_tokens, stop=(word,))
    heard = await asker.ask(STORY, sampling)
    before = text[: text.index(word)]
    left = heard.text is not None and heard.text.rstrip().endswith(word)
    seen = {"word": word, "before": before, "text": heard.text, "left": left}
    return {**seen, "heard": heard.plain()}


def stop_word(text: str | None) -> str | None:
    """Choose a word that stands in the middle of a text for the first time."""
    if text is None:
        return None
    third = len(text) // 3
    for match in re.finditer(r"[^\W\d_]{3,}", text):
        if match.start() >= max(8, third) and text.index(match.group()) == match.start():
            return match.group()
    return None


async def observe_longest(asker: Asker, options: ProbeOptions) -> tuple[dict[str, Any], Choice]:
    """Ask for an answer as long as may be."""
    wanted = min(_LONGEST, options.longest or _LONGEST)
    engine = asker.identity.engine or ""
    fields = {"ignore_eos": True} if engine.startswith(_ENDLESS) else {}
    sampling = Sampling(max_tokens=wanted)
    heard, choice = await with_logprobs(asker, COUNTING, sampling, **fields)
    seen = {
        "asked": wanted,
        "endless": bool(fields),
        "tokens": choice.completion_tokens,
        "finish": choice.finish_reason,
        "overridden": unlikely(choice.tokens),
        "heard": heard.plain(),
    }
    return seen, choice


def stop_findings(seen: Observation) -> list[Finding]:
    """Judge whether stop strings are obeyed."""
    if seen["word"] is None:
        return [Finding("stop", "not_testable", "Its answer held no word to stop at.")]
    word, text, heard = seen["word"], seen["text"], seen["heard"]
    if text is None:
        return [Finding("stop", "failed", _why(heard), heard)]
    finish = heard.get("finish_reason")
    if word in text.rstrip().removesuffix(word):
        return [Finding("stop", "failed", f"It ignores the stop string '{word}'.", heard)]
    if finish != "stop" and text.strip() == seen["before"].strip():
        message = f"It stops at the stop string, but with finish reason '{finish}'."
        return [Finding("finish_reason", "failed", message, heard)]
    if finish != "stop":
        message = "It answered differently this time, so that no stop string was met."
        return [Finding("stop", "not_testable", message, heard)]
    message = "It obeys stop strings."
    if seen["left"]:
        message = "It obeys stop strings, and leaves them in the answer."
    return [Finding("stop", "ok", message, heard)]


def compare_stop(a: Observation, b: Observation) -> list[Finding]:
    """Both must take the stop string out, or neither."""
    if a["left"] == b["left"]:
        return []
    message = "Only one leaves the stop string in the answer."
    return [Finding("stop", "differs", message, {"baseline": a, "candidate": b})]


def budget_findings(longest: Observation, rows: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Judge max_tokens and finish reasons by all answers so far.

    Args:
        longest: What `observe_longest` saw.
        rows: Evidence of every answer, with its request.
    """
    found = []
    counted = [row for row in rows if row.get("completion_tokens") is not None]
    over = [r for r in counted if r["completion_tokens"] > r["request"]["max_tokens"]]
    if over:
        row = over[0]
        message = (
            f"It does not obey max_tokens: {row['completion_tokens']} tokens, where "
            f"{row['request']['max_tokens']} were allowed."
        )
        found.append(Finding("max_tokens", "failed", message, row))
    else:
        found.append(_longest(longest, counted))
    full = [
        row
        for row in counted
        if row["completion_tokens"] == row["request"]["max_tokens"] and "stop" not in row["request"]
    ]
    if len(full) >= 2 and not any(row.get("finish_reason") == "length" for row in full):
        message = (
            f"{len(full)} answers were cut off at max_tokens, and none says so: the finish "
            f"reason is '{full[0].get('finish_reason')}'."
        )
        found.append(Finding("finish_reason", "failed", message, full[0]))
    elif full:
        message = "A cut answer has the finish reason 'length'."
        found.append(Finding("finish_reason", "ok", message, full[0]))
    return found


def _longest(seen: Observation, rows: Sequence[Mapping[str, Any]]) -> Finding:
    heard = seen["heard"]
    if seen["tokens"] is None:
        why = _why(heard) if heard.get("error") else "It reports no token counts."
        return Finding("max_tokens", "not_testable", why, heard)
    cap = _common_end(rows)
    if seen["tokens"] >= seen["asked"]:
        message = f"It obeys max_tokens, up to {seen['asked']} tokens."
        return Finding("max_tokens", "ok", message, heard)
    if seen["finish"] == "length" or cap is not None:
        message = (
            f"It caps answers at {cap or seen['tokens']} tokens, where {seen['asked']} were "
            "allowed."
        )
        return Finding("max_tokens", "failed", message, heard)
    message = f"It ended by itself after {seen['tokens']} of {seen['asked']} tokens."
    return Finding("max_tokens", "not_testable", message, heard)


def _common_end(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the number of tokens at which answers end that were allowed more."""
    ends: dict[int, set[Any]] = defaultdict(set)
    for row in rows:
        if row["completion_tokens"] < row["request"]["max_tokens"] and "stop" not in row["request"]:
            ends[row["completion_tokens"]].add(str(row["request"]["messages"]))
    longest = max(ends, default=0)
    return longest if len(ends.get(longest, ())) >= 2 and longest >= 8 else None


def _why(heard: Mapping[str, Any]) -> str:
    return f"It did not answer: {heard.get('error') or 'no text'}"
