"""What a well-behaved server does with an answer: it ends where it was asked to end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def obey(text: str, body: Mapping[str, Any]) -> tuple[str, str, int]:
    """Return the text, its finish reason and its tokens (here: words) for a request.

    A temperature of 1 and more is shown by the seed, at the beginning.
    """
    if (body.get("temperature") or 0) >= 1:
        text = f"{body.get('seed', 0)}: {text}"
    finish = "stop"
    stop = body.get("stop") or []
    ends = [
        text.index(word) for word in ([stop] if isinstance(stop, str) else stop) if word in text
    ]
    text = text[: min(ends, default=len(text))]
    words = list(re.finditer(r"\S+\s*", text))
    most = body.get("max_tokens")
    if most is not None and len(words) > most:
        text, finish, words = text[: words[most].start()], "length", words[:most]
    return text, finish, len(words)
