"""`kind: local`: a real model in this process, served by llama.cpp.

It is the embedded model at a quantization, or any GGUF file. Requests go through the same
client as to every other server, so that deadlines and faults are treated alike.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from pydantic import Field, field_validator

from evalkit.endpoints.base import (
    ENDPOINTS,
    LOCAL_ARMS,
    Endpoint,
    EndpointOptions,
    Inspectable,
    TimedReply,
    is_checkpoint,
)
from evalkit.endpoints.engine import (
    DRAFT_TOKENS,
    Engine,
    EngineOptions,
    available_cores,
    engine_version,
    hardware,
    require_engine,
)
from evalkit.endpoints.openai import OpenAIEndpoint
from evalkit.endpoints.openai_settings import OpenAISettings
from evalkit.endpoints.settings import EndpointSettings, check_settings
from evalkit.endpoints.weights import (
    MODEL,
    RECIPES,
    Weights,
    embedded_weights,
    file_quantization,
    hash_file,
    source_path,
)
from evalkit.errors import ConfigError, StoreError
from evalkit.fingerprint import digest
from evalkit.types import Identity, Message, Reply, Sampling

PUBLISHED = "Q4_1"

_MOST_SLOTS = 4

_log = logging.getLogger(__name__)


class LocalSettings(EndpointSettings):
    """Configuration of `kind: local`.

    Attributes:
        model: `f16`, `q8`, `q4`, `rtn4`, `rtn3`, `rtn2` of the embedded model, or a GGUF file.
        label: What a report calls it; the default says what the weights really are.
        threads: For computing, in all; default: the cores this process may use.
        slots: Requests that are worked on at the same time. Each has an engine of its own
            with its share of the threads: answers that are computed together change each
            other's numbers, and so would depend on the moment. Default: one for each
            thread (at most 4) for the embedded model, 1 for a file, which may be large.
        context: Tokens of each slot, prompt and answer together.
        draft: A model as `model`, smaller and of the same tokenizer, that guesses ahead
            (speculative decoding).
        draft_tokens: How many tokens it guesses at most.
    """

    kind: Literal["local"] = "local"
    model: str
    label: str | None = None
    threads: int = Field(default_factory=available_cores, ge=1)
    slots: int | None = Field(default=None, ge=1)
    context: int = Field(default=4096, ge=64)
    draft: str | None = None
    draft_tokens: int = Field(default=DRAFT_TOKENS, ge=1, le=64)

    @field_validator("model", "draft")
    @classmethod
    def _is_model(cls, value: str | None) -> str | None:
        if value is not None and value not in LOCAL_ARMS and not Path(value).is_file():
            raise ValueError(f"'{value}' is neither one of {', '.join(LOCAL_ARMS)} nor a file")
        return value

    @property
    def engines(self) -> int:
        """How many engines there are: one for each slot."""
        if self.slots is not None:
            return self.slots
        return min(self.threads, _MOST_SLOTS) if self.model in RECIPES else 1


class LocalEndpoint:
    """Loads its model when it is entered and frees it when it is left."""

    def __init__(self, name: str, settings: LocalSettings, options: EndpointOptions) -> None:
        self._name = name
        self._settings = settings
        self._options = options
        self._engines: list[Engine] = []
        self._clients: list[OpenAIEndpoint] = []
        self._free: asyncio.Queue[OpenAIEndpoint] = asyncio.Queue()
        self._weights: Weights | None = None
        self._draft: Weights | None = None
        self._abandoned = False

    @property
    def name(self) -> str:
        """Name in the configuration or from the command line."""
        return self._name

    @property
    def label(self) -> str:
        """Model and quantization, and how those weights came to be."""
        settings = self._settings
        if settings.label is not None:
            return settings.label
        told = describe(settings.model)
        if settings.draft is None:
            return told
        return f"{told}, {settings.draft_tokens} tokens ahead by {_short(settings.draft)}"

    def __repr__(self) -> str:
        return f"LocalEndpoint({self._name!r}, model={self._settings.model!r})"

    async def __aenter__(self) -> Self:
        """Make the weights if they are not there yet, and start the engine.

        Raises:
            MissingExtraError: When a package is not installed.
            StoreError: When the weights cannot be read, or made.
            ServerError: When the engine does not load them.
        """
        self._abandoned = False
        try:
            await asyncio.to_thread(self._load)
            self._free = asyncio.Queue()
            for engine in self._engines:
                client = await self._connect(engine).__aenter__()
                self._clients.append(client)
                self._free.put_nowait(client)
        except BaseException:
            await self._release()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the engine, so that the next one finds free memory and cores."""
        await self._release()

    async def identity(self) -> Identity:
        """Say what is served: the file's hash and quantization, the engine and its version.

        Raises:
            EndpointError: When the engine does not answer.
        """
        weights = self._opened()
        served = await self._clients[0].identity()
        model = self._settings.model
        embedded = model in RECIPES
        details: dict[str, Any] = {"file": weights.path.name, **served.details}
        if embedded:
            details["published_as"] = PUBLISHED
        if self._draft is not None:
            drafted = {"hash": self._draft.sha256, "tokens": self._settings.draft_tokens}
            details["draft"] = {"file": self._draft.path.name, **drafted}
            served = replace(served, command_hash=digest(drafted))
        return replace(
            served,
            kind="local",
            model=MODEL if embedded else weights.path.stem,
            engine="llama.cpp (xllamacpp)",
            engine_version=engine_version(),
            quantization=(
                RECIPES[model].quantization if embedded else await _quantization(weights.path)
            ),
            base_url=None,
            weights_hash=weights.sha256,
            weights_bytes=weights.size,
            hardware=hardware(),
            details=details,
        )

    async def send(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """Ask once.

        Raises:
            EndpointError: See `Endpoint.send`.
        """
        self._opened()
        # The deadline of an attempt begins when an engine is free to work on it.
        client = await self._free.get()
        try:
            return await client.send(messages, sampling)
        finally:
            self._free.put_nowait(client)

    async def send_timed(
        self, messages: tuple[Message, ...], sampling: Sampling, extra: Mapping[str, Any]
    ) -> TimedReply:
        """Ask once, as a stream; see `Timed`.

        Raises:
            EndpointError: See `Endpoint.send`.
        """
        self._opened()
        client = await self._free.get()
        try:
            return await client.send_timed(messages, sampling, extra)
        finally:
            self._free.put_nowait(client)

    def body(self, messages: tuple[Message, ...], sampling: Sampling) -> dict[str, Any]:
        """Return the JSON that `send` would post."""
        self._opened()
        return self._clients[0].body(messages, sampling)

    def leave_out(self, fields: Collection[str]) -> None:
        """Send these sampling fields no more."""
        for client in self._clients:
            client.leave_out(fields)

    def scrub(self, text: str) -> str:
        """Return the text: there are no secrets here."""
        return text

    async def exchange(self, page: str, data: bytes | None = None) -> tuple[int, bytes]:
        """Get a page of the engine, or post to it; see `Inspectable`.

        Raises:
            EndpointError: When there is no whole response.
        """
        self._opened()
        client = await self._free.get()
        try:
            return await client.exchange(page, data)
        finally:
            self._free.put_nowait(client)

    @property
    def servers(self) -> tuple[Inspectable, ...]:
        """Its engines; see `Several`."""
        self._opened()
        return tuple(self._clients)

    def _load(self) -> None:
        """Run in a thread: hashing and making weights take seconds."""
        settings = self._settings
        self._weights = find_weights(settings.model, self._options)
        if settings.draft is not None:
            self._draft = find_weights(settings.draft, self._options)
        options = EngineOptions(
            path=self._weights.path,
            alias=self._name,
            threads=max(1, settings.threads // settings.engines),
            slots=1,
            context=settings.context,
            log_path=self._options.log_path,
            draft=None if self._draft is None else self._draft.path,
            draft_tokens=settings.draft_tokens,
        )
        for _ in range(settings.engines):
            if self._abandoned:
                break
            self._engines.append(Engine.start(options))
        if self._abandoned:
            self._stop()

    def _stop(self) -> None:
        while self._engines:
            self._engines.pop().stop()

    def _connect(self, engine: Engine) -> OpenAIEndpoint:
        settings = OpenAISettings(base_url=engine.url, model=self._name, api_key_env="")
        return OpenAIEndpoint(self._name, settings, self._options)

    def _opened(self) -> Weights:
        if not self._clients or self._weights is None:
            raise RuntimeError("an endpoint is used inside 'async with'")
        return self._weights

    async def _release(self) -> None:
        # A cancelled start goes on in its thread, which then stops what it started.
        self._abandoned = True
        while self._clients:
            await self._clients.pop().__aexit__(None, None, None)
        await asyncio.to_thread(self._stop)


def find_weights(model: str, options: EndpointOptions) -> Weights:
    """Return a quantization of the embedded model, or hash a GGUF file.

    Raises:
        MissingExtraError: When a package is not installed.
        StoreError: When the weights cannot be read, or made.
    """
    if model in RECIPES:
        return embedded_weights(model, options.notify or _log.info)
    try:
        return hash_file(Path(model))
    except OSError as error:
        raise StoreError(f"{model} cannot be read: {error.strerror or error}.") from error


def describe(model: str) -> str:
    """Say honestly what an embedded quantization is, or name the file."""
    if model not in RECIPES:
        return Path(model).name
    recipe = RECIPES[model]
    if model == "f16":
        return f"{MODEL}, F16 (expanded from weights published as {PUBLISHED})"
    damaged = ", worse on purpose" if recipe.bits is not None else ""
    return (
        f"{MODEL}, {recipe.quantization} "
        f"(requantized from weights published as {PUBLISHED}{damaged})"
    )


def _short(model: str) -> str:
    return RECIPES[model].quantization if model in RECIPES else Path(model).name


async def _quantization(path: Path) -> str | None:
    return await asyncio.to_thread(file_quantization, path)


@ENDPOINTS.register("local")
def local_endpoint(name: str, raw: Mapping[str, Any], options: EndpointOptions) -> Endpoint:
    """Make an endpoint of `kind: local` from its configuration: of a checkpoint, or llama.cpp's.

    Raises:
        ConfigError: Naming endpoint and key.
        MissingExtraError: When a package is not installed, before anything was begun.
    """
    if is_checkpoint(raw.get("model")):
        from evalkit.endpoints.offline import checkpoint_endpoint

        return checkpoint_endpoint(name, raw, options)
    settings = check_settings(LocalSettings, name, raw)
    require_engine()
    for model in filter(None, (settings.model, settings.draft)):
        if model in RECIPES:
            source_path()
        elif Path(model).suffix != ".gguf":
            raise ConfigError(f"Endpoint '{name}': {model} is not a .gguf file.")
    return LocalEndpoint(name, settings, options)
