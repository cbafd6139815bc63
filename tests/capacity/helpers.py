"""Models and plans for the tests of capacity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalkit.capacities import Capacity
from evalkit.capacity.budget import Draft, Workload, plan_capacity
from evalkit.capacity.formats import Layout, find_format
from evalkit.capacity.hf_config import model_from_config
from evalkit.capacity.model import Model

HERE = Path(__file__).parent
PUBLISHED = HERE / "published"

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "vocab_size": 1000,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
}


def config(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((PUBLISHED / folder / "config.json").read_text("utf-8"))
    return found


def model(raw: dict[str, Any]) -> Model:
    return model_from_config(raw, "m", "config.json")


def layouts(*names: str) -> list[Layout]:
    return [Layout(name, find_format(name)) for name in names]


def plan(found: Model, *names: str, draft: Draft | None = None, **changes: Any) -> Capacity:
    work: dict[str, Any] = {
        "context": 1024,
        "concurrency": 2,
        "kv": "bf16",
        "engine": "vllm",
        "prefill_tokens": 512,
        "reserve": 1_000_000,
        "headroom": 0.2,
        "device": None,
    }
    return plan_capacity(found, layouts(*names), Workload(**{**work, **changes}), draft)
