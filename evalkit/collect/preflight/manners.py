"""Bad input must get a 4xx, and the server must live on."""

from __future__ import annotations

from typing import Any, Final

from evalkit.collect.preflight.asking import NOT_OPEN, Asker, Heard, user
from evalkit.collect.preflight.choices import read_choice
from evalkit.collect.preflight.findings import Finding, Observation
from evalkit.types import Sampling

_NO_MODEL: Final = "evalkit-asks-for-a-model-that-is-not-there"
_CUT_BODY: Final = b'{"model": "x", "messages": [{"role": "user", "content": "Hi'
_SAMPLING: Final = Sampling(max_tokens=1)
# A server that waits for the rest of a body that is whole would wait for ever.
_PATIENCE: Final = 30.0
_MOST_TOKENS: Final = 70_000
_WORDS: Final = "one two three four five six seven eight nine ten "


async def observe(asker: Asker) -> dict[str, Any]:
    """Send an unknown model, a body that is no JSON, and a prompt that is too long."""
    hello = user("Hi")
    unknown = await asker.raw(hello, _SAMPLING, model=_NO_MODEL)
    broken = await asker.post("", _CUT_BODY, {"body": _CUT_BODY.decode()}, seconds=_PATIENCE)
    limit = asker.identity.context_length
    seen: dict[str, Any] = {"unknown": _row(unknown), "broken": _row(broken), "limit": limit}
    if limit is not None and limit <= _MOST_TOKENS:
        words = limit + limit // 4 + 16
        heard = await asker.raw(user(_WORDS * (words // 10 + 1)), _SAMPLING)
        prompt = read_choice(heard.data).prompt_tokens
        seen["long"] = {**_row(heard), "words": words, "prompt_tokens": prompt}
    return seen


def _row(heard: Heard) -> dict[str, Any]:
    said = None if heard.error is None else heard.error[:300]
    request = {key: value for key, value in heard.request.items() if key != "messages"}
    return {"status": heard.status, "said": said, "request": request}


def findings(seen: Observation) -> list[Finding]:
    """Judge one endpoint. What it says to nonsense does not touch a comparison."""
    if seen["broken"]["said"] and NOT_OPEN in seen["broken"]["said"]:
        return [Finding("bad_input", "not_testable", f"Not tried: {NOT_OPEN}.")]
    status = seen["unknown"]["status"]
    if status == 200:
        message = "It answers to any model's name: what is served is what its identity says."
        found = [Finding("unknown_model", "ok", message, seen["unknown"])]
    else:
        found = [_refusal("unknown_model", "an unknown model", seen["unknown"])]
    found.append(_refusal("broken_body", "a body that is no JSON", seen["broken"]))
    long = seen.get("long")
    if long is None:
        why = "its limit is not told" if seen["limit"] is None else "its limit is very long"
        message = f"Whether a prompt that is too long is refused was not tried: {why}."
        found.append(Finding("long_prompt", "not_testable", message))
    elif long["status"] == 200:
        message = (
            f"It takes a prompt of at least {long['words']} tokens, over its limit of "
            f"{seen['limit']}, and cuts it silently ({long['prompt_tokens']} counted)."
        )
        found.append(Finding("long_prompt", "failed", message, long, blocks=False))
    else:
        found.append(_refusal("long_prompt", "a prompt that is too long", long))
    return found


def _refusal(code: str, what: str, row: Observation) -> Finding:
    status = row["status"]
    if status is not None and 400 <= status < 500:
        return Finding(code, "ok", f"It refuses {what} ({status}).", row)
    how = "no status at all" if status is None else f"status {status}"
    return Finding(code, "failed", f"To {what} it answers with {how}.", row, blocks=False)


def compare(a: Observation, b: Observation) -> list[Finding]:
    """Two servers must treat a prompt that is too long alike."""
    one, other = a.get("long"), b.get("long")
    if one is None or other is None or (one["status"] == 200) == (other["status"] == 200):
        return []
    message = "One refuses a prompt that is too long, the other cuts it silently."
    return [Finding("long_prompt", "differs", message, {"baseline": one, "candidate": other})]
