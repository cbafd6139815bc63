"""New weights or a new engine: told from identities, never from names."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest

from evalkit.decision.lineage import release_change
from evalkit.types import Identity

VLLM = Identity(
    kind="openai", model="m", engine="vLLM", engine_version="0.10", weights_hash="aa",
    quantization="Q4_K", base_url="http://a/v1",
)  # fmt: skip
BARE = Identity(kind="openai", model="m", base_url="http://a/v1")
UNHASHED = replace(VLLM, weights_hash=None)


@pytest.mark.parametrize(
    ("before", "after", "weights", "engine"),
    [
        (VLLM, VLLM, "same", "same"),
        (VLLM, replace(VLLM, base_url="http://b/v1", model="n"), "same", "same"),
        (VLLM, replace(VLLM, engine_version="0.11"), "same", "new"),
        (VLLM, replace(VLLM, engine="SGLang"), "same", "new"),
        (VLLM, replace(VLLM, engine_version=None), "same", "unknown"),
        (VLLM, replace(VLLM, weights_hash="bb"), "new", "same"),
        (VLLM, replace(VLLM, weights_hash="bb", engine_version="0.11"), "new", "new"),
        # The hash covers what a server calls the same file.
        (VLLM, replace(VLLM, quantization="int4"), "same", "same"),
        (UNHASHED, UNHASHED, "unknown", "same"),
        (UNHASHED, replace(UNHASHED, model="other"), "unknown", "same"),
        (UNHASHED, replace(UNHASHED, quantization="Q8_0"), "new", "same"),
        (UNHASHED, replace(UNHASHED, details={"size": 7}), "unknown", "same"),
        (
            replace(UNHASHED, details={"size": 6}),
            replace(UNHASHED, details={"size": 7}),
            "new",
            "same",
        ),
        (UNHASHED, VLLM, "unknown", "same"),
        (BARE, replace(BARE, model="n"), "unknown", "unknown"),
        (BARE, replace(BARE, engine="vLLM"), "unknown", "unknown"),
        (
            replace(VLLM, command_hash="c"),
            replace(VLLM, command_hash="d"),
            "same",
            "new",
        ),
        # Another file stands in the command, too: it says nothing of the engine.
        (
            replace(VLLM, command_hash="c"),
            replace(VLLM, command_hash="d", weights_hash="bb"),
            "new",
            "same",
        ),
    ],
)
def test_what_changed(before: Identity, after: Identity, weights: str, engine: str) -> None:
    found = release_change("q4", asdict(before), asdict(after))
    assert (found.weights, found.engine) == (weights, engine)
    back = release_change("q4", asdict(after), asdict(before))
    assert (back.weights, back.engine) == (weights, engine)
    assert back.fields == {name: (new, old) for name, (old, new) in found.fields.items()}


def test_a_damaged_identity_tells_nothing() -> None:
    odd: dict[str, Any] = {"details": "x", "engine": None}
    found = release_change("q4", odd, {})
    assert (found.weights, found.engine, found.fields) == ("unknown", "unknown", {})
