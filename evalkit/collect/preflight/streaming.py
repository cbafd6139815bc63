"""Does a stream come whole: data, a finish reason, usage and `[DONE]`?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from evalkit.collect.preflight.asking import NOT_OPEN, Asker
from evalkit.collect.preflight.choices import MOST_CHARACTERS, count
from evalkit.collect.preflight.findings import Finding, Observation, ProbeOptions
from evalkit.collect.preflight.sampling import STORY, STORY_SAMPLING
from evalkit.endpoints.sse import EventParser
from evalkit.endpoints.wire import parse_json, whole_text
from evalkit.errors import CutBody

_FIELDS: Final = {"stream": True, "stream_options": {"include_usage": True}}


async def observe(asker: Asker, text: str | None, options: ProbeOptions) -> dict[str, Any]:
    """Ask for a known text again, as a stream."""
    heard = await asker.raw(STORY, STORY_SAMPLING, **_FIELDS)
    seen: dict[str, Any] = {
        "status": heard.status,
        "error": heard.error,
        "used": options.streams,
        "whole": text,
    }
    if heard.status == 200:
        body = heard.data if isinstance(heard.data, str) else ""
        seen |= read_stream(body)
        # What came in pieces is whole only now.
        seen["text"] = asker.scrub(seen["text"])
    return seen


def read_stream(body: str) -> dict[str, Any]:
    """Read what a whole stream holds."""
    parser = EventParser()
    events = [*parser.feed(body.encode("utf-8", "replace")), *parser.close()]
    data = [event.data.strip() for event in events]
    chunks = [chunk for chunk in map(_parse, data) if chunk is not None]
    texts, finish, usage = [], None, None
    for chunk in chunks:
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta")
            delta = delta if isinstance(delta, Mapping) else choice
            part = delta.get("content") or delta.get("text")
            texts.append(part if isinstance(part, str) else "")
            finish = choice.get("finish_reason") or finish
        told = chunk.get("usage")
        usage = count(told.get("completion_tokens")) if isinstance(told, Mapping) else usage
    return {
        "chunks": len(chunks),
        "done": b"[DONE]" in data,
        "finish": finish,
        "usage": usage,
        "text": whole_text("".join(texts)[:MOST_CHARACTERS]),
    }


def _parse(data: bytes) -> Mapping[str, Any] | None:
    try:
        found = parse_json(data)
    except CutBody:
        return None
    choices = found.get("choices") if isinstance(found, Mapping) else None
    whole = isinstance(choices, list) and all(isinstance(one, Mapping) for one in choices)
    return found if whole else None


def findings(seen: Observation) -> list[Finding]:
    """Judge one endpoint. A broken stream matters only where answers are streamed."""
    blocks = bool(seen["used"])
    ends = "" if blocks else " This run does not stream, so that nothing rests on it."
    if seen["error"] and NOT_OPEN in seen["error"]:
        return [Finding("stream", "not_testable", f"Not tried: {NOT_OPEN}.")]
    if seen["status"] != 200:
        message = f"It does not stream: {seen['error']}{ends}"
        return [Finding("stream", "failed", message, seen, blocks=blocks)]
    lacks = [
        what
        for what, there in (
            ("data", seen["chunks"] > 0),
            ("a finish reason", seen["finish"] is not None),
            ("usage", seen["usage"] is not None),
            ("[DONE]", seen["done"]),
        )
        if not there
    ]
    if lacks:
        message = f"Its stream lacks {', '.join(lacks)}.{ends}"
        return [Finding("stream", "failed", message, seen, blocks=blocks)]
    return [Finding("stream", "ok", f"Its stream is whole ({seen['chunks']} chunks).", seen)]
