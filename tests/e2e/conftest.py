"""A real comparison to render, made once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer


@pytest.fixture(scope="session")
def recorded_comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a comparison whose candidate is clearly worse."""
    folder = tmp_path_factory.mktemp("comparison")
    quiz = write_quiz(folder / "quiz", 60)
    with FakeServer(script(60)) as a, FakeServer(script(60, wrong=range(30))) as b:
        done = subprocess.run(
            [sys.executable, "-m", "evalkit", "compare", f"{a.url}#fake", f"{b.url}#fake",
             "-t", str(quiz), "-o", str(folder / "out"), "-q"],
            check=False,
            timeout=60,
        )  # fmt: skip
    assert done.returncode == 3
    return folder / "out"
