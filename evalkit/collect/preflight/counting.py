"""Does the same prompt become the same tokens? BOS, templates and added prompts show here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalkit.collect.preflight.asking import Asker, Heard, Messages, user
from evalkit.collect.preflight.findings import Finding, Observation
from evalkit.types import Message, Sampling

PROMPTS: Final[Mapping[str, Messages]] = {
    "chinese": user("你好！请用一句话介绍一下你自己。"),
    "emoji": user("🎉🚀👩‍💻 — what do these mean? Ünïcödé, naïve."),
    "system": (
        Message("system", "You answer in one short sentence."),
        Message("user", "What is rain?"),
    ),
    "turns": (
        Message("user", "My name is Ada."),
        Message("assistant", "Hello Ada!"),
        Message("user", "What is my name?"),
    ),
}
SAMPLING: Final = Sampling(max_tokens=8)


async def observe(asker: Asker, first: Heard, prompt: Messages) -> dict[str, Any]:
    """Count the tokens of a handful of prompts, as reported and as the server renders them.

    Args:
        asker: The endpoint.
        first: An answer that is there already, so that it is not asked for twice.
        prompt: What `first` was asked.
    """
    rows = [await _row(asker, "short", prompt, first)]
    for name, messages in PROMPTS.items():
        rows.append(await _row(asker, name, messages, await asker.ask(messages, SAMPLING)))
    return {"prompts": rows}


async def _row(asker: Asker, name: str, messages: Messages, heard: Heard) -> dict[str, Any]:
    ids = await asker.rendered(messages)
    usage = None if heard.reply is None else heard.reply.usage
    return {
        "name": name,
        "reported": None if usage is None else usage.prompt_tokens,
        "rendered": None if ids is None else len(ids),
        "begins": None if ids is None else list(ids[:8]),
        "ids": None if ids is None else list(ids[:256]),
        "heard": heard.plain(),
    }


def findings(seen: Observation) -> list[Finding]:
    """Judge one endpoint: what it counts must be what its own tokenizer gives."""
    rows = seen["prompts"]
    failed = [row for row in rows if row["heard"].get("error")]
    if failed:
        error = failed[0]["heard"]["error"]
        message = f"It did not answer the probing prompt '{failed[0]['name']}': {error}"
        return [Finding("prompt_tokens", "failed", message, failed[0]["heard"])]
    both = [row for row in rows if row["reported"] is not None and row["rendered"] is not None]
    evidence = {"prompts": [_shown(row) for row in rows]}
    if not both:
        why = "it does not show how it renders and tokenizes a prompt"
        return [Finding("rendering", "not_testable", f"Not compared: {why}.", evidence)]
    doubled = [row for row in both if len(row["begins"]) > 1 and len(set(row["begins"][:2])) == 1]
    if doubled:
        message = (
            f"Its prompts begin with token {doubled[0]['begins'][0]} twice: a BOS token is doubled."
        )
        return [Finding("rendering", "failed", message, evidence)]
    gaps = {row["reported"] - row["rendered"] for row in both}
    if gaps == {0}:
        message = "It counts the prompt tokens that its own template and tokenizer give."
        return [Finding("rendering", "ok", message, evidence)]
    row = next(row for row in both if row["reported"] != row["rendered"])
    message = (
        f"It counts {row['reported']} prompt tokens where its own template and tokenizer give "
        f"{row['rendered']}: {_cause(gaps)}."
    )
    return [Finding("rendering", "failed", message, evidence)]


def compare(a: Observation, b: Observation) -> list[Finding]:
    """Judge two endpoints: the same prompt must have the same number of tokens on both."""
    pairs = [
        (one, other)
        for one in a["prompts"]
        for other in b["prompts"]
        if one["name"] == other["name"]
    ]
    counted = [p for p in pairs if p[0]["reported"] is not None and p[1]["reported"] is not None]
    evidence = {
        "prompts": [{"baseline": _shown(one), "candidate": _shown(two)} for one, two in pairs]
    }
    found = []
    if not counted:
        found.append(
            Finding("prompt_tokens", "not_testable", "Prompt tokens are not reported.", evidence)
        )
    else:
        found.append(_counts(counted, evidence))
    told = [p for p in pairs if p[0]["ids"] is not None and p[1]["ids"] is not None]
    unequal = [one["name"] for one, two in told if one["ids"] != two["ids"]]
    if unequal:
        message = f"The same prompt becomes other tokens ({', '.join(unequal)})."
        found.append(Finding("token_ids", "differs", message, evidence))
    elif told:
        message = "The same prompts become the same tokens."
        found.append(Finding("token_ids", "ok", message, evidence))
    else:
        message = "Token ids are not told by both."
        found.append(Finding("token_ids", "not_testable", message))
    return found


def _counts(pairs: list[tuple[Any, Any]], evidence: Mapping[str, Any]) -> Finding:
    gaps = {two["reported"] - one["reported"] for one, two in pairs}
    if gaps == {0}:
        message = f"{len(pairs)} probing prompts have the same number of tokens on both."
        return Finding("prompt_tokens", "ok", message, evidence)
    one, two = next(pair for pair in pairs if pair[0]["reported"] != pair[1]["reported"])
    message = (
        f"The same prompt ('{one['name']}') has {one['reported']} tokens on one and "
        f"{two['reported']} on the other: {_cause(gaps)}."
    )
    return Finding("prompt_tokens", "differs", message, evidence)


def _cause(gaps: set[int]) -> str:
    if gaps == {1}:
        return "one more on every prompt, as with a BOS token doubled"
    if gaps == {-1}:
        return "one less on every prompt, as with a BOS token missing"
    if min(gaps) > 1 and max(gaps) - min(gaps) <= 2:
        return "more on every prompt, as with a system prompt added"
    if max(gaps) > 1 and min(gaps) == 0:
        return "more on some prompts, as with a system prompt added where there is none"
    return "another chat template, tokenizer or a prompt that is changed on the way"


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{key: row[key] for key in ("name", "reported", "rendered", "begins")},
        "messages": row["heard"]["request"]["messages"],
        "text": row["heard"].get("text"),
    }
