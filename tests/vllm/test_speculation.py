"""Speculation by n-grams on real vLLM: opt-in, `make test-vllm`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalkit.speculation import WORKLOADS
from tests.vllm.test_vllm import PYTHON, evalkit, served

NGRAM = {
    "method": "ngram",
    "num_speculative_tokens": 4,
    "prompt_lookup_max": 4,
    "prompt_lookup_min": 2,
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.vllm,
    pytest.mark.skipif(not PYTHON, reason="vLLM has an environment of its own: make test-vllm"),
]


def test_acceptance_and_routes_of_ngram_speculation(tmp_path: Path) -> None:
    on = served("bf16")
    on["command"] += ["--speculative-config", json.dumps(NGRAM)]
    text = yaml.safe_dump({"endpoints": {"plain": served("bf16"), "ngram": on}})
    (tmp_path / "evalkit.yaml").write_text(text, encoding="utf-8")
    done = evalkit(
        tmp_path, "probe", "--speculation", "off=plain", "on=ngram", "-o", str(tmp_path / "out"),
        "--contexts", "128", "--concurrency", "1,2", "--repeats", "5", "--requests", "1",
        "--output-tokens", "32", "--prompts", "2", "--languages", "en",
    )  # fmt: skip
    assert done.returncode == 0
    found = json.loads((tmp_path / "out" / "performance.json").read_text("utf-8"))
    assert {r["code"] for r in found["remarks"]} & {
        "NO_COUNTS",
        "SET_BACK",
        "OTHER_TRAFFIC",
    } == set()
    (one,) = found["speculation"]
    off, arm = one["arms"]
    assert (off["label"], arm["label"], arm["depth"]) == ("off", "on", 4)
    told = [arm["workloads"][name]["acceptance"] for name in WORKLOADS]
    told = [one for one in told if one is not None]
    assert told, "nothing was drafted"
    for acceptance in told:
        assert acceptance["source"] == "metrics"
        assert 0 <= acceptance["accepted"] <= acceptance["drafted"] <= 4 * acceptance["drafts"]
        shares = [place["value"] for place in acceptance["positions"]]
        assert shares == sorted(shares, reverse=True)
    assert sum(one["accepted"] for one in told) > 0
    assert arm["equality"]["n"] == 12
    memory: list[dict[str, Any]] = found["arms"][1]["memory"]
    assert memory[0]["source"] == "processes"
    assert memory[0]["peak_bytes"] > 1e9
    assert isinstance(arm["added_bytes"], int)
    routes = yaml.safe_load((tmp_path / "out" / "routing.yaml").read_text("utf-8"))
    assert {route["case"] for route in routes["tables"][0]["routes"]} >= set(WORKLOADS)
