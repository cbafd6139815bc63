"""Quantizations that a configuration declares, and what it must not be able to do."""

from __future__ import annotations

import time
from typing import Any

import pytest

from evalkit.capacity.declared import declared_kv, declared_layout
from evalkit.capacity.formats import Layout, weight_bytes
from evalkit.errors import ConfigError
from tests.capacity.helpers import LLAMA, layouts, model

LINEAR = 4 * (256 * 640 + 3 * 256 * 512)
REST = 2 * (2 * 1000 * 256 + 9 * 256)


def declared(**quantization: Any) -> Layout:
    found = declared_layout({**LLAMA, "quantization_config": quantization}, "config.json")
    assert found is not None
    return found


def size(**quantization: Any) -> int:
    return weight_bytes(declared(**quantization), model(LLAMA).tensors)


def groups(scheme: dict[str, Any], targets: list[str] | None = None, **more: Any) -> dict[str, Any]:
    group = {"targets": targets or ["Linear"], "weights": scheme}
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, **more}


INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128, "symmetric": True}
FP8 = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}
SCALES = 4 * (256 + 64 + 64 + 256 + 512 + 512 + 256)


@pytest.mark.parametrize(
    ("quantization", "by_hand"),
    [
        (
            {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True},
            LINEAR // 2 + LINEAR // 64 * 2 + LINEAR // 64 // 2,
        ),
        (groups(INT4, ignore=["lm_head"]), LINEAR // 2 + LINEAR // 128 * 2),
        (groups(FP8), LINEAR + 2 * SCALES),
        ({"quant_method": "fp8", "activation_scheme": "dynamic"}, LINEAR + 4 * SCALES),
        (
            {"quant_method": "fp8", "weight_block_size": [32, 32]},
            LINEAR + LINEAR // 1024 * 4,
        ),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True,
             "bnb_4bit_use_double_quant": True},
            LINEAR // 2 + LINEAR // 64 + LINEAR // 64 // 256 * 4,
        ),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, LINEAR + 4 * SCALES),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, LINEAR // 2 + LINEAR // 16),
    ],
)  # fmt: skip
def test_methods_by_hand(quantization: dict[str, Any], by_hand: int) -> None:
    # Scales of scales are shared by matrices: each rounds up to whole bytes.
    assert size(**quantization) == pytest.approx(REST + by_hand, abs=200)


@pytest.mark.parametrize(
    "left_out",
    [
        ["mlp"],
        ["re:.*mlp.*"],
        ["model.layers.*.mlp"],
        [f"model.layers.{i}.mlp.{name}_proj" for i in range(4) for name in ("up", "down", "gate")],
    ],
)
def test_modules_that_are_left_out_stay_at_16_bits(left_out: list[str]) -> None:
    mlp = 4 * 3 * 256 * 512
    rest = LINEAR - mlp
    assert size(**groups(INT4, ignore=left_out)) == REST + 2 * mlp + rest // 2 + rest // 128 * 2


def test_formats_by_target() -> None:
    found = groups(FP8, targets=["re:.*self_attn.*"])
    found["config_groups"]["group_1"] = {"targets": ["Linear"], "weights": INT4}
    attention, mlp = 4 * 256 * 640, 4 * 3 * 256 * 512
    scales = 4 * (256 + 64 + 64 + 256)
    expected = REST + attention + 2 * scales + mlp // 2 + mlp // 128 * 2
    assert size(**found) == expected


def test_plain_types_and_the_cache_that_is_asked_for() -> None:
    plain = declared_layout({**LLAMA, "torch_dtype": "float32"}, "config.json")
    assert plain is not None
    (full,) = layouts("fp32")
    assert plain.base == full.base
    assert declared_layout(LLAMA, "config.json") is None
    scheme = {"num_bits": 8, "type": "float"}
    assert declared_kv({"quantization_config": {"kv_cache_scheme": scheme}}) == "fp8"
    assert declared_kv(LLAMA) is None


@pytest.mark.parametrize(
    ("quantization", "word"),
    [
        ({"quant_method": "hqq"}, "hqq"),
        ({"quant_method": ["gptq"]}, "method"),
        ({"quant_method": "gptq"}, "bits"),
        ({"quant_method": "gptq", "bits": 99}, "bits"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {"+:x": {"bits": 8}}}, "settings"),
        ({"quant_method": "bitsandbytes"}, "load_in"),
        ({"quant_method": "compressed-tensors"}, "config_groups"),
        (groups({**INT4, "type": "complex"}), "complex"),
        (groups({**INT4, "strategy": "astral"}), "astral"),
        ({"quant_method": "fp8", "weight_block_size": [0, "x"]}, "weight_block_size"),
        ({"quant_method": "awq", "bits": 4, "modules_to_not_convert": "lm_head"}, "no list"),
        (groups(INT4, ignore=["re:("]), "not understood"),
    ],
)
def test_what_is_not_understood_is_said(quantization: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        declared(**quantization)


@pytest.mark.parametrize(
    "pattern",
    ["re:(a+)+$", "re:(.*)*x", r"re:(x)\1", "re:.*.*.*.*.*x", "*" * 50, "re:" + "a" * 999],
)
def test_patterns_that_could_take_for_ever_are_not_run(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(ConfigError, match="not understood"):
        declared(**groups(INT4, ignore=[pattern]))
    assert time.process_time() - began < 0.5
