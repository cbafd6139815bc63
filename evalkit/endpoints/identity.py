"""What a server says about itself, where it says anything at all."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from evalkit.endpoints.checkpoint import read_checkpoint
from evalkit.endpoints.tokens import TokenPages
from evalkit.endpoints.urls import Address
from evalkit.errors import (
    AuthError,
    CertificateError,
    ConnectError,
    EndpointError,
    NotFoundError,
)
from evalkit.fingerprint import digest
from evalkit.types import Identity, Message

TOKENIZER_TEXT: Final = "Hello, wörld! 你好，世界 🎉👩‍💻 12345 3.14\n\tdef f(x):  return x**2"
RENDERED: Final = (
    Message("system", "Be brief."),
    Message("user", "What is 2 + 2?"),
    Message("assistant", "4"),
    Message("user", "And 3 + 3?"),
)


class Probe(Protocol):
    """Gets a page, or posts to it: status, and JSON or `None`."""

    async def __call__(self, url: str, data: bytes | None = None, /) -> tuple[int, Any]:
        """Return what the page says, whatever it is."""


_ENGINES = {
    "vllm": "vLLM",
    "llamacpp": "llama.cpp",
    "sglang": "SGLang",
    "transformers": "transformers",
}


@dataclass(frozen=True, slots=True)
class ModelList:
    """What `/v1/models` says; empty when the server has no such page."""

    entries: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, data: Any) -> ModelList:
        """Read the page's JSON, whatever it is."""
        items = data.get("data") if isinstance(data, Mapping) else None
        entries = items if isinstance(items, list) else []
        return cls(
            tuple(e for e in entries if isinstance(e, Mapping) and isinstance(e.get("id"), str))
        )

    @property
    def ids(self) -> list[str]:
        """Names of the models."""
        return [entry["id"] for entry in self.entries]

    def find(self, model: str) -> Mapping[str, Any] | None:
        """Return the entry of a model.

        Ollama lists `name:latest` for `name`, and some clouds put a folder before it.
        """
        for entry in self.entries:
            aliases = entry.get("aliases")
            names = [entry["id"], *(aliases if isinstance(aliases, list) else [])]
            if model in names or f"{model}:latest" in names:
                return entry
        return next((e for e in self.entries if e["id"].endswith(f"/{model}")), None)


async def find_identity(model: str, address: Address, probe: Probe) -> Identity:
    """Read `/v1/models`, `/version`, `/props` and `/tokenize`. What is not there stays `None`.

    The `config.json` of a checkpoint is read where the server names a folder of this machine.

    Raises:
        NotFoundError: When the server lists its models, and this is not one of them.
            llama.cpp is excepted: it answers to any name, and `details` says so.
        EndpointError: When the server cannot be reached or refuses the key.
    """
    models = ModelList.read(await _optional(probe, address.api + "/models", required=True))
    version = await _optional(probe, address.root + "/version")
    props = await _optional(probe, address.root + "/props")
    engine = _engine(models, version, props)
    entry = models.find(model)
    details: dict[str, Any] = {}
    if entry is None and models.entries:
        if engine != "llama.cpp":
            raise _unknown_model(model, models, address)
        entry = models.entries[0]
        details["listed_as"] = entry["id"]
    entry = entry or {}
    meta = _mapping(entry.get("meta"))
    for key, source in (("root", entry), ("n_params", meta), ("size", meta)):
        if source.get(key) is not None:
            details[key] = source[key]
    template = props.get("chat_template")
    quantization = _text(props.get("model_ftype")) or _text(meta.get("ftype"))
    checkpoint = read_checkpoint(str(details.get("root", ""))) if address.loopback else None
    if checkpoint is not None:
        details["config_quantized"] = checkpoint.quantized
        quantization = quantization or checkpoint.quantization
    pages = TokenPages(lambda page, data: probe(address.root + page, data), model, engine)
    return Identity(
        kind="openai",
        model=model,
        engine=engine,
        engine_version=_text(version.get("version")) or _build(props),
        quantization=quantization,
        base_url=address.api,
        context_length=_count(entry.get("max_model_len")) or _count(meta.get("n_ctx")),
        template_hash=digest(template) if isinstance(template, str) and template else None,
        tokenizer_hash=_hash(await pages.tokens(TOKENIZER_TEXT)),
        rendering_hash=_hash(await pages.rendered(RENDERED)),
        details=details,
    )


async def _optional(probe: Probe, url: str, *, required: bool = False) -> Mapping[str, Any]:
    """Return a page's JSON object, or an empty one when there is no such page."""
    try:
        status, data = await probe(url)
    except (ConnectError, AuthError, CertificateError):
        if required:
            raise
        return {}
    except EndpointError:
        return {}
    return _mapping(data) if status == 200 else {}


def _engine(models: ModelList, version: Mapping[str, Any], props: Mapping[str, Any]) -> str | None:
    for entry in models.entries:
        owner = entry.get("owned_by")
        if isinstance(owner, str) and owner.lower() in _ENGINES:
            return _ENGINES[owner.lower()]
    return "llama.cpp" if "build_info" in props else None


def _unknown_model(model: str, models: ModelList, address: Address) -> NotFoundError:
    ids = models.ids
    near = difflib.get_close_matches(model, ids, n=3, cutoff=0.4)
    listed = ", ".join(ids[:10]) + (", …" if len(ids) > 10 else "")
    hint = f"Did you mean {' or '.join(near)}?" if near else f"It serves: {listed}."
    return NotFoundError(f"{address.api} does not serve a model '{model}'.", hint=hint, status=404)


def _build(props: Mapping[str, Any]) -> str | None:
    # Builds outside a git checkout say "b0-unknown", which would be equal for all of them.
    build = _text(props.get("build_info"))
    return None if build is None or build.endswith("unknown") else build


def _hash(tokens: tuple[int, ...] | None) -> str | None:
    return None if tokens is None else digest(list(tokens))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
