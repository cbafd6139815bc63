"""What a configuration may say of `kind: openai`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, field_validator

from evalkit.endpoints.completions import PromptSettings
from evalkit.endpoints.connection import ConnectionSettings
from evalkit.endpoints.credentials import check_variable, clean_headers
from evalkit.endpoints.settings import require_json
from evalkit.endpoints.urls import parse_address, server_key

_SHOWN_HOSTS = 3


class OpenAISettings(PromptSettings, ConnectionSettings):
    """Configuration of `kind: openai`.

    Attributes:
        base_url: With or without `/v1`, or the full address of completions. A list of them:
            servers of the same build, among which requests are shared out.
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
        hardware: What it runs on, for the report.
    """

    kind: Literal["openai"] = "openai"
    base_url: str | tuple[str, ...] = Field(repr=False)
    model: str = Field(min_length=1)
    label: str | None = None
    api_key_env: str | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    extra_body: dict[str, Any] = Field(default_factory=dict, repr=False)
    omit: tuple[str, ...] = ()
    stream: bool = False
    client_stop: bool = False
    hardware: str | None = None

    def label_at(self, hosts: Sequence[str]) -> str:
        """Return the label, or else the model and where it is served."""
        shown = ", ".join(hosts[:_SHOWN_HOSTS])
        more = f" and {len(hosts) - _SHOWN_HOSTS} more" if len(hosts) > _SHOWN_HOSTS else ""
        return self.label or f"{self.model} at {shown}{more}"

    def unusual(self) -> dict[str, Any]:
        """Return what is set of the keys that change requests, and so may change answers."""
        keys = ("api", "extra_body", "omit", "client_stop")
        fields = {key: type(self).model_fields[key] for key in keys}
        usual = {key: one.get_default(call_default_factory=True) for key, one in fields.items()}
        return {key: getattr(self, key) for key in keys if getattr(self, key) != usual[key]}

    @field_validator("extra_body")
    @classmethod
    def _are_further_fields(cls, value: dict[str, Any]) -> dict[str, Any]:
        for name in sorted({"model", "messages", "prompt"} & value.keys()):
            raise ValueError(f"{name} is evalkit's own field")
        if value.get("n", 1) != 1:
            raise ValueError("n would throw answers away; ask for more with epochs")
        return require_json(value)

    @property
    def base_urls(self) -> tuple[str, ...]:
        """Every address, also of a single server."""
        return (self.base_url,) if isinstance(self.base_url, str) else self.base_url

    @field_validator("base_url", mode="before")
    @classmethod
    def _are_addresses(cls, value: Any) -> Any:
        urls = [value] if isinstance(value, str) else value
        if not isinstance(urls, (list, tuple)) or not urls:
            raise ValueError("it must be an address or a list of addresses")
        for url in urls:
            if not isinstance(url, str):
                raise ValueError("it must hold addresses, as texts")
            parse_address(url)
        if len({server_key(url) for url in urls}) < len(urls):
            raise ValueError("it names the same server twice")
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
