"""Is a long prompt read whole? A cut context gives no error, only worse answers.

Two codes are hidden in a long prompt, at its start and in its middle. Three things tell:
the tokens that are counted, the codes when the model can recall them, and, for a model that
cannot, whether its answer changes at all (to the last digit of its log-probabilities) when
only the start or only the middle of the prompt is another.
"""

from __future__ import annotations

from typing import Any, Final

from evalkit.collect.preflight.asking import Asker, Heard, Messages, user
from evalkit.collect.preflight.choices import Choice, said
from evalkit.collect.preflight.findings import Finding, Observation, ProbeOptions
from evalkit.collect.preflight.sampling import with_logprobs
from evalkit.fingerprint import digest
from evalkit.types import Sampling

LEAST: Final = 640
_UNKNOWN_NEED: Final = 1024
_ROOM: Final = 48
_A_WORD: Final = 0.75
# A few tokens less are a matter of the template.
_SLACK: Final = 16
_SAMPLING: Final = Sampling(max_tokens=24)
_FILLER: Final = "The quick brown fox jumps over the lazy dog near the old river bank today. "
_FILLER_WORDS: Final = 15
_CODES: Final = ("7391", "2846")
_OTHERS: Final = ("5062", "9178")


def long_prompt(words: int, start: str, middle: str) -> Messages:
    """Return a prompt of about so many words, with a code at its start and in its middle."""
    half = max(1, words // _FILLER_WORDS // 2)
    return user(
        f"The first code is {start}. {_FILLER * half}The second code is {middle}. "
        f"{_FILLER * half}What are the first code and the second code? Answer with both codes."
    )


def reach(options: ProbeOptions, limit: int | None) -> int:
    """Return how many tokens to try: what the run needs, within what the server declares."""
    need = max(LEAST, _UNKNOWN_NEED if options.context is None else options.context)
    return need if limit is None else min(need, limit)


async def observe(asker: Asker, options: ProbeOptions) -> dict[str, Any]:
    """Ask for both codes; then with another start; then with another middle."""
    limit = asker.identity.context_length
    # An engine of evalkit's own has the context that it was given: a cut is all that is sought.
    own = asker.identity.kind == "local"
    tokens = LEAST if own else reach(options, limit)
    # An English word is a token at least, and here hardly more; near the limit more care.
    a_word = 1.1 if limit is None or tokens < 0.8 * limit else 1.3
    words = int((tokens - _SAMPLING.max_tokens - _ROOM) / a_word)
    seen: dict[str, Any] = {"limit": limit, "tried": tokens, "words": words}
    if words < 4 * _FILLER_WORDS:
        return seen
    plain = long_prompt(words, *_CODES)
    seen["words"] = len(plain[0].content.split())
    ids = await asker.rendered(plain)
    rows = []
    for name, codes in (
        ("plain", _CODES),
        ("start", (_OTHERS[0], _CODES[1])),
        ("middle", (_CODES[0], _OTHERS[1])),
    ):
        heard, choice = await with_logprobs(asker, long_prompt(words, *codes), _SAMPLING)
        rows.append(_row(name, heard, choice))
        if heard.error is not None:
            break
    return {**seen, "rendered": None if ids is None else len(ids), "rows": rows}


def _row(name: str, heard: Heard, choice: Choice) -> dict[str, Any]:
    return {
        "name": name,
        "reported": choice.prompt_tokens,
        "text": said(choice.reasoning, choice.content),
        # To the last digit: only whether they are equal counts.
        "logprobs": digest([[t.logprob, t.top] for t in choice.tokens]) if choice.tokens else None,
        "error": heard.error,
        "status": heard.status,
    }


def findings(seen: Observation) -> list[Finding]:
    """Judge one endpoint."""
    rows = {row["name"]: row for row in seen.get("rows", ())}
    evidence = {
        "prompt": f"two codes in a prompt of at least {seen['words']} words",
        **{name: {k: v for k, v in row.items() if k != "logprobs"} for name, row in rows.items()},
    }
    if not rows:
        message = f"Its limit of {seen['limit']} tokens is too short to hide anything in."
        return [Finding("context", "not_testable", message)]
    failed = next((row for row in rows.values() if row["error"]), None)
    if failed is not None:
        return [_refused(seen, failed, evidence)]
    plain = rows["plain"]
    # A tokenizer may take two words for one token, but hardly everywhere.
    expected = seen["rendered"] or _A_WORD * seen["words"]
    counted = plain["reported"]
    if counted is not None and counted < expected - _SLACK:
        message = f"It cuts long prompts: of {_least(seen)} tokens it counts {counted}."
        return [Finding("context", "failed", message, evidence)]
    unread = [name for name in ("start", "middle") if _alike(plain, rows[name])]
    recalled = [code in (plain["text"] or "") for code in _CODES]
    unread = [name for name in unread if not recalled[("start", "middle").index(name)]]
    if unread and plain["logprobs"]:
        message = (
            f"It does not read the {' and the '.join(unread)} of a prompt of {_least(seen)} "
            "tokens: its answer is the same to the last digit when that changes."
        )
        return [Finding("context", "failed", message, evidence)]
    if unread:
        message = (
            f"Whether it reads the {' and the '.join(unread)} of a long prompt cannot be told: "
            "its answer does not change, and it gives no log-probabilities."
        )
        return [Finding("context", "not_testable", message, evidence)]
    declared = "" if seen["limit"] is None else f" of the {seen['limit']} it declares"
    by = " and both codes are found" if all(recalled) else ", start and middle included"
    message = f"A prompt of {counted or _least(seen)} tokens{declared} is read whole{by}."
    return [Finding("context", "ok", message, evidence)]


def _refused(seen: Observation, row: Observation, evidence: Observation) -> Finding:
    status = row["status"]
    if status is None or status == 200:
        message = f"A long prompt could not be asked: {row['error']}"
        return Finding("context", "not_testable", message, evidence)
    message = (
        f"It refuses a prompt and answer of about {seen['tried']} tokens, which it should hold: "
        f"{row['error']}"
    )
    return Finding("context", "failed", message, evidence)


def _alike(one: Observation, other: Observation) -> bool:
    return bool(one["text"] == other["text"] and one["logprobs"] == other["logprobs"])


def _least(seen: Observation) -> str:
    return str(seen["rendered"]) if seen["rendered"] else f"about {seen['words']}"


def compare(a: Observation, b: Observation) -> list[Finding]:
    """The same long prompt must have the same number of tokens on both."""
    one, other = (next(iter(seen.get("rows", ())), None) for seen in (a, b))
    if one is None or other is None or a["words"] != b["words"]:
        return []
    counts = one["reported"], other["reported"]
    if None in counts:
        return []
    evidence = {"baseline": counts[0], "candidate": counts[1]}
    if counts[0] == counts[1]:
        return [Finding("context", "ok", "A long prompt has the same length on both.", evidence)]
    message = f"A long prompt has {counts[0]} tokens on one and {counts[1]} on the other."
    return [Finding("context", "differs", message, evidence)]
