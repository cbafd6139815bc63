"""Do two endpoints differ in anything but the quantization, and are they two at all?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.collect.preflight.findings import Finding
from evalkit.collect.preflight.logprobs import same_numbers
from evalkit.endpoints.urls import share_a_server
from evalkit.fingerprint import identity_key
from evalkit.types import Identity

_EQUAL = (
    ("engine", "engines"),
    ("engine_version", "engine versions"),
    ("context_length", "context lengths"),
    ("template_hash", "chat templates"),
    ("tokenizer_hash", "tokenizers"),
    ("rendering_hash", "rendered conversations"),
)
# Of what is recorded since later, silence says nothing.
_SILENT = ("tokenizer_hash", "rendering_hash")


def identity_finding(identity: Identity) -> Finding:
    """Say what an endpoint says it is."""
    known = " ".join(filter(None, (identity.engine, identity.engine_version)))
    what = ", ".join(filter(None, (identity.model, identity.quantization, known)))
    evidence = {"identity": dict(identity_key(identity))}
    return Finding("identity", "ok", f"It says it is {what}.", evidence)


def compare_identities(a: Identity, b: Identity) -> list[Finding]:
    """Say whether two endpoints differ in anything but the quantization.

    Args:
        a: The baseline.
        b: The candidate.
    """
    found = [_distinct(a, b), _asked_alike(a, b)]
    for name, words in _EQUAL:
        one, other = getattr(a, name), getattr(b, name)
        if name not in _SILENT or (one is not None and other is not None):
            found.append(_equal(name, words, one, other))
    return found


def answers_finding(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Finding]:
    """Say whether two endpoints answer everything alike, as one would twice.

    Args:
        a: All that was seen of the baseline.
        b: All that was seen of the candidate.
    """
    texts_a, texts_b = _texts(a), _texts(b)
    evidence = {"replies": len(texts_a)}
    same = same_numbers(a["logprobs"], b["logprobs"])
    if same:
        message = "Both compute the very same numbers: the same endpoint twice?"
        return [Finding("same_answers", "differs", message, evidence)]
    if texts_a == texts_b and same is None:
        message = (
            f"Both answered all {len(texts_a)} probing prompts word for word alike, and give no "
            "log-probabilities to tell them apart: the same endpoint twice?"
        )
        return [Finding("same_answers", "differs", message, evidence, blocks=False)]
    return [Finding("same_answers", "ok", "They do not answer everything alike.", evidence)]


def _texts(seen: Mapping[str, Any]) -> list[Any]:
    counted = [row["heard"].get("text") for row in seen["counting"]["prompts"]]
    return [*counted, *seen["sampling"]["texts"][:1]]


def _distinct(a: Identity, b: Identity) -> Finding:
    key_a, key_b = dict(identity_key(a)), dict(identity_key(b))
    evidence = {"baseline": key_a, "candidate": key_b}
    if a.weights_hash is not None and a.weights_hash == b.weights_hash:
        return Finding("distinct", "differs", "Both are the same weights.", evidence)
    if key_a == key_b or _same_address(a, b):
        return Finding("distinct", "differs", "Both names are the same endpoint.", evidence)
    return Finding("distinct", "ok", "They are two endpoints.", evidence)


def _same_address(a: Identity, b: Identity) -> bool:
    if a.base_url is None or b.base_url is None:
        return False
    if not share_a_server(a.base_url, b.base_url):
        return False
    # A server that answers to any name answers to two names with one model.
    one, other = (str(each.details.get("listed_as", each.model)) for each in (a, b))
    return one == other


def _asked_alike(a: Identity, b: Identity) -> Finding:
    evidence = {"baseline": a.request_hash, "candidate": b.request_hash}
    if a.request_hash == b.request_hash:
        return Finding("request", "ok", "Both are asked alike.", evidence)
    said = "They are asked differently: api, extra_body or omit differ."
    return Finding("request", "differs", said, evidence)


def _equal(code: str, what: str, a: object, b: object) -> Finding:
    evidence = {"baseline": a, "candidate": b}
    if a is None or b is None:
        return Finding(code, "not_testable", f"The {what} are not told.", evidence)
    if a == b:
        return Finding(code, "ok", f"The {what} are equal.", evidence)
    return Finding(code, "differs", f"The {what} differ: {a} and {b}.", evidence)
