"""Logs that are damaged, or made to do harm: one sentence, and nothing else happens."""

from __future__ import annotations

import json
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.errors import EvalKitError, LogError
from evalkit.importers import archive, reading
from evalkit.importers.base import Recording, find_log
from evalkit.importers.reading import harmless

FIXTURES = Path(__file__).parent / "fixtures"


def read(target: Path) -> Recording:
    log = find_log(str(target))
    assert log is not None, f"{target} is of no format"
    return log.read()


def lm_eval(tmp_path: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    folder = tmp_path / "q8"
    shutil.copytree(FIXTURES / "lm_eval" / "q8", folder)
    (file,) = folder.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    change(rows)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("lm_eval/q8", "results_*.json"),
        ("lm_eval/q8", "samples_*.jsonl"),
        ("nemo/q8-0.3", "eval-*.json"),
        ("nemo/q8-0.3", "results.jsonl"),
        ("nemo/q8-0.2", "byob_predictions.jsonl"),
        ("inspect", "q8.json"),
        ("inspect", "q8.eval"),
        ("promptfoo", "both.json"),
    ],
)
def test_a_file_that_was_cut_is_told_by_its_name(tmp_path: Path, name: str, pattern: str) -> None:
    folder = tmp_path / "log"
    shutil.copytree(FIXTURES / name, folder)
    (file,) = folder.rglob(pattern)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) * 2 // 3])
    target = file if name in ("inspect", "promptfoo") else folder
    with pytest.raises(LogError) as caught:
        read(target)
    assert file.name in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"doc_id": {"a": 1}}, "id of the sample"),
        ({"doc_id": [1]}, "id of the sample"),
        ({"doc_id": True}, "id of the sample"),
        ({"arguments": {"gen_args_0": 7}}, "not a JSON object"),
    ],
)
def test_a_value_of_another_kind_is_told_with_its_line(
    tmp_path: Path, row: dict[str, Any], words: str
) -> None:
    folder = lm_eval(tmp_path, lambda rows: rows[3].update(row))
    with pytest.raises(LogError, match=words) as caught:
        read(folder)
    assert "line 4" in caught.value.message


def test_a_score_that_is_no_number_is_missing_and_one_out_of_range_is_no_score(
    tmp_path: Path,
) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        strict = [row for row in rows if row["filter"] == "strict-match"]
        strict[0]["exact_match"] = float("nan")
        strict[1]["exact_match"] = None
        flexible = [row for row in rows if row["filter"] == "flexible-extract"]
        flexible[0]["exact_match"] = 7

    (task,) = read(lm_eval(tmp_path, change)).tasks
    assert task.metrics == ("exact_match,strict-match",)
    assert [item.metrics[task.metrics[0]] for item in task.items[:2]] == [None, None]


def test_lines_and_nesting_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "deep.jsonl"
    deep.write_text('{"id": 1, "completion": "a"}\n' + '{"id": ' + "[" * 100_000 + "\n")
    with pytest.raises(LogError, match="line 2"):
        read(deep)
    long = tmp_path / "long.jsonl"
    long.write_text('{"id": 1, "correct": true}\n' + json.dumps({"id": 2, "text": "x" * 5000}))
    monkeypatch.setattr(reading, "MOST_LINE", 1000)
    with pytest.raises(LogError, match=r"line 2 is longer"):
        read(long)


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def inspect_members() -> dict[str, bytes]:
    whole = json.loads((FIXTURES / "inspect" / "q8.json").read_text())
    samples = whole.pop("samples")
    rows = {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in samples}
    return {name: json.dumps(row).encode() for name, row in {"header.json": whole, **rows}.items()}


def test_an_archive_that_would_burst_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_LINE", 1_000_000)
    bomb = b'{"id": 1, "x": "' + b" " * 50_000_000 + b'"}'
    path = packed(tmp_path / "bomb.eval", {**inspect_members(), "samples/1_epoch_1.json": bomb})
    assert path.stat().st_size < 200_000
    with pytest.raises(LogError, match="larger than"):
        read(path)


def test_all_of_an_archive_together_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "many.eval", inspect_members())
    monkeypatch.setattr(archive, "MOST_FILE", 20_000)
    with pytest.raises(LogError, match="holds more than"):
        read(path)


def test_an_archive_that_lies_about_a_size_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "lie.eval", {"header.json": b"{" + b" " * 10_000_000 + b"}"})
    data = path.read_bytes()
    # The size that the directory tells, made small.
    at = data.index(b"PK\x01\x02") + 24
    path.write_bytes(data[:at] + struct.pack("<I", 100) + data[at + 4 :])
    with pytest.raises(LogError):
        read(path)


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    evil = {"../../evil.json": b"{}", "samples/../../../evil.json": b'{"id": "x"}'}
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    read(packed(inside / "log.eval", {**inspect_members(), **evil}))
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "b", "log.eval"]


def test_an_archive_packed_otherwise_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(EvalKitError) as caught:
        read(FIXTURES / "inspect" / "q8.eval")
    assert caught.value.exit_code == 2
    assert "quant-evalkit[inspect]" in str(caught.value.hint)


def test_keys_in_a_log_stay_there() -> None:
    said = harmless(
        {
            "api_key": "abc",
            "base_url": "https://user:secret@host/v1?key=1",
            "note": "sk-abcdefghijklmnopqrstuvwxyz",
            "headers": {"Authorization": "Bearer x"},
            "dtype": "auto",
        }
    )
    assert said == {"base_url": "https://host/v1", "note": "…", "headers": {}, "dtype": "auto"}


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(["lm_eval", "inspect", "promptfoo", "nemo", "answers"]),
    key=st.integers(0, 100),
    value=JSON,
)
def test_any_value_in_any_place_is_read_or_refused_in_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, kind: str, key: int, value: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    if kind == "inspect":
        target = folder / "q8.json"
        whole = json.loads((FIXTURES / "inspect" / "q8.json").read_text())
        row = whole["samples"][0] if key % 2 else whole["eval"]
    elif kind == "promptfoo":
        target = folder / "both.json"
        whole = json.loads((FIXTURES / "promptfoo" / "both.json").read_text())
        row = whole["results"]["results"][0]
    else:
        name = {"lm_eval": "lm_eval/q8/q8", "nemo": "nemo/q8-0.3"}.get(kind)
        target = folder / "log"
        if name is None:
            target = folder / "answers.jsonl"
            rows = [{"id": "a", "completion": "b", "correct": True, "prompt": "c", "epoch": 0}] * 2
            rows = [dict(one) for one in rows]
        else:
            shutil.copytree(FIXTURES / name, target)
            (file,) = [*target.glob("samples_*.jsonl"), *target.glob("results.jsonl")]
            rows = [json.loads(line) for line in file.read_text().splitlines()]
        row = rows[1]
    names = sorted(row)
    row[names[key % len(names)]] = value
    if kind in ("inspect", "promptfoo"):
        target.write_text(json.dumps(whole))
    elif kind == "answers":
        target.write_text("".join(json.dumps(one) + "\n" for one in rows))
    else:
        file.write_text("".join(json.dumps(one) + "\n" for one in rows))
    log = find_log(f"{target}#q8" if kind == "promptfoo" else str(target))
    if log is None:
        return
    message = ""
    try:
        log.read()
    except EvalKitError as error:
        message = f"{error.exit_code} {error.message}"
    assert message.startswith(("", "2 ")[bool(message)])
    assert "\n" not in message
