"""`kind: openai`: any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, Self

import orjson
from pydantic import Field, field_validator

from evalkit.endpoints.base import ENDPOINTS, EndpointOptions
from evalkit.endpoints.credentials import Credentials, check_variable, clean_headers
from evalkit.endpoints.failures import error_in_body, failure
from evalkit.endpoints.identity import ModelList, find_identity
from evalkit.endpoints.settings import EndpointSettings, check_settings
from evalkit.endpoints.stream import ReplyStream
from evalkit.endpoints.transport import Answer, Deadlines, Transport
from evalkit.endpoints.urls import parse_address
from evalkit.endpoints.wire import chat_payload, cut_at_stop, error_text, parse_json, parse_reply
from evalkit.errors import AuthError, BadRequest, CutBody, EndpointError, NotFoundError
from evalkit.types import Identity, Message, Reply, Sampling, Timing

_PROBE_TIMEOUT, _HINT_TIMEOUT = 15.0, 1.0
# How an event stream begins, for servers that call it something else.
_EVENTS = (b"data:", b"event:", b":")

_log = logging.getLogger(__name__)


class OpenAISettings(EndpointSettings):
    """Configuration of `kind: openai`.

    Attributes:
        base_url: With or without `/v1`, or the full address of chat completions.
        model: Name of the served model.
        label: What a report calls it; default: the model and the host.
        api_key_env: Name of the environment variable that holds the key; default:
            OPENAI_API_KEY, if it is set. Empty: no key is sent.
        headers: Further HTTP headers.
        extra_body: Further fields of every request.
        omit: Sampling fields that the server refuses and that are therefore not sent.
        stream: Ask for answers piece by piece. It tells the time of the first token, lets a
            hung server be noticed by the idle deadline, and keeps gateways from cutting long
            answers; it costs more CPU time here. The answers are the same.
        client_stop: Do not send stop strings, and cut the finished answer at them instead. A
            server also stops at one inside the reasoning; this costs the tokens behind it.
    """

    kind: Literal["openai"] = "openai"
    base_url: str = Field(repr=False)
    model: str = Field(min_length=1)
    label: str | None = None
    api_key_env: str | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    extra_body: dict[str, Any] = Field(default_factory=dict)
    omit: tuple[str, ...] = ()
    stream: bool = False
    client_stop: bool = False

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str) -> str:
        parse_address(value)
        return value

    @field_validator("api_key_env")
    @classmethod
    def _is_variable(cls, value: str | None) -> str | None:
        check_variable(value or "")
        return value

    @field_validator("headers")
    @classmethod
    def _are_headers(cls, value: dict[str, str]) -> dict[str, str]:
        return clean_headers(value)


class OpenAIEndpoint:
    """Asks a server over HTTP. One session, one attempt a call, no retry here."""

    def __init__(self, name: str, settings: OpenAISettings, options: EndpointOptions) -> None:
        self._address = parse_address(settings.base_url)
        self._settings = settings
        self._name = name
        self._credentials = Credentials.gather(
            name, self._address, settings.api_key_env, settings.headers
        )
        self._transport = Transport(
            name,
            self._credentials,
            Deadlines(
                connect=options.connect_timeout,
                first_byte=options.first_byte_timeout,
                idle=options.idle_timeout,
                total=options.request_timeout,
            ),
            proxies=not self._address.loopback,
        )

    @property
    def name(self) -> str:
        """Name in the configuration or from the command line."""
        return self._name

    @property
    def label(self) -> str:
        """Model and host, unless the configuration says otherwise."""
        host = self._address.root.partition("://")[2]
        return self._settings.label or f"{self._settings.model} at {host}"

    @property
    def url(self) -> str:
        """Base of the API, without credentials."""
        return self._address.api

    def __repr__(self) -> str:
        return f"OpenAIEndpoint({self._name!r}, {self.url!r}, model={self._settings.model!r})"

    async def __aenter__(self) -> Self:
        """Open the session."""
        await self._transport.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the session."""
        await self._transport.close()

    async def identity(self) -> Identity:
        """Read `/v1/models`, `/version` and `/props`, as far as they are there.

        Raises:
            NotFoundError: When the server lists its models and this is not one of them.
            AuthError: When the server refuses the key.
            ConnectError: When nothing listens.
        """
        return await find_identity(self._settings.model, self._address, self._probe)

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """Ask once.

        Raises:
            EndpointError: See `Endpoint.send`.
        """
        settings = self._settings
        payload = chat_payload(
            settings.model,
            messages,
            sampling,
            extra=settings.extra_body,
            omit=(*settings.omit, "stop") if settings.client_stop else settings.omit,
            stream=settings.stream,
        )
        try:
            reply = await self._ask(payload)
        except EndpointError as error:
            raise await self._explain(error) from error.__cause__
        return cut_at_stop(reply, sampling.stop) if settings.client_stop else reply

    async def _ask(self, payload: Mapping[str, Any]) -> Reply:
        started, clock = time.time(), time.perf_counter()
        stream = ReplyStream()
        body = await self._post(payload, stream)
        total = time.perf_counter() - clock
        if not stream.fed and body.lstrip().startswith(_EVENTS):
            stream.feed(body)
            stream.first_token = None
        data = stream.document() if stream.fed else parse_json(body)
        error = error_in_body(data, self._transport.where(self._address.chat))
        if error is not None:
            raise error
        first = stream.first_token
        return parse_reply(data, Timing(started, total, None if first is None else first - clock))

    async def _post(self, payload: Mapping[str, Any], stream: ReplyStream) -> bytes:
        try:
            data = orjson.dumps(payload)
        except orjson.JSONEncodeError as error:
            raise BadRequest("The prompt is not valid Unicode.") from error
        url = self._address.chat
        answer = await self._transport.exchange("POST", url, data=data, sink=stream.feed)
        if answer.status >= 300:
            raise self._failure(answer, url)
        return answer.body

    async def _probe(self, url: str, seconds: float = _PROBE_TIMEOUT) -> tuple[int, Any]:
        """Get a page: its status and its JSON, or `None` when it is not JSON."""
        answer = await self._transport.exchange("GET", url, total=seconds)
        if answer.status in {401, 403}:
            raise await self._explain(self._failure(answer, url))
        try:
            return answer.status, parse_json(answer.body)
        except CutBody:
            return answer.status, None

    async def _explain(self, error: EndpointError) -> EndpointError:
        """Take secrets out of an error, and say what to do about it."""
        hint = error.hint
        if isinstance(error, AuthError):
            hint = self._credentials.hint()
        elif isinstance(error, NotFoundError):
            hint = await self._model_hint()
        message = error.message
        if f"'{self._name}'" not in message:
            message = f"{self._transport.where(self._address.chat)}: {message}"
        return type(error)(
            self._credentials.scrub(message),
            hint=None if hint is None else self._credentials.scrub(hint),
            status=error.status,
            retry_after=error.retry_after,
        )

    async def _model_hint(self) -> str | None:
        try:
            _, data = await self._probe(self._address.api + "/models", _HINT_TIMEOUT)
        except EndpointError as error:
            _log.debug("no list of models for a hint: %s", error)
            return None
        ids = ModelList.read(data).ids
        if not ids:
            return None
        return error_text(f"It serves: {', '.join(ids[:10])}{', …' if len(ids) > 10 else ''}.")

    def _failure(self, answer: Answer, url: str) -> EndpointError:
        where = self._transport.where(url)
        return failure(answer.status, answer.body, answer.headers, where)


@ENDPOINTS.register("openai")
def openai_endpoint(name: str, raw: Mapping[str, Any], options: EndpointOptions) -> OpenAIEndpoint:
    """Make an endpoint of `kind: openai` from its configuration.

    Raises:
        ConfigError: Naming endpoint and key.
    """
    return OpenAIEndpoint(name, check_settings(OpenAISettings, name, raw), options)
