"""Weights: against transformers' own counts, and against the sizes of published checkpoints."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evalkit.capacity.declared import declared_layout
from evalkit.capacity.families import FAMILIES
from evalkit.capacity.formats import weight_bytes
from evalkit.capacity.mixtures import mixed_layout
from evalkit.capacity.model import active_parameters, parameters, part_sizes
from evalkit.errors import UsageError
from tests.capacity.helpers import HERE, LLAMA, PUBLISHED, config, layouts, model

COUNTS = json.loads((HERE / "counts.json").read_text("utf-8"))["models"]
GGUF_SIZES = json.loads((PUBLISHED / "sizes.gguf.json").read_text("utf-8"))
SIZES = json.loads((PUBLISHED / "sizes.json").read_text("utf-8"))
GB = 1e9


@pytest.mark.parametrize("case", COUNTS, ids=lambda case: str(case["config"]["model_type"]))
def test_parameters_are_those_that_transformers_makes(case: dict[str, Any]) -> None:
    assert parameters(model(case["config"]).loaded(mtp=False)) == case["parameters"]


def test_every_family_was_counted_by_transformers() -> None:
    seen = {case["config"].get("text_config", case["config"])["model_type"] for case in COUNTS}
    # The same structure as deepseek_v3, from code of its own that transformers does not have.
    assert set(FAMILIES) - seen == {"kimi_k2"}


@pytest.mark.parametrize("case", SIZES, ids=lambda case: str(case["folder"]))
def test_published_checkpoints_are_met_within_a_percent(case: dict[str, Any]) -> None:
    raw = config(case["folder"])
    layout = declared_layout(raw, "config.json") or layouts("bf16")[0]
    assert weight_bytes(layout, model(raw).tensors) == pytest.approx(case["bytes"], rel=0.01)


@pytest.mark.parametrize("case", GGUF_SIZES, ids=lambda case: str(case["folder"]))
def test_published_gguf_files_are_met_within_a_percent(case: dict[str, Any]) -> None:
    found = model(config(case["folder"]))
    layout = mixed_layout(case["quantization"], found)
    assert weight_bytes(layout, found.tensors) == pytest.approx(case["bytes"], rel=0.01)


def test_mixtures_by_hand() -> None:
    found = model({**LLAMA, "num_hidden_layers": 8})
    # More bits for the first and the last layer, and for every third between.
    more = {0, 3, 6, 7}
    attention, v, down = 256 * 576, 256 * 64, 512 * 256
    bits = 1000 * 256 * (4.5 + 6.5625) + 17 * 256 * 32
    for layer in range(8):
        bits += (attention + 2 * 512 * 256) * 4.5
        bits += (v + down) * (6.5625 if layer in more else 4.5)
    assert weight_bytes(mixed_layout("q4_k_m", found), found.tensors) == bits / 8


@pytest.mark.parametrize(
    ("name", "megabytes"), [("q8_0", 144.8), ("q6_k", 138.4), ("q4_k_m", 105.5), ("q4_0", 91.7)]
)
def test_rows_without_whole_blocks_fall_back(name: str, megabytes: float) -> None:
    """SmolLM2-135M as llama.cpp's own quantizer writes it; 1.8 MB are header and vocabulary."""
    found = model(
        {
            "model_type": "llama",
            "vocab_size": 49152,
            "hidden_size": 576,
            "intermediate_size": 1536,
            "num_hidden_layers": 30,
            "num_attention_heads": 9,
            "num_key_value_heads": 3,
            "tie_word_embeddings": True,
        }
    )
    layout = mixed_layout(name, found) if name == "q4_k_m" else layouts(name)[0]
    assert weight_bytes(layout, found.tensors) / 1e6 + 1.8 == pytest.approx(megabytes, abs=0.1)


@pytest.mark.parametrize("folder", ["DeepSeek-V3", "Qwen3.6-35B-A3B"])
def test_a_mixture_is_refused_where_its_rule_is_not_known(folder: str) -> None:
    with pytest.raises(UsageError, match="not known"):
        mixed_layout("q4_k_m", model(config(folder)))


def test_a_35b_mixture_takes_70_gb_at_16_bits_and_20_at_4() -> None:
    loaded = model(config("Qwen3.6-35B-A3B")).loaded(mtp=False)
    sixteen, four = (weight_bytes(layout, loaded) / GB for layout in layouts("bf16", "int4"))
    assert sixteen == pytest.approx(70, rel=0.03)
    assert four == pytest.approx(20, rel=0.03)


@pytest.mark.parametrize(
    ("folder", "billions"),
    [("Mixtral-8x7B-v0.1", 12.9), ("Qwen3-30B-A3B", 3.3), ("DeepSeek-V3", 37.0)],
)
def test_active_parameters_are_the_published_ones(folder: str, billions: float) -> None:
    found = model(config(folder))
    active = active_parameters(found.loaded(mtp=False)) / 1e9
    assert active == pytest.approx(billions, rel=0.03)
    sizes = {size.part: size for size in part_sizes(found.tensors)}
    assert sizes["experts"].active < sizes["experts"].parameters
    assert sizes["attention"].active == sizes["attention"].parameters


def test_a_bill_by_hand() -> None:
    """One small llama, each format counted with pencil and paper."""
    tensors = model(LLAMA).tensors
    ends, linear, norms = 2 * 1000 * 256, 4 * (256 * 640 + 3 * 256 * 512), 9 * 256
    scales = 4 * (256 + 64 + 64 + 256 + 512 + 512 + 256)
    groups = linear // 128
    by_hand = {
        "bf16": 2 * (ends + linear + norms),
        "fp8": 2 * (ends + norms) + linear + 4 * scales,
        "int8": 2 * (ends + norms) + linear + 2 * scales,
        "int4": 2 * (ends + norms) + linear // 2 + groups * 2 + groups // 2,
        "gptq": 2 * (ends + norms)
        + linear // 2
        + groups * 2
        + groups // 2
        + 4 * 4 * (4 * 256 + 2 * 256 + 512),
        "nf4": 2 * (ends + norms) + linear // 2 + linear // 64 * 4,
        "mxfp4": 2 * (ends + norms) + linear // 2 + linear // 32,
        "q8_0": (ends + linear) * 34 // 32 + 4 * norms,
    }
    for layout in layouts(*by_hand):
        assert weight_bytes(layout, tensors) == by_hand[layout.name], layout.name


def test_a_tied_embedding_is_held_once() -> None:
    tied = model({**LLAMA, "tie_word_embeddings": True})
    whole = model(LLAMA)
    assert parameters(whole.tensors) - parameters(tied.tensors) == 1000 * 256


def test_groups_that_do_not_divide_are_rounded_up() -> None:
    (layout,) = layouts("int4")
    assert layout.base.matrix_bytes(1, 129) == 65 + 5


def test_what_is_no_linear_layer_stays_at_16_bits() -> None:
    found = model(config("Qwen3.6-35B-A3B"))
    (four,) = layouts("int4")
    for tensor in found.tensors:
        size = four.tensor_bytes(tensor, tied=False)
        kept = tensor.part in ("embedding", "head", "router", "norms", "mtp", "vision")
        assert (size == 2 * tensor.elements) is (kept or not tensor.linear), tensor.name
