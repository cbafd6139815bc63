"""Where metadata come from: folders, files, GGUF, and the cache of transformers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evalkit.capacity.formats import weight_bytes
from evalkit.capacity.model import Model, part_sizes
from evalkit.capacity.source import read_source
from evalkit.errors import ConfigError, EvalKitError, StoreError, UsageError
from tests.capacity.helpers import LLAMA, PUBLISHED

gguf = pytest.importorskip("gguf")
np = pytest.importorskip("numpy")


def write_gguf(path: Path, architecture: str = "llama", **changes: Any) -> Path:
    """Write a model of two layers, its matrices as Q8_0."""
    writer = gguf.GGUFWriter(path, architecture)
    fields = {
        "context_length": 4096,
        "embedding_length": 64,
        "block_count": 2,
        "feed_forward_length": 128,
        "attention.head_count": 4,
        "attention.head_count_kv": 2,
        **changes,
    }
    for key, value in fields.items():
        if isinstance(value, list):
            writer.add_array(f"{architecture}.{key}", value)
        elif value is not None:
            writer.add_uint32(f"{architecture}.{key}", value)
    experts = fields.get("expert_count")
    shapes = {"token_embd": (100, 64), "output_norm": (64,), "output": (100, 64)}
    for layer in range(2):
        shapes[f"blk.{layer}.attn_q"] = (64, 64)
        shapes[f"blk.{layer}.attn_output"] = (64, 64)
        shapes[f"blk.{layer}.attn_norm"] = (64,)
        if experts:
            shapes[f"blk.{layer}.ffn_gate_inp"] = (experts, 64)
            shapes[f"blk.{layer}.ffn_up_exps"] = (experts, 128, 64)
        else:
            shapes[f"blk.{layer}.ffn_up"] = (128, 64)
    for name, shape in shapes.items():
        data = np.zeros(shape, dtype=np.float32)
        kind = gguf.GGMLQuantizationType.F32
        if len(shape) > 1:
            kind = gguf.GGMLQuantizationType.Q8_0
            data = gguf.quants.quantize(data, kind)
        writer.add_tensor(f"{name}.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def parts(model: Model) -> dict[str, int]:
    return {size.part: size.parameters for size in part_sizes(model.tensors)}


def test_a_gguf_file_is_counted_to_the_byte(tmp_path: Path) -> None:
    found = read_source(str(write_gguf(tmp_path / "m.gguf")))
    matrices = 2 * 100 * 64 + 2 * (2 * 64 * 64 + 128 * 64)
    assert weight_bytes(found.stored(), found.model.tensors) == matrices * 34 // 32 + 3 * 64 * 4
    assert found.engine == "llama.cpp"
    assert parts(found.model) == {
        "embedding": 6400,
        "head": 6400,
        "attention": 2 * 2 * 64 * 64,
        "feed_forward": 2 * 128 * 64,
        "norms": 3 * 64,
    }
    assert {layer.elements for layer in found.model.layers} == {2 * (16 + 16)}


def test_experts_of_a_gguf_file_are_told_apart(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", "qwen3moe", expert_count=8, expert_used_count=2)
    found = read_source(str(path))
    sizes = {size.part: size for size in part_sizes(found.model.tensors)}
    assert sizes["experts"].parameters == 2 * 8 * 128 * 64
    assert sizes["experts"].active == 2 * 2 * 128 * 64
    assert sizes["router"].parameters == 2 * 8 * 64
    whole, read = (
        weight_bytes(found.stored(), found.model.tensors, active=active) for active in (False, True)
    )
    # Six of eight experts, and 99 of 100 rows of the embedding.
    assert whole - read == 2 * 6 * 128 * 64 * 34 // 32 + 99 * 64 * 34 // 32


@pytest.mark.parametrize(
    ("architecture", "changes", "expected"),
    [
        ("gemma2", {"attention.sliding_window": 32}, ["sliding", "full"]),
        ("llama", {"attention.sliding_window": 32}, ["full", "full"]),
        ("x", {"attention.head_count_kv": [1, 2]}, ["full", "full"]),
        (
            "deepseek2",
            {"attention.key_length_mla": 24, "attention.kv_lora_rank": 48,
             "rope.dimension_count": 8},
            ["latent", "latent"],
        ),
    ],
)  # fmt: skip
def test_layers_of_a_gguf_file(
    tmp_path: Path, architecture: str, changes: dict[str, Any], expected: list[str]
) -> None:
    found = read_source(str(write_gguf(tmp_path / "m.gguf", architecture, **changes)))
    assert [layer.kind for layer in found.model.layers] == expected
    if architecture == "x":
        assert [layer.elements for layer in found.model.layers] == [32, 64]
    if architecture == "deepseek2":
        assert {layer.elements for layer in found.model.layers} == {56}


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"ssm.state_size": 16}, "recurrent state"),
        ({"block_count": None}, "block_count"),
        ({"block_count": 4_000_000_000}, "block_count"),
        ({"attention.head_count_kv": [1]}, "each layer"),
    ],
)
def test_gguf_metadata_that_do_not_tell(tmp_path: Path, changes: dict[str, Any], word: str) -> None:
    with pytest.raises(ConfigError, match=word):
        read_source(str(write_gguf(tmp_path / "m.gguf", **changes)))


@pytest.mark.parametrize("length", [0, 3, 24, 100, 900])
def test_a_gguf_file_that_ends_early(tmp_path: Path, length: int) -> None:
    whole = write_gguf(tmp_path / "m.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(whole[:length])
    with pytest.raises(StoreError, match=r"cannot be read|not a GGUF"):
        read_source(str(tmp_path / "cut.gguf"))


def test_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(UsageError, match="neither"):
        read_source(str(tmp_path / "model"))
    (tmp_path / "model" / "config.json").write_text(json.dumps(LLAMA))
    by_folder = read_source(str(tmp_path / "model")).model
    assert by_folder == read_source(str(tmp_path / "model" / "config.json")).model
    assert by_folder.name == "model"
    write_gguf(tmp_path / "one.gguf")
    assert read_source(str(tmp_path)).engine == "llama.cpp"
    write_gguf(tmp_path / "two.gguf")
    with pytest.raises(UsageError, match="2 GGUF files"):
        read_source(str(tmp_path))


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no JSON object"),
        (b"{}", "model_type"),
        (b'{"model_type": 7}', "model_type"),
        (b'{"model_type": "transmogrifier"}', "transmogrifier"),
        (b'{"model_type": "llama"}', "hidden_size"),
    ],
)
def test_a_file_that_is_no_configuration(tmp_path: Path, raw: bytes, word: str) -> None:
    (tmp_path / "config.json").write_bytes(raw)
    with pytest.raises(EvalKitError, match=word):
        read_source(str(tmp_path))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", -1),
        ("hidden_size", "4096"),
        ("hidden_size", float("nan")),
        ("hidden_size", True),
        ("num_hidden_layers", 10**9),
        ("num_attention_heads", 0),
        ("num_attention_heads", 7),
        ("vocab_size", [1]),
        ("layer_types", ["full_attention"]),
        ("layer_types", ["astral"] * 4),
        ("tie_word_embeddings", "yes"),
        ("attention_bias", 1),
    ],
)
def test_a_field_that_is_off_is_named(tmp_path: Path, key: str, value: Any) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**LLAMA, key: value}))
    word = "divide" if value == 7 else key
    with pytest.raises(ConfigError, match=word):
        read_source(str(tmp_path))


def test_what_the_file_leaves_out_is_told(tmp_path: Path) -> None:
    raw = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
    (tmp_path / "config.json").write_text(json.dumps(raw))
    notes = {note.key: note.facts for note in read_source(str(tmp_path)).model.notes}
    assert notes["assumed"]["fields"] == "num_key_value_heads = 8"


def test_an_encoder_that_is_not_known_is_told(tmp_path: Path) -> None:
    raw = {"model_type": "llava", "text_config": LLAMA, "vision_config": {"model_type": "clip"}}
    (tmp_path / "config.json").write_text(json.dumps(raw))
    keys = {note.key for note in read_source(str(tmp_path)).model.notes}
    assert "vision_unknown" in keys


def test_a_name_is_found_in_the_cache_of_transformers(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    snapshot = tmp_path / "hub" / "models--org--small" / "snapshots" / ("0" * 40)
    snapshot.mkdir(parents=True)
    refs = snapshot.parent.parent / "refs"
    refs.mkdir()
    (refs / "main").write_text("0" * 40)
    (snapshot / "config.json").write_text((PUBLISHED / "Llama-3.1-8B/config.json").read_text())
    code = (
        "from evalkit.capacity.source import read_source\n"
        "from evalkit.capacity.model import parameters\n"
        "print(parameters(read_source('org/small').model.tensors))\n"
        "try:\n"
        "    read_source('org/none')\n"
        "except Exception as error:\n"
        "    print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_ENDPOINT": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stdout.split() == ["8030261248", "UsageError"]
    assert done.stderr == ""
