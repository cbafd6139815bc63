"""The wheel holds everything: tasksets and templates too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer

ROOT = Path(__file__).parent.parent.parent


def run(*words: str | Path, cwd: Path, code: int = 0) -> str:
    # Without the checkout on the path, and without what the outer environment sets.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "EVALKIT"))}
    done = subprocess.run(
        list(map(str, words)), cwd=cwd, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_wheel_in_an_empty_environment_lists_tasks_compares_and_renders_a_report(
    tmp_path: Path, recorded_comparison: Path
) -> None:
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    wheel = next((tmp_path / "dist").glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.startswith(("tests/", "reports/out"))]
    assert "evalkit/data/workloads/speculation.yaml" in names
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    evalkit = tmp_path / "env" / "bin" / "evalkit"
    where = run(python, "-c", "import evalkit; print(evalkit.__file__)", cwd=tmp_path)
    assert str(tmp_path) in where
    rows = json.loads(run(evalkit, "tasks", "--json", cwd=tmp_path))
    assert {row["name"] for row in rows} >= {"facts", "instructions", "code", "longform", "math"}
    assert any(row["name"] == "math-fresh" and row["samples"] == 300 for row in rows)
    run(evalkit, "report", recorded_comparison, "--html", tmp_path / "r.html", cwd=tmp_path)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "HOLD" in page
    assert "<svg" in page
    write_quiz(tmp_path / "quiz", 20)
    with FakeServer(script(20)) as a, FakeServer(script(20, wrong=range(12))) as b:
        targets = (f"{a.url}#fake", f"{b.url}#fake")
        words = ("-t", tmp_path / "quiz", "--aa", "0", "-o", "out", "--json")
        compared = json.loads(run(evalkit, "compare", *targets, *words, cwd=tmp_path, code=3))
    assert compared["verdict"] == "HOLD"
    assert (tmp_path / "out" / "report.html").is_file()
