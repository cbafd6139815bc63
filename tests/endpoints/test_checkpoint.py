from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.endpoints.checkpoint import read_checkpoint


def write(folder: Path, config: Any) -> str:
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    return str(folder)


@pytest.mark.parametrize(
    ("config", "quantization", "quantized"),
    [
        ({"torch_dtype": "bfloat16"}, "bf16", False),
        ({"dtype": "float16"}, "f16", False),
        ({"text_config": {"dtype": "bfloat16"}}, "bf16", False),
        ({"dtype": 7}, None, False),
        ({"quantization_config": {}, "dtype": "bfloat16"}, "bf16", False),
        (
            {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}},
            "gptq int4, groups of 128",
            True,
        ),
        ({"quantization_config": {"quant_method": "awq", "w_bit": 4}}, "awq int4", True),
        ({"quantization_config": {"quant_method": "fp8"}}, "fp8", True),
        (
            {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}},
            "bitsandbytes int4",
            True,
        ),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {
                        "group_0": {"weights": {"num_bits": 8, "type": "float"}},
                    },
                }
            },
            "compressed-tensors fp8",
            True,
        ),
        (
            {
                "quantization_config": {
                    "quant_method": "compressed-tensors",
                    "config_groups": {
                        "group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 64}},
                    },
                }
            },
            "compressed-tensors int4, groups of 64",
            True,
        ),
        ({"quantization_config": {"config_groups": {"a": 7}}}, "quantized", True),
    ],
)
def test_what_a_checkpoint_tells(
    tmp_path: Path, config: Any, quantization: str | None, quantized: bool
) -> None:
    found = read_checkpoint(write(tmp_path, config))
    assert found is not None
    assert (found.quantization, found.quantized) == (quantization, quantized)


def test_what_is_no_checkpoint_is_none(tmp_path: Path) -> None:
    assert read_checkpoint(str(tmp_path)) is None
    assert read_checkpoint(write(tmp_path, [1])) is None
    (tmp_path / "config.json").write_text("{", "utf-8")
    assert read_checkpoint(str(tmp_path)) is None
    # A name on a hub is no folder of this machine, whatever lies in the working directory.
    assert read_checkpoint("my/model") is None
    assert read_checkpoint("") is None
