"""Comparisons made by the program itself, for tests that read them again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.quiz import script, write_quiz
from tests.servers.fake import FakeServer


def compare_quiz(
    folder: Path, n: int, baseline: Sequence[int], *candidates: Sequence[int], words: Sequence[str]
) -> Path:
    """Compare fake servers that get the given questions wrong; return the comparison folder."""
    quiz = write_quiz(folder / "quiz", n)
    servers = [FakeServer(script(n, wrong=wrong)) for wrong in (baseline, *candidates)]
    lines = [
        f"  {name}: {{kind: openai, base_url: '{server.__enter__().url}', model: fake}}"
        for name, server in zip(("fp8", "int4", "int3", "int2"), servers, strict=False)
    ]
    config = folder / "evalkit.yaml"
    config.write_text("\n".join(["endpoints:", *lines, ""]), encoding="utf-8")
    names = ("fp8", "int4", "int3", "int2")[: len(servers)]
    try:
        done = subprocess.run(
            [
                sys.executable, "-m", "evalkit", "compare", *names, "-c", config, "-t", quiz,
                "-o", folder / "out", "-j", "16", "--aa", "0", "-q", *words,
            ],
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    finally:
        for server in servers:
            server.__exit__(None, None, None)
    assert (folder / "out" / "comparison.json").is_file(), done.stderr
    return folder / "out"
