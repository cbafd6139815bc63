from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from evalkit.errors import StoreError
from evalkit.report.store import dump_comparison, load_comparison
from evalkit.results import SCHEMA_VERSION
from tests.report.fixtures import STATES, comparison


@pytest.mark.parametrize("state", STATES)
def test_round_trip(state: str, tmp_path: Path) -> None:
    made = comparison(state, "INCONCLUSIVE")
    (tmp_path / "comparison.json").write_bytes(dump_comparison(made))
    assert load_comparison(tmp_path) == made
    assert load_comparison(tmp_path / "comparison.json") == made


def test_bytes_are_deterministic_sorted_and_indented() -> None:
    data = dump_comparison(comparison("HOLD"))
    assert data == dump_comparison(comparison("HOLD"))
    keys = list(orjson.loads(data))
    assert keys == sorted(keys)
    assert data.startswith(b"{\n  ")
    assert data.endswith(b"}\n")


def test_lone_surrogates_become_visible() -> None:
    data = dump_comparison(comparison("SHIP", hostile="a\ud800b"))
    assert "a⟦U+D800⟧b".encode() in data


def write(folder: Path, data: bytes) -> Path:
    (folder / "comparison.json").write_bytes(data)
    return folder


def test_missing_folder_and_file_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a comparison folder") as caught:
        load_comparison(tmp_path)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2
    with pytest.raises(StoreError, match="does not exist"):
        load_comparison(tmp_path / "nowhere")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b'{"schema_version": 1'])
def test_broken_json(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(StoreError, match="broken JSON"):
        load_comparison(write(tmp_path, data))


@pytest.mark.parametrize("data", [b"[]", b"{}", b"3", b'{"schema_version": true}'])
def test_other_json(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(StoreError, match="not a comparison"):
        load_comparison(write(tmp_path, data))


def test_newer_schema_says_update(tmp_path: Path) -> None:
    newer = replace(comparison("SHIP"), schema_version=SCHEMA_VERSION + 1)
    with pytest.raises(StoreError, match=r"newer evalkit.*Update evalkit"):
        load_comparison(write(tmp_path, dump_comparison(newer)))


def test_wrong_content_names_the_place(tmp_path: Path) -> None:
    raw = orjson.loads(dump_comparison(comparison("SHIP")))
    raw["results"][0]["verdict"]["state"] = "MAYBE"
    with pytest.raises(StoreError, match=r"results\.0\.verdict\.state"):
        load_comparison(write(tmp_path, orjson.dumps(raw)))


def test_fields_of_later_minor_versions_are_ignored(tmp_path: Path) -> None:
    raw = orjson.loads(dump_comparison(comparison("SHIP")))
    raw["something_new"] = 1
    assert load_comparison(write(tmp_path, orjson.dumps(raw))) == comparison("SHIP")
