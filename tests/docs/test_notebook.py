"""docs/notebook.ipynb, run by a real Jupyter kernel: an event loop is running in it already."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_it_is_kept_without_outputs() -> None:
    cells = [cell for cell in read(NOTEBOOK)["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells)


def test_it_runs(tmp_path: Path) -> None:
    n = 12
    write_quiz(tmp_path / "quiz", n)
    notebook = read(NOTEBOOK)
    place = next(c for c in notebook["cells"] if "parameters" in c["metadata"].get("tags", ()))
    with FakeServer(script(n)) as a, FakeServer(script(n, wrong={3, 4})) as b:
        targets = (f"{a.url}#fake", f"{b.url}#fake")
        settings = {"tasks": str(tmp_path / "quiz"), "aa": 0.0}
        place["source"] = f"baseline, candidate = {targets!r}\nsettings = {settings!r}"
        (tmp_path / "in.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        own = {
            name: str(tmp_path / name)
            for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "TMPDIR")
        }
        (tmp_path / "TMPDIR").mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "jupyter", "execute", "in.ipynb", "--output=out.ipynb"],
            cwd=tmp_path,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    outputs = [o for c in read(tmp_path / "out.ipynb")["cells"] for o in c.get("outputs", ())]
    shown = "".join("".join(o["data"].get("text/html", ())) for o in outputs if "data" in o)
    assert "INCONCLUSIVE" in shown
    assert "−16.7" in shown
    assert "<script" not in shown
