"""`kind: openai`: any server that speaks OpenAI's completions, of chats or plain."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import orjson

from evalkit.endpoints.base import ENDPOINTS, Endpoint, EndpointOptions, TimedReply
from evalkit.endpoints.completions import FirstToken, make_template
from evalkit.endpoints.connection import Connection, proxy_refusal
from evalkit.endpoints.credentials import Credentials
from evalkit.endpoints.deadlines import Deadlines
from evalkit.endpoints.failures import error_in_body, failure
from evalkit.endpoints.http1 import Sink
from evalkit.endpoints.identity import ModelList, find_identity
from evalkit.endpoints.likelihoods import Likelihoods, as_text, is_measured, pairs
from evalkit.endpoints.openai_settings import OpenAISettings
from evalkit.endpoints.replicas import ReplicatedEndpoint
from evalkit.endpoints.settings import check_settings
from evalkit.endpoints.stream import ReplyStream
from evalkit.endpoints.transport import Answer, Transport
from evalkit.endpoints.urls import parse_address
from evalkit.endpoints.wire import (
    chat_payload,
    completion_payload,
    cut_at_stop,
    error_text,
    parse_json,
    parse_replies,
)
from evalkit.errors import (
    AuthError,
    BadRequest,
    CutBody,
    EndpointError,
    NotFoundError,
    ProtocolError,
)
from evalkit.fingerprint import digest
from evalkit.types import Identity, Message, Reply, Sampling, Timing, Usage

_PROBE_TIMEOUT, _HINT_TIMEOUT = 15.0, 1.0
# How an event stream begins, for servers that call it something else.
_EVENTS = (b"data:", b"event:", b":")

_log = logging.getLogger(__name__)


class OpenAIEndpoint:
    """Asks one server over HTTP. One session, one attempt a call, no retry here."""

    def __init__(self, name: str, settings: OpenAISettings, options: EndpointOptions) -> None:
        (base_url,) = settings.base_urls
        self._address = parse_address(base_url)
        self._settings = settings
        self._name = name
        self._omit = frozenset(settings.omit)
        self._connection = Connection.prepare(name, self._address, settings)
        self._credentials = Credentials.gather(
            name, self._address, settings.api_key_env, settings.headers, settings.extra_body
        ).hiding(self._connection.secrets)
        self._transport = Transport(
            name,
            self._credentials,
            Deadlines(
                connect=options.connect_timeout,
                first_byte=options.first_byte_timeout,
                idle=options.idle_timeout,
                total=options.request_timeout,
            ),
            self._connection,
        )
        self._template = make_template(name, settings)
        bos = None if self._template is None else self._template.bos
        self._first_token = FirstToken(bos, self._tokens_of)
        self._likelihoods = Likelihoods(
            settings.model, self._address.completions, self._address.root, self._page
        )

    @property
    def name(self) -> str:
        """Name in the configuration or from the command line."""
        return self._name

    @property
    def label(self) -> str:
        """Model and host, unless the configuration says otherwise."""
        return self._credentials.scrub(self._settings.label_at([self.host]))

    @property
    def host(self) -> str:
        """Host and port of the server, with the path before its pages."""
        return self._credentials.scrub(self._address.root.partition("://")[2])

    @property
    def url(self) -> str:
        """Base of the API, without credentials."""
        return self._credentials.scrub(self._address.api)

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
        found = await find_identity(self._settings.model, self._address, self._probe)
        hardware = self._settings.hardware
        return replace(found, base_url=self.url, hardware=hardware, **self._asked_as(found))

    def _asked_as(self, found: Identity) -> dict[str, Any]:
        """Return what of an identity depends on how it is asked."""
        asked, template = self._settings.unusual(), self._template
        if not asked:
            return {}
        shown = {key: sorted(v) if isinstance(v, (dict, tuple)) else v for key, v in asked.items()}
        details = {**found.details, "request": shown}
        changes: dict[str, Any] = {"request_hash": digest(asked), "details": details}
        if template is not None:
            changes["template_hash"] = template.template_hash
            if template.tokenizer_hash is not None:
                details["prompt_tokenizer_hash"] = template.tokenizer_hash
        return changes

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """Ask once.

        Raises:
            EndpointError: See `Endpoint.send`.
        """
        if is_measured(messages):
            return await self._measure(messages)
        return (await self.send_choices(messages, sampling))[0]

    async def _measure(self, messages: tuple[Message, ...]) -> Reply:
        """Ask how likely the given texts are, one after the other."""
        started, clock = time.time(), time.perf_counter()
        try:
            found = [await self._likelihoods.of(*pair) for pair in pairs(messages)]
        except EndpointError as error:
            raise await self._explain(error) from error.__cause__
        timing = Timing(started, time.perf_counter() - clock)
        return Reply(as_text(found), None, "stop", Usage(), timing)

    async def _page(self, url: str, payload: Mapping[str, Any]) -> Any:
        data = parse_json(await self._post(url, payload))
        error = error_in_body(data, self._transport.where(url))
        if error is not None:
            raise error
        return data

    async def send_choices(
        self, messages: tuple[Message, ...], sampling: Sampling, n: int = 1
    ) -> tuple[Reply, ...]:
        """Ask once for several answers: they share prompt, request and timing.

        Servers draw them from one seed, each in its own way, so that they are no substitute
        for epochs, whose seeds are evalkit's.

        Args:
            messages: The prompt.
            sampling: How to sample.
            n: How many.

        Raises:
            ProtocolError: When the server sends another number of them.
            EndpointError: See `Endpoint.send`.
        """
        try:
            await self._first_token.find_out()
            body = self.body(messages, sampling, n)
            replies = tuple(
                self._counted(self._credentials.scrub_reply(reply), body)
                for reply in await self._ask(body)
            )
            if n > 1 and len(replies) != n:
                raise ProtocolError(f"Of n={n} choices the server sent {len(replies)}.")
        except EndpointError as error:
            raise await self._explain(error) from error.__cause__
        if self._settings.client_stop:
            return tuple(cut_at_stop(reply, sampling.stop) for reply in replies)
        return replies

    def _counted(self, reply: Reply, body: Mapping[str, Any]) -> Reply:
        """Count the prompt's tokens where the server does not, and a tokenizer is here."""
        if self._template is None or reply.usage.prompt_tokens is not None:
            return reply
        counted = self._template.count(body["prompt"])
        return replace(reply, usage=replace(reply.usage, prompt_tokens=counted))

    def body(self, messages: tuple[Message, ...], sampling: Sampling, n: int = 1) -> dict[str, Any]:
        """Return the JSON that `send_choices` posts.

        Raises:
            BadRequest: When the chat template refuses the messages.
        """
        settings, template = self._settings, self._template
        model = settings.model
        extra = settings.extra_body if n == 1 else {**settings.extra_body, "n": n}
        omit = self._omit | {"stop"} if settings.client_stop else self._omit
        if template is None:
            return chat_payload(
                model, messages, sampling, extra=extra, omit=omit, stream=settings.stream
            )
        return completion_payload(
            model,
            self._first_token.single(template.render(messages)),
            sampling,
            special=template.special,
            extra=extra,
            omit=omit,
            stream=settings.stream,
        )

    def leave_out(self, fields: Collection[str]) -> None:
        """Send these sampling fields no more."""
        self._omit |= set(fields)

    def scrub(self, text: str) -> str:
        """Take the endpoint's secrets out of what the server said."""
        return self._credentials.scrub(text)

    async def exchange(self, page: str, data: bytes | None = None) -> tuple[int, bytes]:
        """Get a page of the server, or post to it; see `Inspectable`.

        Raises:
            EndpointError: When there is no whole response.
        """
        url = self._address.root + page if page else self._url
        method = "GET" if data is None else "POST"
        try:
            answer = await self._transport.exchange(method, url, data=data)
        except EndpointError as error:
            raise await self._explain(error) from error.__cause__
        return answer.status, answer.body

    @property
    def _url(self) -> str:
        """Where requests go."""
        return self._address.chat if self._template is None else self._address.completions

    async def send_timed(
        self, messages: tuple[Message, ...], sampling: Sampling, extra: Mapping[str, Any]
    ) -> TimedReply:
        """Ask once, as a stream; see `Timed`.

        Raises:
            EndpointError: See `Endpoint.send`.
        """
        stream = ReplyStream()
        try:
            await self._first_token.find_out()
            streamed = {"stream": True, "stream_options": {"include_usage": True}}
            body = {**self.body(messages, sampling), **streamed, **extra}
            body = {key: value for key, value in body.items() if value is not None}
            (reply, *_) = await self._ask(body, stream)
        except EndpointError as error:
            raise await self._explain(error) from error.__cause__
        ended = time.perf_counter() if stream.ended is None else stream.ended
        # A server that sends the whole at once, whatever it calls it, tells no times.
        texts = () if stream.first_token is None else tuple(stream.texts)
        sizes = tuple(stream.sizes) if texts else ()
        return TimedReply(self._credentials.scrub_reply(reply), texts, ended, sizes)

    async def _ask(
        self, payload: Mapping[str, Any], stream: ReplyStream | None = None
    ) -> tuple[Reply, ...]:
        plain = self._template is not None
        url = self._url
        started, clock = time.time(), time.perf_counter()
        stream = ReplyStream() if stream is None else stream
        body = await self._post(url, payload, sink=stream.feed)
        total = time.perf_counter() - clock
        if not stream.fed and body.lstrip().startswith(_EVENTS):
            stream.feed(body)
            stream.first_token = None
        data = stream.document() if stream.fed else parse_json(body)
        error = error_in_body(data, self._transport.where(url))
        if error is not None:
            raise error
        first = stream.first_token
        timing = Timing(started, total, None if first is None else first - clock)
        return parse_replies(data, timing, plain=plain)

    async def _tokens_of(self, payload: Mapping[str, Any]) -> Any:
        return parse_json(await self._post(self._address.tokenize, payload, total=_PROBE_TIMEOUT))

    async def _post(
        self,
        url: str,
        payload: Mapping[str, Any],
        *,
        total: float | None = None,
        sink: Sink | None = None,
    ) -> bytes:
        try:
            data = orjson.dumps(payload)
        except orjson.JSONEncodeError as error:
            raise BadRequest("The prompt is not valid Unicode.") from error
        answer = await self._transport.exchange("POST", url, data=data, total=total, sink=sink)
        if answer.status >= 300:
            raise self._failure(answer, url)
        return answer.body

    async def _probe(
        self, url: str, data: bytes | None = None, seconds: float = _PROBE_TIMEOUT
    ) -> tuple[int, Any]:
        """Get a page, or post to it: its status and its JSON, or `None` when it is not JSON."""
        method = "GET" if data is None else "POST"
        answer = await self._transport.exchange(method, url, data=data, total=seconds)
        if answer.status in {401, 403}:
            raise await self._explain(self._failure(answer, url))
        try:
            return answer.status, parse_json(answer.body)
        except CutBody:
            return answer.status, None

    async def _explain(self, error: EndpointError) -> EndpointError:
        """Take secrets out of an error, and say what to do about it."""
        hint = error.hint
        if isinstance(error, AuthError) and hint is None:
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
            _, data = await self._probe(self._address.api + "/models", seconds=_HINT_TIMEOUT)
        except EndpointError as error:
            _log.debug("no list of models for a hint: %s", error)
            return None
        ids = ModelList.read(data).ids
        if not ids:
            return None
        return error_text(f"It serves: {', '.join(ids[:10])}{', …' if len(ids) > 10 else ''}.")

    def _failure(self, answer: Answer, url: str) -> EndpointError:
        where = self._transport.where(url)
        refusal = proxy_refusal(answer.status, where, self._connection.proxy)
        return refusal or failure(answer.status, answer.body, answer.headers, where)


@ENDPOINTS.register("openai")
def openai_endpoint(name: str, raw: Mapping[str, Any], options: EndpointOptions) -> Endpoint:
    """Make an endpoint of `kind: openai` from its configuration.

    Raises:
        ConfigError: Naming endpoint and key.
    """
    settings = check_settings(OpenAISettings, name, raw)
    servers = [
        OpenAIEndpoint(name, settings.model_copy(update={"base_url": url}), options)
        for url in settings.base_urls
    ]
    if len(servers) == 1:
        return servers[0]
    hosts = [server.host for server in servers]
    label = servers[0].label if settings.label else settings.label_at(hosts)
    return ReplicatedEndpoint(name, label, servers, options)
