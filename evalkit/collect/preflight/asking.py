"""Asking an endpoint small questions, and keeping what came back as evidence."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import orjson

from evalkit.collect.preflight.choices import MOST_CHARACTERS, read_choice, said
from evalkit.collect.preflight.findings import Cost, ProbeOptions
from evalkit.endpoints.base import Endpoint, Inspectable
from evalkit.endpoints.tokens import TokenPages
from evalkit.endpoints.wire import error_text, parse_json
from evalkit.errors import (
    ConnectError,
    CutBody,
    EndpointError,
    ProtocolError,
    ServerError,
    Timeout,
)
from evalkit.types import Identity, Message, Reply, Sampling

Sleep = Callable[[float], Awaitable[object]]
Messages = tuple[Message, ...]

_TRIES: Final = 4
_SHOWN: Final = 600
NOT_OPEN: Final = "this kind of endpoint shows no single requests"
# Of a gateway or a server that loads; a 500 is an answer, and a telling one.
_PASSING: Final = {429, 502, 503, 504}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of one request.

    Attributes:
        request: What was asked, as far as it matters.
        reply: The answer, when there was one.
        data: The whole body, where it was asked for without the client in between.
        status: Of HTTP, where it is known.
        error: Why there is no answer.
    """

    request: Mapping[str, Any]
    reply: Reply | None = None
    data: Any = None
    status: int | None = None
    error: str | None = None

    @property
    def text(self) -> str | None:
        """The answer's text."""
        text = None if self.reply is None else self.reply.text
        return None if text is None else text[:MOST_CHARACTERS]

    @property
    def said(self) -> str | None:
        """All that was said, reasoning included."""
        return None if self.reply is None else said(self.reply.reasoning, self.reply.text)

    def plain(self) -> dict[str, Any]:
        """Return it as evidence: the request and the reply, long texts cut."""
        seen: dict[str, Any] = {"request": dict(self.request)}
        if self.status is not None:
            seen["status"] = self.status
        if self.error is not None:
            seen["error"] = self.error[:_SHOWN]
        if self.reply is not None:
            usage = self.reply.usage
            seen |= {
                "text": _short(self.reply.text),
                "finish_reason": self.reply.finish_reason,
                "prompt_tokens": usage.prompt_tokens,
                "completion_tokens": usage.completion_tokens,
            }
            if self.reply.reasoning:
                seen["reasoning"] = _short(self.reply.reasoning)
        elif isinstance(self.data, Mapping):
            choice = read_choice(self.data)
            seen |= {
                "text": _short(choice.content),
                "finish_reason": choice.finish_reason,
                "prompt_tokens": choice.prompt_tokens,
                "completion_tokens": choice.completion_tokens,
            }
        return seen


@dataclass(slots=True)
class Asker:
    """One endpoint under examination: one request at a time, so that nothing disturbs another.

    What may heal (a rate limit, a server that still loads) is tried a few times. Once no
    connection is to be had, nothing more is asked.
    """

    endpoint: Endpoint
    identity: Identity
    options: ProbeOptions
    sleep: Sleep = asyncio.sleep
    down: str | None = None
    requests: int = 0
    pages: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    clock: float = field(default_factory=time.perf_counter)
    _tokens: TokenPages | None = None

    async def send(self, messages: Messages, sampling: Sampling) -> Heard:
        """Ask through the client, as the run does.

        Raises:
            EndpointError: When there is no answer.
        """
        reply = await self._persist(lambda: self._send(messages, sampling))
        return Heard(_request(messages, sampling), self._count(reply), status=200)

    async def ask(self, messages: Messages, sampling: Sampling) -> Heard:
        """Ask through the client; a failure is part of what is heard."""
        if self.down is not None:
            return Heard(_request(messages, sampling), error=self.down)
        try:
            return await self.send(messages, sampling)
        except EndpointError as error:
            self._note(error)
            return Heard(_request(messages, sampling), status=error.status, error=error.message)

    async def raw(self, messages: Messages, sampling: Sampling, **fields: Any) -> Heard:
        """Post the body that the client would post, with further fields; nothing is read.

        Whatever status comes back is an answer.
        """
        shown = {**_request(messages, sampling), **fields}
        if not isinstance(self.endpoint, Inspectable):
            return Heard(shown, error=NOT_OPEN)
        try:
            body = self.endpoint.body(messages, sampling)
        except EndpointError as error:
            return Heard(shown, status=error.status, error=error.message)
        # Read whole, also where the run streams.
        body.pop("stream_options", None)
        body |= {"stream": False, **fields}
        return await self.post("", orjson.dumps(body), shown)

    async def post(
        self, page: str, data: bytes, shown: Mapping[str, Any], seconds: float | None = None
    ) -> Heard:
        """Post any bytes; what comes back is JSON, or text.

        Args:
            page: See `Inspectable.exchange`.
            data: The body.
            shown: What the evidence says of it.
            seconds: Deadline, where the endpoint's own is too patient.
        """
        if self.down is not None:
            return Heard(shown, error=self.down)
        try:
            status, body = await self._persist(lambda: self._exchange(page, data, seconds))
        except EndpointError as error:
            self._note(error)
            return Heard(shown, status=error.status, error=error.message)
        try:
            content = parse_json(body)
        except CutBody:
            content = body.decode("utf-8", "replace")
        content = self._scrubbed(content)
        self._count_usage(content)
        said = None if status == 200 else f"status {status}: {error_text(content)}"
        return Heard(shown, data=content, status=status, error=said)

    async def rendered(self, messages: Messages) -> tuple[int, ...] | None:
        """Return the token ids of a conversation, where the server tells them.

        It does not where prompts are rendered on this side.
        """
        if isinstance(self.endpoint, Inspectable):
            try:
                if "messages" not in self.endpoint.body(messages, Sampling(max_tokens=1)):
                    return None
            except EndpointError:
                return None
        if self._tokens is None:
            self._tokens = TokenPages(self._page, self.identity.model, self.identity.engine)
        return await self._tokens.rendered(messages)

    def cost(self) -> Cost:
        """Say what it took so far."""
        return Cost(
            requests=self.requests,
            pages=self.pages,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            seconds=round(time.perf_counter() - self.clock, 3),
        )

    async def _exchange(self, page: str, data: bytes, seconds: float | None) -> tuple[int, bytes]:
        if not isinstance(self.endpoint, Inspectable):
            raise ProtocolError(f"It cannot be told: {NOT_OPEN}.")
        self.requests += 1
        try:
            async with asyncio.timeout(seconds):
                status, body = await self.endpoint.exchange(page, data)
        except TimeoutError:
            raise Timeout(f"It did not answer within {seconds:g} s.") from None
        if status in _PASSING:
            said = error_text(self.scrub(body.decode("utf-8", "replace")))
            raise ServerError(f"Status {status}: {said}", status=status)
        return status, body

    async def _page(self, page: str, data: bytes) -> tuple[int, Any]:
        if self.down is not None or not isinstance(self.endpoint, Inspectable):
            return 404, None
        self.pages += 1
        status, body = await self.endpoint.exchange(page, data)
        try:
            return status, parse_json(body)
        except CutBody:
            return status, None

    async def _send(self, messages: Messages, sampling: Sampling) -> Reply:
        self.requests += 1
        return await self.endpoint.send(messages, sampling)

    async def _persist(self, act: Callable[[], Awaitable[T]]) -> T:
        return await persist(act, self.sleep, late=False)

    def scrub(self, text: str) -> str:
        """Take the endpoint's secrets out of what the server said."""
        return self.endpoint.scrub(text) if isinstance(self.endpoint, Inspectable) else text

    def _scrubbed(self, data: Any) -> Any:
        if isinstance(data, str):
            return self.scrub(data)
        if isinstance(data, list):
            return [self._scrubbed(item) for item in data]
        if isinstance(data, Mapping):
            return {self.scrub(str(key)): self._scrubbed(value) for key, value in data.items()}
        return data

    def _note(self, error: EndpointError) -> None:
        if isinstance(error, ConnectError):
            self.down = f"it no longer answers: {error.message}"

    def _count(self, reply: Reply) -> Reply:
        self.prompt_tokens += reply.usage.prompt_tokens or 0
        self.completion_tokens += reply.usage.completion_tokens or 0
        return reply

    def _count_usage(self, data: Any) -> None:
        usage = data.get("usage") if isinstance(data, Mapping) else None
        if isinstance(usage, Mapping):
            prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
            self.prompt_tokens += prompt if isinstance(prompt, int) else 0
            self.completion_tokens += completion if isinstance(completion, int) else 0


async def persist(act: Callable[[], Awaitable[T]], sleep: Sleep, *, late: bool = True) -> T:
    """Do something that may heal up to four times.

    Args:
        act: What to do.
        sleep: Waits between tries.
        late: Whether a deadline that passed may heal: a whole one was waited for already.

    Raises:
        EndpointError: When it does not heal.
    """
    for tried in range(1, _TRIES):
        try:
            return await act()
        except EndpointError as error:
            if not error.retryable or (isinstance(error, Timeout) and not late):
                raise
            await sleep(max(0.25 * 2**tried, min(error.retry_after or 0.0, 60.0)))
    return await act()


def user(text: str) -> Messages:
    """Return a conversation of one question."""
    return (Message("user", text),)


def _request(messages: Messages, sampling: Sampling) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "messages": [{"role": m.role, "content": _short(m.content)} for m in messages],
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "seed": sampling.seed,
    }
    return {**shown, "stop": list(sampling.stop)} if sampling.stop else shown


def _short(text: str | None) -> str | None:
    if text is None or len(text) <= _SHOWN:
        return text
    return f"{text[: _SHOWN // 2]} […] {text[-_SHOWN // 2 :]}"
