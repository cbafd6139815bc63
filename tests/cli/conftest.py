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


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ended]


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
