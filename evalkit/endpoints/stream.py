"""A streamed completion, put together again into the reply that a server sends whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit.endpoints.sse import EventParser, ServerEvent
from evalkit.endpoints.wire import content_of, parse_json, reasoning_of
from evalkit.errors import CutBody, EndpointError, ProtocolError

_DONE = b"[DONE]"
_PLAIN = (b"", b"message")


class ReplyStream:
    """Takes the parts of an event stream and remembers when the first token came.

    A part that cannot be read is a hole in the answer: there is no reply then, rather than
    one that lacks something.

    Attributes:
        fed: Whether anything came.
        first_token: Time of the first text, by `clock`.
        texts: When each part with text came; several may come in one piece.
        sizes: Characters of each of them.
        ended: When nothing more was needed.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._parser = EventParser()
        self._choices: dict[int, _Choice] = {}
        self._usage: Mapping[str, Any] | None = None
        self._timings: Mapping[str, Any] | None = None
        self._model: str | None = None
        self._error: Any = None
        self._hole: EndpointError | None = None
        self._done = False
        self.fed = False
        self.first_token: float | None = None
        self.texts: list[float] = []
        self.sizes: list[int] = []
        self._now = 0.0
        self.ended: float | None = None

    def feed(self, part: bytes) -> bool:
        """Take the next part; say whether nothing more is needed."""
        self.fed = True
        self._now = self._clock()
        for event in self._parser.feed(part):
            self._take(event)
        if self._over and self.ended is None:
            self.ended = self._now
        return self._over

    def document(self) -> Mapping[str, Any]:
        """Return the reply as the JSON of one that was not streamed.

        Raises:
            CutBody: When the stream ended early, or a part of it cannot be read.
            ProtocolError: For a part that holds something else than text.
        """
        for event in self._parser.close():
            self._take(event)
        if self._hole is not None:
            raise self._hole
        if self._error is not None:
            return {"error": self._error}
        finished = [choice.finish_reason is not None for choice in self._choices.values()]
        if not self._done and not (finished and all(finished)):
            raise CutBody("The stream ended early: no finish reason and no [DONE] came.")
        return {
            "model": self._model,
            "usage": self._usage,
            "timings": self._timings,
            "choices": [choice.document() for _, choice in sorted(self._choices.items())],
        }

    @property
    def _over(self) -> bool:
        return self._done or self._error is not None or self._hole is not None

    def _take(self, event: ServerEvent) -> None:
        data = event.data.strip()
        if self._over or not data:
            return
        if data == _DONE:
            self._done = True
        elif event.name == b"error":
            self._error = _error_of(data)
        else:
            self._take_all(event.name, data)

    def _take_all(self, name: bytes, data: bytes) -> None:
        try:
            self._add(parse_json(data))
        except ProtocolError as error:
            self._hole = error
        except CutBody as error:
            # Some servers send no empty line between two events.
            lines = data.split(b"\n")
            if len(lines) > 1:
                for line in lines:
                    self._take(ServerEvent(name, line))
            elif name in _PLAIN:
                self._hole = CutBody(f"A part of the stream cannot be read. {error.message}")

    def _add(self, chunk: Any) -> None:
        if not isinstance(chunk, Mapping):
            return
        if chunk.get("error") or chunk.get("object") == "error":
            self._error = chunk.get("error") or chunk
            return
        if isinstance(chunk.get("usage"), Mapping):
            self._usage = chunk["usage"]
        if isinstance(chunk.get("timings"), Mapping):
            self._timings = chunk["timings"]
        if self._model is None and isinstance(chunk.get("model"), str):
            self._model = chunk["model"]
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, Mapping):
                self._add_choice(choice)

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        index = choice.get("index")
        known = self._choices.setdefault(index if isinstance(index, int) else 0, _Choice())
        if size := known.add(choice):
            self.texts.append(self._now)
            self.sizes.append(size)
            if self.first_token is None:
                self.first_token = self.texts[0]


@dataclass(slots=True)
class _Choice:
    """One answer, as far as it has come. Lists stay `None` until something came for them."""

    content: list[str] | None = None
    reasoning: list[str] | None = None
    text: list[str] | None = None
    logprobs: dict[str, list[Any]] = field(default_factory=dict)
    finish_reason: str | None = None
    error: Any = None

    def add(self, choice: Mapping[str, Any]) -> int:
        """Take what a chunk adds; say how many characters of text are in it."""
        delta = choice.get("delta") or choice.get("message")
        message = delta if isinstance(delta, Mapping) else {}
        written_as = {"content": choice.get("text")}
        self.content, said = _append(self.content, content_of(message))
        self.reasoning, thought = _append(self.reasoning, reasoning_of(message))
        self.text, written = _append(self.text, content_of(written_as))
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = choice["finish_reason"]
        self.error = self.error or choice.get("error")
        if isinstance(choice.get("logprobs"), Mapping):
            for key, values in choice["logprobs"].items():
                if isinstance(values, list):
                    self.logprobs.setdefault(key, []).extend(values)
        return said + thought + written

    def document(self) -> dict[str, Any]:
        message = {"content": _whole(self.content), "reasoning_content": _whole(self.reasoning)}
        found: dict[str, Any] = {"message": message, "finish_reason": self.finish_reason}
        if self.text is not None:
            found["text"] = _whole(self.text)
        if self.logprobs:
            found["logprobs"] = self.logprobs
        if self.error:
            found["error"] = self.error
        return found


def _append(parts: list[str] | None, more: str | None) -> tuple[list[str] | None, int]:
    if more is None:
        return parts, 0
    if parts is None:
        parts = []
    parts.append(more)
    return parts, len(more)


def _whole(parts: list[str] | None) -> str | None:
    return None if parts is None else "".join(parts)


def _error_of(data: bytes) -> Any:
    try:
        found = parse_json(data)
    except CutBody:
        return data.decode("utf-8", "replace")
    return (isinstance(found, Mapping) and found.get("error")) or found or "without a word"
