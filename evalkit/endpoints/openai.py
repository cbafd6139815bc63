"""`kind: openai`: any server that speaks OpenAI's chat completions."""

from __future__ import annotations

import base64
import logging
import os
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, Self

import aiohttp
import orjson
from pydantic import Field, field_validator

from evalkit.endpoints.base import ENDPOINTS, EndpointOptions
from evalkit.endpoints.credentials import (
    check_variable,
    clean_headers,
    read_key,
    show_variable,
)
from evalkit.endpoints.failures import broken_connection, failure
from evalkit.endpoints.identity import ModelList, find_identity
from evalkit.endpoints.settings import EndpointSettings, check_settings
from evalkit.endpoints.urls import mask_url, parse_address
from evalkit.endpoints.wire import chat_payload, parse_json, parse_reply
from evalkit.errors import (
    AuthError,
    BadRequest,
    ConfigError,
    ConnectError,
    CutBody,
    EndpointError,
    NotFoundError,
    Timeout,
)
from evalkit.types import Identity, Message, Reply, Sampling, Timing

DEFAULT_KEY_ENV = "OPENAI_API_KEY"
_PROBE_TIMEOUT = 15.0
_SECRET_HEADERS = ("auth", "key", "token", "secret", "cookie")

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
    """

    kind: Literal["openai"] = "openai"
    base_url: str = Field(repr=False)
    model: str = Field(min_length=1)
    label: str | None = None
    api_key_env: str | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    extra_body: dict[str, Any] = Field(default_factory=dict)
    omit: tuple[str, ...] = ()

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
        self._options = options
        self._name = name
        named = settings.api_key_env
        self._key_env = DEFAULT_KEY_ENV if named is None else named
        self._headers, self._secrets = self._credentials()
        self._session: aiohttp.ClientSession | None = None

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
        options = self._options
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=options.max_connections),
            timeout=aiohttp.ClientTimeout(
                total=options.request_timeout, sock_connect=options.connect_timeout
            ),
            headers=self._headers,
            trust_env=not self._address.loopback,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

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
        payload = chat_payload(
            self._settings.model,
            messages,
            sampling,
            extra=self._settings.extra_body,
            omit=self._settings.omit,
        )
        started, clock = time.time(), time.perf_counter()
        try:
            body = await self._post(payload)
            timing = Timing(started=started, total=time.perf_counter() - clock)
            return parse_reply(parse_json(body), timing)
        except EndpointError as error:
            raise await self._explain(error) from error.__cause__

    async def _post(self, payload: Mapping[str, Any]) -> bytes:
        try:
            data = orjson.dumps(payload)
        except orjson.JSONEncodeError as error:
            raise BadRequest("The prompt is not valid Unicode.") from error
        status, body, headers = await self._exchange(
            "POST", self._address.chat, data=data, total=self._options.request_timeout
        )
        if status >= 300:
            raise failure(status, body, headers, self._where(self._address.chat))
        return body

    async def _exchange(
        self, method: str, url: str, *, data: bytes | None, total: float
    ) -> tuple[int, bytes, Mapping[str, str]]:
        if self._session is None:
            raise RuntimeError("an endpoint is used inside 'async with'")
        where = self._where(url)
        timeout = aiohttp.ClientTimeout(total=total, sock_connect=self._options.connect_timeout)
        try:
            async with self._session.request(
                method, url, data=data, timeout=timeout, allow_redirects=False
            ) as response:
                return response.status, await response.read(), response.headers
        except aiohttp.ConnectionTimeoutError as error:
            raise ConnectError(f"{where} accepts no connection.") from error
        except TimeoutError as error:
            raise Timeout(f"{where} did not answer within {total:g} s.") from error
        except aiohttp.ClientPayloadError as error:
            raise CutBody(f"{where} ended its body early.") from error
        except (aiohttp.ClientError, OSError) as error:
            reason = self._scrub(broken_connection(error))
            raise ConnectError(f"{where} cannot be reached: {reason}.") from error

    async def _probe(self, url: str) -> tuple[int, Any]:
        """Get a page: its status and its JSON, or `None` when it is not JSON."""
        total = min(_PROBE_TIMEOUT, self._options.request_timeout)
        status, body, headers = await self._exchange("GET", url, data=None, total=total)
        if status in {401, 403}:
            raise await self._explain(failure(status, body, headers, self._where(url)))
        try:
            return status, parse_json(body)
        except CutBody:
            return status, None

    async def _explain(self, error: EndpointError) -> EndpointError:
        """Take secrets out of an error, and say what to do about it."""
        hint = error.hint
        if isinstance(error, AuthError):
            hint = self._key_hint()
        elif isinstance(error, NotFoundError):
            hint = await self._model_hint()
        return type(error)(
            self._scrub(error.message),
            hint=hint,
            status=error.status,
            retry_after=error.retry_after,
        )

    def _key_hint(self) -> str:
        if not self._key_env:
            return "No key is sent, since api_key_env is empty."
        state = "holds another key" if os.environ.get(self._key_env, "").strip() else "is not set"
        return f"The key comes from the {show_variable(self._key_env)}, which {state}."

    async def _model_hint(self) -> str | None:
        try:
            _, data = await self._probe(self._address.api + "/models")
        except EndpointError as error:
            _log.debug("no list of models for a hint: %s", error)
            return None
        ids = ModelList.read(data).ids
        if not ids:
            return None
        return f"It serves: {', '.join(ids[:10])}{', …' if len(ids) > 10 else ''}."

    def _where(self, url: str) -> str:
        return f"Endpoint '{self._name}' ({mask_url(url)})"

    def _credentials(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the headers of every request, and what must never be printed."""
        settings, address = self._settings, self._address
        headers = {"Content-Type": "application/json", "User-Agent": "evalkit"}
        secrets = [
            value
            for name, value in settings.headers.items()
            if any(word in name.lower() for word in _SECRET_HEADERS)
        ]
        key = read_key(self._name, self._key_env) if self._key_env else None
        if settings.api_key_env and not key:
            raise ConfigError(
                f"Endpoint '{self._name}' takes its key from the "
                f"{show_variable(self._key_env)}, which is not set."
            )
        if address.user is not None and not settings.api_key_env:
            password = address.password or ""
            pair = f"{address.user}:{password}"
            token = base64.b64encode(pair.encode()).decode()
            headers["Authorization"] = f"Basic {token}"
            secrets += [token, password]
        elif key:
            headers["Authorization"] = f"Bearer {key}"
            secrets.append(key)
        return headers | settings.headers, tuple(s for s in secrets if s)

    def _scrub(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


@ENDPOINTS.register("openai")
def openai_endpoint(name: str, raw: Mapping[str, Any], options: EndpointOptions) -> OpenAIEndpoint:
    """Make an endpoint of `kind: openai` from its configuration.

    Raises:
        ConfigError: Naming endpoint and key.
    """
    return OpenAIEndpoint(name, check_settings(OpenAISettings, name, raw), options)
