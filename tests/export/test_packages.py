"""By the packages themselves, where they are: `make test-exports`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.errors import MissingExtraError, StoreError
from evalkit.stages.exporting import export_to, load_export

WANTED = os.environ.get("EVALKIT_EXPORTS") == "1"


def require(package: str) -> object:
    if WANTED:
        return __import__(package)
    return pytest.importorskip(package, reason=f"{package} is not installed: make test-exports")


def test_parquet_by_pyarrow_and_pandas(comparison: Path, tmp_path: Path) -> None:
    require("pyarrow")
    import pandas as pd
    import pyarrow.parquet as pq

    made = export_to(load_export(comparison), "parquet", str(tmp_path / "runs.parquet"), None)
    assert made["rows"] == 16
    table = pq.read_table(tmp_path / "runs.parquet")
    assert str(table.schema.field("started").type) == "timestamp[us, tz=UTC]"
    assert str(table.schema.field("value").type) == "double"
    about = json.loads(table.schema.metadata[b"evalkit"])
    assert [run["endpoint"] for run in about["runs"]] == ["bf16", "int4"]
    frame = pd.read_parquet(tmp_path / "runs.parquet").set_index(["run", "sample_id", "epoch"])
    assert frame.loc[("int4", "box-1", 0), "error"] == "Timeout"
    assert pd.isna(frame.loc[("int4", "box-1", 0), "value"])
    assert frame.loc[("bf16", "box-3", 1), "text"] == 'alpha "</script>\n{{7*7}} 病历'
    assert frame.loc[("bf16", "box-0", 0), "messages"][0]["content"] == "What is in box 0?"
    assert frame.groupby("run")["value"].count().to_dict()["bf16"] >= 4
    assert not list(tmp_path.glob(".*"))


def test_lm_eval_by_its_own_readers(comparison: Path, tmp_path: Path) -> None:
    require("lm_eval")
    from lm_eval.utils import (
        get_file_datetime,
        get_file_task_name,
        get_latest_filename,
        get_results_filenames,
        get_sample_results_filenames,
        make_table,
    )

    export_to(load_export(comparison), "lm-eval", str(tmp_path), None)
    files = [str(file) for file in (tmp_path / "int4").iterdir()]
    results = get_latest_filename(get_results_filenames(files))
    (samples,) = get_sample_results_filenames(files)
    assert get_file_task_name(Path(samples).name) == "quiz"
    assert get_file_datetime(Path(samples).name) in results
    table = make_table(json.loads(Path(results).read_text("utf-8")))
    assert "quiz" in table
    assert "0.3333" in table


def test_lm_eval_as_a_data_set(comparison: Path, tmp_path: Path) -> None:
    require("datasets")
    import datasets

    export_to(load_export(comparison), "lm-eval", str(tmp_path), None)
    files = [str(file) for file in (tmp_path / "bf16").glob("samples_*")]
    rows = datasets.load_dataset(
        "json", data_files=files, split="train", cache_dir=str(tmp_path / "cache")
    )
    assert rows["acc"] == [1.0, 1.0, 0.0, 1.0]


def test_mlflow_by_its_own_store(
    comparison: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("mlflow")
    import mlflow

    monkeypatch.chdir(tmp_path)
    uri = f"sqlite:///{tmp_path / 'runs.db'}"
    made = export_to(load_export(comparison), "mlflow", uri, "quality")
    client = mlflow.MlflowClient(tracking_uri=uri)
    parent, baseline, candidate = (client.get_run(id) for id in made["runs"])
    assert parent.data.tags["evalkit.verdict.int4"] == "INVALID"
    assert candidate.data.tags["mlflow.parentRunId"] == parent.info.run_id
    assert candidate.info.run_name == "int4"
    assert candidate.data.params["model"] == "m-int4"
    assert baseline.data.metrics["accuracy/quiz"] == pytest.approx(0.75)
    assert candidate.data.metrics["missing/quiz"] == 2
    assert candidate.data.metrics["difference/pooled"] < 0
    assert "difference/pooled/low" in candidate.data.metrics
    names = {one.path for one in client.list_artifacts(parent.info.run_id)}
    assert "comparison.json" in names
    kept = client.download_artifacts(candidate.info.run_id, "completions.jsonl", str(tmp_path))
    rows = [json.loads(line) for line in Path(kept).read_text("utf-8").splitlines()]
    assert len(rows) == 8
    assert {row["text"] for row in rows if row["sample_id"] == "box-1"} == {None}


def test_wandb_by_its_own_files(
    comparison: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("wandb")
    secret = "never-to-be-seen-0123456789"
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    made = export_to(load_export(comparison), "wandb", str(tmp_path), "quality")
    id = made["runs"][1]
    (file,) = tmp_path.rglob(f"run-{id}.wandb")
    reader = [sys.executable, "-m", "wandb", "leet", "inspect", "--json", str(file)]
    said = subprocess.run(reader, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    records = [json.loads(line) for line in said.stdout.splitlines()]
    header = next(record["run"] for record in records if record["type"] == "run")
    totals: dict[str, object] = {}
    for record in records:
        totals |= record.get("summary", {}).get("update", {})
    assert (header["project"], header["display_name"]) == ("quality", "int4")
    assert header["run_group"] == "out"
    assert header["config"]["update"]["model"] == "m-int4"
    assert totals["verdict"] == "INVALID"
    assert totals["missing/quiz"] == 2
    tables = [json.loads(t.read_text("utf-8")) for t in tmp_path.rglob("*.table.json")]
    assert sorted(len(table["data"]) for table in tables) == [8, 8]
    assert not [f for f in tmp_path.rglob("*") if f.is_file() and secret.encode() in f.read_bytes()]


def test_a_login_in_an_address_is_not_told(comparison: Path) -> None:
    require("mlflow")
    with pytest.raises(StoreError) as told:
        export_to(load_export(comparison), "mlflow", "foo://me:hunter2@host", None)
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize("kind", ["parquet", "mlflow", "wandb"])
def test_a_missing_package_is_one_line(
    comparison: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = {"parquet": "pyarrow"}.get(kind, kind)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"quant-evalkit\[{kind}\]"):
        export_to(load_export(comparison), kind, None, None)
