from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from evalkit.endpoints.manifest import FileHash, manifest, read_manifest, verify
from evalkit.errors import StoreError


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    (folder / "sub").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(b"weights" * 100)
    (folder / "sub" / "config.json").write_text("{}", "utf-8")
    (folder / "link.json").symlink_to("sub/config.json")
    return folder


def expected(folder: Path, tmp_path: Path) -> list[FileHash]:
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(manifest(folder)), "utf-8")
    return read_manifest(path)


def test_it_is_the_same_wherever_the_files_lie(weights: Path, tmp_path: Path) -> None:
    before = manifest(weights)
    assert [row["path"] for row in before["files"]] == [
        "link.json",
        "model.safetensors",
        "sub/config.json",
    ]
    assert str(tmp_path) not in json.dumps(before)
    moved = weights.rename(tmp_path / "elsewhere")
    assert manifest(moved) == before


def test_what_is_unchanged_is_equal(weights: Path, tmp_path: Path) -> None:
    assert verify(weights, expected(weights, tmp_path)) == []


def test_every_way_to_differ_is_reported(weights: Path, tmp_path: Path) -> None:
    wanted = expected(weights, tmp_path)
    data = bytearray((weights / "model.safetensors").read_bytes())
    data[350] ^= 1
    (weights / "model.safetensors").write_bytes(data)
    (weights / "sub" / "config.json").unlink()
    (weights / "link.json").unlink()
    (weights / "link.json").write_text("{}", "utf-8")
    (weights / "new.bin").write_bytes(b"x")
    found = verify(weights, wanted)
    assert {(one.path, one.kind) for one in found} == {
        ("model.safetensors", "changed"),
        ("sub/config.json", "missing"),
        ("link.json", "link"),
        ("new.bin", "extra"),
    }
    assert "same length" in next(one.message for one in found if one.kind == "changed")
    (weights / "model.safetensors").write_bytes(bytes(data) + b"x")
    assert "701 bytes, not 700" in " ".join(one.message for one in verify(weights, wanted))


def test_a_single_file(weights: Path, tmp_path: Path) -> None:
    file = weights / "model.safetensors"
    assert verify(file, expected(file, tmp_path)) == []
    file.write_bytes(b"other")
    assert [one.kind for one in verify(file, read_manifest(tmp_path / "manifest.json"))] == [
        "changed"
    ]


def test_links_to_folders_are_not_followed(weights: Path) -> None:
    (weights / "round").symlink_to(weights, target_is_directory=True)
    assert len(manifest(weights)["files"]) == 3


def test_a_broken_link_is_an_error(weights: Path) -> None:
    (weights / "broken").symlink_to("nowhere")
    with pytest.raises(StoreError, match=r"broken cannot be read"):
        manifest(weights)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_an_error(weights: Path) -> None:
    (weights / "model.safetensors").chmod(0)
    with pytest.raises(StoreError, match="cannot be read"):
        manifest(weights)


def test_nothing_has_no_manifest(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no file"):
        manifest(tmp_path)
    with pytest.raises(StoreError, match="nowhere"):
        manifest(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"manifest_version": 2, "files": []}',
        '{"manifest_version": 1, "files": []}',
        '{"manifest_version": 1, "files": [{"path": "a"}]}',
        '{"manifest_version": 1, "files": 7}',
        '{"manifest_version": 1}',
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text, "utf-8")
    with pytest.raises(StoreError, match=r"manifest\.json"):
        read_manifest(path)
