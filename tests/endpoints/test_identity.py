"""What an endpoint is, beyond what its own pages say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from evalkit.fingerprint import identity_key
from evalkit.types import Identity
from tests.servers.fake import FakeServer, Script


def served(root: Path | str) -> Script:
    entry = {"id": "m", "owned_by": "vllm", "root": str(root), "max_model_len": 512}
    return Script(pages={"/v1/models": {"data": [entry]}})


def test_the_quantization_is_read_from_a_checkpoint_on_this_machine(
    identify: Callable[..., Identity], tmp_path: Path
) -> None:
    config = {"quantization_config": {"quant_method": "awq", "bits": 4}}
    (tmp_path / "config.json").write_text(json.dumps(config), "utf-8")
    with FakeServer(served(tmp_path)) as server:
        got = identify({"base_url": server.url, "model": "m"})
    assert got.quantization == "awq int4"
    assert got.details["config_quantized"] is True


def test_an_unquantized_checkpoint_says_its_type(
    identify: Callable[..., Identity], tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"torch_dtype": "bfloat16"}', "utf-8")
    with FakeServer(served(tmp_path)) as server:
        got = identify({"base_url": server.url, "model": "m", "hardware": "1x H100"})
    assert (got.quantization, got.details["config_quantized"]) == ("bf16", False)
    assert got.hardware == "1x H100"


def test_a_name_on_the_hub_tells_nothing(identify: Callable[..., Identity]) -> None:
    with FakeServer(served("my/model")) as server:
        got = identify({"base_url": server.url, "model": "m"})
    assert got.quantization is None
    assert "config_quantized" not in got.details


def test_what_only_describes_is_no_part_of_the_key() -> None:
    """Answers stay reusable when the noise, the machine or evalkit's knowledge changes."""
    plain = Identity(kind="openai", model="m", base_url="http://h/v1")
    more: dict[str, Any] = {
        "canary_hash": "c",
        "hardware": "gpu",
        "tokenizer_hash": "t",
        "rendering_hash": "r",
    }
    assert identity_key(replace(plain, **more)) == identity_key(plain)
