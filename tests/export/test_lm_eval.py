from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from evalkit.export.lm_eval import safe_name
from evalkit.stages.exporting import export_to, load_export


@pytest.fixture(scope="module")
def folder(comparison: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("lm-eval")
    export_to(load_export(comparison), "lm-eval", str(home), None)
    return home


def lines(folder: Path, arm: str) -> list[dict[str, Any]]:
    (file,) = (folder / arm).glob("samples_quiz_*.jsonl")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def totals(folder: Path, arm: str) -> dict[str, Any]:
    (file,) = (folder / arm).glob("results_*.json")
    read: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return read


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_an_answer_and_its_epochs(folder: Path) -> None:
    first, *_ = lines(folder, "bf16")
    assert first["doc"]["id"] == "box-0"
    assert first["resps"] == [["It is alpha.", "It is alpha."]]
    assert (first["acc"], first["metrics"], first["filter"]) == (1.0, ["acc"], "none")
    prompt, generation = first["arguments"]["gen_args_0"].values()
    assert json.loads(prompt) == [{"role": "user", "content": "What is in box 0?"}]
    assert generation["max_gen_toks"] == 4096
    assert first["prompt_hash"] == sha(prompt)
    assert first["target_hash"] == sha(first["target"])
    assert first["doc_hash"] == sha(json.dumps(first["doc"], indent=2, ensure_ascii=False))


def test_no_answer_is_neither_an_empty_text_nor_a_zero(folder: Path) -> None:
    missing = lines(folder, "int4")[1]
    assert missing["resps"] == [[None, None]]
    assert missing["filtered_resps"] == [None, None]
    assert missing["acc"] is None
    assert missing["evalkit"][0]["error"] == "Timeout"
    said = totals(folder, "int4")
    assert said["n-samples"]["quiz"] == {"original": 4, "effective": 6}
    assert said["results"]["quiz"]["acc,none"] == pytest.approx(1 / 3)


def test_an_answer_with_nothing_in_it_is_not_correct(folder: Path) -> None:
    empty = lines(folder, "bf16")[2]
    assert empty["resps"] == [[None, None]]
    assert empty["acc"] == 0.0


def test_hostile_text_comes_back_as_it_was(folder: Path) -> None:
    hostile = lines(folder, "bf16")[3]
    assert hostile["resps"][0][0] == 'alpha "</script>\n{{7*7}} 病历'
    assert hostile["doc"]["messages"][0]["content"] == "</script>箱子 3? \x00\u202e"


def test_totals_name_the_build_and_no_address(folder: Path) -> None:
    said = totals(folder, "int4")
    assert (said["model_name"], said["evalkit"]["model"]) == ("int4", "m-int4")
    assert said["configs"]["quiz"]["repeats"] == 2
    assert "models.example" not in json.dumps(said)


def test_the_same_run_gives_the_same_files(folder: Path, comparison: Path, tmp_path: Path) -> None:
    export_to(load_export(comparison), "lm-eval", str(tmp_path), None)
    for file in folder.rglob("*.json*"):
        assert (tmp_path / file.relative_to(folder)).read_bytes() == file.read_bytes()


def test_names_lead_nowhere_else() -> None:
    assert safe_name('../a/b:c*"d"') == "..__a__b__c__d__"
