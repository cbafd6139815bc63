"""Plain completions: the prompt is rendered here, and its first token stands there once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from evalkit.endpoints.settings import EndpointSettings, require_json
from evalkit.errors import ConfigError, EndpointError

if TYPE_CHECKING:
    from evalkit.endpoints.templating import PromptTemplate

Api = Literal["chat", "completions"]
Post = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Sends an object to the server's page of tokens; returns JSON."""


class PromptSettings(EndpointSettings):
    """Which of both interfaces is asked, and who renders the messages.

    Attributes:
        api: `chat`: the server renders them; `completions`: evalkit does.
        chat_template: For `completions`: the template itself, a `.jinja` file, a
            `tokenizer_config.json`, the model's folder, or `plain` for none.
        tokenizer: For `completions`, instead: folder or hub id of a tokenizer, for
            transformers (extra `hf`).
        chat_template_kwargs: Further variables of the template.
    """

    api: Api = "chat"
    chat_template: str | None = None
    tokenizer: str | None = None
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)

    @field_validator("chat_template_kwargs")
    @classmethod
    def _are_variables(cls, value: dict[str, Any]) -> dict[str, Any]:
        return require_json(value)

    @model_validator(mode="after")
    def _fits_the_api(self) -> Self:
        own = ("chat_template", "tokenizer", "chat_template_kwargs")
        named = [name for name in own if getattr(self, name)]
        if self.api == "chat" and named:
            raise ValueError(
                f"{named[0]} is for api: completions; a chat server renders by itself, and is "
                "told through extra_body"
            )
        return self


def make_template(name: str, settings: PromptSettings) -> PromptTemplate | None:
    """Return what renders the messages, or `None` when the server does.

    Raises:
        ConfigError: Naming the endpoint.
        MissingExtraError: When transformers is wanted and not installed.
    """
    if settings.api == "chat":
        return None
    # Chats, the usual case, need no templates.
    from evalkit.endpoints.templating import load_template

    try:
        return load_template(
            settings.chat_template, settings.tokenizer, settings.chat_template_kwargs
        )
    except ConfigError as error:
        raise ConfigError(f"Endpoint '{name}': {error.message}", hint=error.hint) from error


class FirstToken:
    """Keeps the token that begins a prompt from standing there twice.

    A template writes it, and llama.cpp adds it when the model wants one, whatever the
    request says; for chats it takes the template's own away before, and so does this. vLLM
    is told to add none, and its page of tokens does not know what is asked of it here.
    """

    def __init__(self, bos: str | None, tokens_of: Post) -> None:
        self._bos = bos
        self._tokens_of = tokens_of
        self._added: bool | None = None

    async def find_out(self) -> None:
        """Ask the server what it does, once, where it matters.

        Raises:
            EndpointError: When the server cannot be asked now, and may be later.
        """
        if self._bos is not None and self._added is None:
            self._added = await self._adds()

    def single(self, prompt: str) -> str:
        """Return the prompt as it must be sent."""
        return prompt.removeprefix(self._bos) if self._bos and self._added else prompt

    async def _adds(self) -> bool:
        """Whether the server adds a token before a plain text."""
        try:
            bare = await self._tokens_of({"content": "a", "add_special": False})
            full = await self._tokens_of({"content": "a", "add_special": True})
        except EndpointError as error:
            if error.retryable:
                raise
            return False
        bare, full = _tokens(bare), _tokens(full)
        return len(full) > len(bare) > 0 and full[: len(bare)] != bare


def _tokens(data: Any) -> list[Any]:
    found = data.get("tokens") if isinstance(data, Mapping) else None
    return found if isinstance(found, list) else []
