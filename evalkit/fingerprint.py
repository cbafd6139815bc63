"""Hashes that decide what is the same: prompts, requests, identities, policies."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, is_dataclass
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

from evalkit.types import Identity, Message, Sampling

_LENGTH = 32
_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, dataclasses as objects.

    Raises:
        TypeError: For what JSON cannot hold.
        ValueError: For NaN and infinity, which JSON does not have.
    """
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    return _CANONICAL.encode(value)


def digest(value: Any) -> str:
    """Hash a value (SHA-256 of its canonical JSON, first 128 bits as hex)."""
    return _sha256(canonical(value))


def digest_and_seal(value: Any) -> tuple[str, str]:
    """Return the hash that may be published, and one that only who has the value can make.

    They are the two halves of one SHA-256: the first says nothing of the second.
    """
    whole = hashlib.sha256(canonical(value).encode()).hexdigest()
    return whole[:_LENGTH], whole[_LENGTH:]


def keyed_digest(key: bytes, value: Any) -> str:
    """Hash a value so that only who has the key can tell what was hashed (HMAC-SHA256)."""
    return hmac.new(key, canonical(value).encode(), hashlib.sha256).hexdigest()[:_LENGTH]


def digest_and_seal_rows(head: Any, rows: Iterable[Any]) -> tuple[str, str]:
    """Return what `digest_and_seal` says of `{"head": head, "rows": [*rows]}`.

    Only one row at a time is held.
    """
    hashed = hashlib.sha256(f'{{"head":{canonical(head)},"rows":['.encode())
    comma = b""
    for row in rows:
        hashed.update(comma + canonical(row).encode())
        comma = b","
    hashed.update(b"]}")
    whole = hashed.hexdigest()
    return whole[:_LENGTH], whole[_LENGTH:]


def prompt_hash(messages: tuple[Message, ...], sampling: Sampling) -> str:
    """Hash what an endpoint is asked, whoever is asked: equal for both arms of a pair."""
    return prompt_hashes(sampling)(messages)


def prompt_hashes(sampling: Sampling) -> Callable[[tuple[Message, ...]], str]:
    """Return `prompt_hash` of one sampling, for many prompts.

    It is `digest` of messages and sampling, of which the second text is made only once.
    """
    known = canonical(sampling)

    def hashed(messages: tuple[Message, ...]) -> str:
        turns = ",".join(f'{{"content":{_quoted(m.content)},"role":"{m.role}"}}' for m in messages)
        return _sha256(f'{{"messages":[{turns}],"sampling":{known}}}')

    return hashed


def identity_key(identity: Identity) -> Mapping[str, Any]:
    """Return the part of an identity that must be equal for an answer to be reused.

    Known weights make the address irrelevant: the same file may be served on another port.
    Without a weights hash the address is part of what the endpoint is; where evalkit starts
    the server itself, the command stands in its place.
    """
    key: dict[str, Any] = {
        "kind": identity.kind,
        "model": identity.model,
        "engine": identity.engine,
        "engine_version": identity.engine_version,
        "quantization": identity.quantization,
        "context_length": identity.context_length,
        "template_hash": identity.template_hash,
        "weights_hash": identity.weights_hash,
    }
    if identity.request_hash is not None:
        key["request_hash"] = identity.request_hash
    if identity.weights_hash is None:
        key["base_url"] = identity.base_url
    if identity.command_hash is not None:
        key["command_hash"] = identity.command_hash
    if identity.recording_hash is not None:
        key["recording_hash"] = identity.recording_hash
    return key


def request_fingerprint(identity: Identity, prompt: str, epoch: int) -> str:
    """Hash the key under which a completion may be reused.

    Args:
        identity: What the endpoint was found to be.
        prompt: The request's prompt hash.
        epoch: Number of the repeat.
    """
    return request_fingerprints(identity)(prompt, epoch)


def request_fingerprints(identity: Identity) -> Callable[[str, int], str]:
    """Return `request_fingerprint` of one endpoint, for many requests."""
    known = canonical(identity_key(identity))

    def fingerprint(prompt: str, epoch: int) -> str:
        return _sha256(f'{{"epoch":{epoch},"identity":{known},"prompt":{_quoted(prompt)}}}')

    return fingerprint


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
