"""Running the command line as a user does: a process, its streams, its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evalkit.cli import main


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


Refused = Callable[[list[str], list[str]], None]


@pytest.fixture
def refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Refused:
    """Check that words are refused with one sentence, exit code 2 and nothing on stdout."""

    def _refused(words: list[str], expected: list[str]) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        lines = printed.err.splitlines()
        assert len(lines) == 1, printed.err
        for word in expected:
            assert word in lines[0]

    return _refused


@pytest.fixture
def evalkit(tmp_path: Path) -> Run:
    """Run `evalkit WORDS` in an empty folder, with only the environment that is given."""

    def _run(*words: str | Path, env: dict[str, str] | None = None, timeout: float = 60) -> Ended:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("EVALKIT_", "OPENAI_"))}
        done = subprocess.run(
            [sys.executable, "-m", "evalkit", *map(str, words)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**clean, "NO_COLOR": "1", **(env or {})},
            timeout=timeout,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return _run
