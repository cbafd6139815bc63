from __future__ import annotations

from dataclasses import replace

import pytest

from evalkit.collect.preflight import compare_identities
from evalkit.types import Identity

LLAMA = Identity(
    kind="openai",
    model="a",
    engine="llama.cpp",
    engine_version="b1",
    quantization="Q8_0",
    base_url="http://h:1/v1",
    context_length=2048,
    template_hash="t",
    tokenizer_hash="k",
    rendering_hash="r",
)


def statuses(a: Identity, b: Identity) -> dict[str, str]:
    return {finding.code: finding.status for finding in compare_identities(a, b)}


def test_two_quantizations_on_two_ports_are_comparable() -> None:
    other = replace(LLAMA, base_url="http://h:2/v1", quantization="Q4_0")
    assert set(statuses(LLAMA, other).values()) == {"ok"}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"engine": "vLLM"}, "engine"),
        ({"engine_version": "b2"}, "engine_version"),
        ({"context_length": 512}, "context_length"),
        ({"template_hash": "u"}, "template_hash"),
        ({"request_hash": "r"}, "request"),
        ({"tokenizer_hash": "l"}, "tokenizer_hash"),
        ({"rendering_hash": "s"}, "rendering_hash"),
    ],
)
def test_a_confounder_is_seen(changes: dict[str, object], code: str) -> None:
    found = statuses(LLAMA, replace(LLAMA, base_url="http://h:2/v1", **changes))  # type: ignore[arg-type]
    assert found.pop(code) == "differs"
    assert set(found.values()) == {"ok"}


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        (LLAMA, LLAMA, "differs"),
        (LLAMA, replace(LLAMA, quantization="Q4_0"), "differs"),
        (LLAMA, replace(LLAMA, model="b"), "ok"),
        # A server that answers to any name lists the one that it serves.
        (LLAMA, replace(LLAMA, model="b", details={"listed_as": "a"}), "differs"),
        (
            replace(LLAMA, weights_hash="w"),
            replace(LLAMA, weights_hash="w", base_url="http://h:2/v1"),
            "differs",
        ),
        (
            replace(LLAMA, weights_hash="w", base_url=None),
            replace(LLAMA, weights_hash="v", base_url=None),
            "ok",
        ),
    ],
)
def test_the_same_endpoint_twice(a: Identity, b: Identity, status: str) -> None:
    assert statuses(a, b)["distinct"] == status


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        ("http://127.0.0.1:9301/v1", "http://localhost:9301/v1", "differs"),
        ("http://[::1]:9301/v1", "http://0.0.0.0:9301/v1", "differs"),
        ("http://LocalHost:9301/v1/", "http://127.0.0.1:9301", "differs"),
        ("https://Api.Example.com/v1", "https://api.example.com:443/v1/", "differs"),
        ("http://h:80/v1?x=1", "http://h", "differs"),
        ("http://127.0.0.1:9301/v1", "http://localhost:9302/v1", "ok"),
        ("http://127.0.0.1:9301/v1", "http://h:9301/v1", "ok"),
        ("http://h/a/v1", "http://h/b/v1", "ok"),
        ("http://h/v1", "https://h/v1", "ok"),
    ],
)
def test_the_same_server_by_another_spelling(a: str, b: str, status: str) -> None:
    first, other = replace(LLAMA, base_url=a), replace(LLAMA, base_url=b)
    assert statuses(first, other)["distinct"] == status
    assert statuses(other, first)["distinct"] == status


def test_what_is_not_told_is_not_called_equal() -> None:
    found = statuses(LLAMA, Identity(kind="openai", model="a", base_url="http://h:2/v1"))
    assert found.pop("distinct") == found.pop("request") == "ok"
    assert set(found.values()) == {"not_testable"}
