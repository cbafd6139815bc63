"""One real answer, the sampling fields that the server takes, and where reasoning goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from evalkit.collect.outage import PLAIN_QUESTION
from evalkit.collect.preflight.asking import Asker, Heard
from evalkit.collect.preflight.findings import Finding, Observation
from evalkit.endpoints.base import Inspectable
from evalkit.errors import BadRequest
from evalkit.types import Sampling

CAPITAL: Final = PLAIN_QUESTION
CAPITAL_SAMPLING: Final = Sampling(max_tokens=16)

# Never the temperature, nor the bound on tokens: without them nothing is comparable.
DISPENSABLE: Final = (
    "top_k",
    "min_p",
    "repetition_penalty",
    "repeat_penalty",
    "presence_penalty",
    "frequency_penalty",
    "top_p",
    "seed",
)
_RENAMED: Final = (
    "Give the endpoint omit: [max_tokens] and extra_body: {max_completion_tokens: N}; every "
    "answer of all endpoints then has that bound."
)
_FOREIGN: Final = DISPENSABLE[:4]
_TAGS: Final = re.compile(
    r"</?(?:think|thinking|thought|reason|reasoning|seed:think)>|\[/?THINK\]|◁/?think▷"
    r"|<\|channel\|>|<\|(?:begin|end)_of_thought\|>",
    re.IGNORECASE,
)


async def first_answer(asker: Asker) -> tuple[Heard, tuple[str, ...]]:
    """Get one real answer, leaving out what the server refuses by name.

    Returns:
        What was heard, and the fields that are refused.

    Raises:
        EndpointError: When there is none.
    """
    refused: list[str] = []
    while True:
        try:
            return await asker.send(CAPITAL, CAPITAL_SAMPLING), tuple(refused)
        except BadRequest as error:
            named = [field for field in named_fields(error.message) if field not in refused]
            if "max_completion_tokens" in error.message and error.hint is None:
                error.hint = _RENAMED
            if not named or not isinstance(asker.endpoint, Inspectable):
                raise
            refused += named
            asker.endpoint.leave_out(named)


def named_fields(message: str) -> list[str]:
    """Return the dispensable sampling fields that an error names as not wanted."""
    words = set(re.findall(r"[a-z_]+", message.lower()))
    found = [field for field in DISPENSABLE if field in words]
    foreign = [field for field in found if field in _FOREIGN]
    # The list of what is allowed may be part of the message: `top_p` then stands in it.
    return foreign or found


def answer_findings(heard: Heard, refused: Sequence[str]) -> list[Finding]:
    """Judge the first answer."""
    reply = heard.reply
    assert reply is not None
    findings = []
    if reply.text or reply.reasoning:
        shown = " ".join((reply.text or reply.reasoning or "").split())[:60]
        findings.append(Finding("answer", "ok", f"It answers: '{shown}'.", heard.plain()))
    else:
        what = "no content (null)" if reply.text is None else "an empty text"
        message = f"It answered a plain question with {what}."
        findings.append(Finding("answer", "failed", message, heard.plain()))
    counts = (reply.usage.prompt_tokens, reply.usage.completion_tokens)
    findings.append(
        Finding("usage", "not_testable", "It reports no token counts.")
        if None in counts
        else Finding("usage", "ok", "It reports token counts.")
    )
    if refused:
        names = ", ".join(refused)
        findings.append(
            Finding(
                "refused_fields",
                "ok",
                f"It refuses {names}, which {'is' if len(refused) == 1 else 'are'} left out "
                "for all endpoints.",
                {"fields": list(refused)},
            )
        )
    return findings


def reasoning_observation(contents: Sequence[str], *, separate: bool) -> dict[str, Any]:
    """Say where a model's reasoning goes: a field of its own, tags in the content, or nowhere.

    Args:
        contents: Texts as the server sent them.
        separate: Whether a field of its own held any.
    """
    tags = sorted({tag.lower() for text in contents for tag in _TAGS.findall(text)})
    style = "tags" if tags else "field" if separate else "none"
    return {"style": style, "tags": tags, "texts": [text[:300] for text in contents[:2]]}


def reasoning_findings(seen: Observation) -> list[Finding]:
    """Judge whether reasoning is left in what is scored."""
    if not seen.get("texts"):
        return [Finding("reasoning", "not_testable", "No reply's content could be read raw.")]
    tags = seen["tags"]
    unknown = [tag for tag in tags if "think>" not in tag or "seed" in tag]
    if unknown:
        message = (
            f"It leaves reasoning in the answer, in tags that are not taken out: "
            f"{', '.join(unknown)}. Switch on the server's reasoning parser."
        )
        return [Finding("reasoning", "failed", message, seen)]
    words = {
        "none": "Answers hold no reasoning.",
        "field": "Reasoning comes in a field of its own.",
        "tags": "Reasoning comes in tags within the answer; they are taken out.",
    }
    return [Finding("reasoning", "ok", words[seen["style"]], seen)]


def compare_reasoning(a: Observation, b: Observation) -> list[Finding]:
    """Two servers of one model must treat its reasoning alike."""
    if not a.get("texts") or not b.get("texts"):
        return []
    evidence = {"baseline": a, "candidate": b}
    if a["style"] == b["style"] and a["tags"] == b["tags"]:
        return [Finding("reasoning", "ok", "Reasoning is treated alike.", evidence)]
    words = {"none": "shows none", "field": "sends it apart", "tags": "leaves it in the answer"}
    message = f"Reasoning: the first {words[a['style']]}, the second {words[b['style']]}."
    return [Finding("reasoning", "differs", message, evidence)]
