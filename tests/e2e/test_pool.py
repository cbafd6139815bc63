"""Two real servers behind one name, asked for plain completions: journal, seeds, resume."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.servers.embedded import needs_model, props, served

pytestmark = [pytest.mark.model, pytest.mark.slow, needs_model]

SAMPLES = 6


def collect(folder: Path, config: dict[str, Any]) -> list[dict[str, Any]]:
    (folder / "c.json").write_text(json.dumps(config), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", "run", "pool", "-c", "c.json", "-t", "facts",
         "--languages", "en", "-n", str(SAMPLES), "-o", "out", "--display", "plain"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=400,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = (folder / "out" / "completions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_a_pool_of_real_servers(tmp_path: Path) -> None:
    with served("q8", "--alias", "m") as a, served("q8", "--alias", "m") as b:
        pool = {
            "kind": "openai",
            "base_url": [a, b],
            "model": "m",
            "api": "completions",
            "chat_template": props(a)["chat_template"],
        }
        sampling = {"temperature": 1.0, "max_tokens": 24, "logprobs": 2}
        config = {"endpoints": {"pool": pool}, "epochs": 2, "sampling": sampling}
        records = collect(tmp_path, config)
        pool["base_url"] = [b, a]
        again = collect(tmp_path, config)
    assert again == records, "the order of addresses changes nothing"
    assert len(records) == 2 * SAMPLES
    assert not any(record["error"] for record in records)
    log = (tmp_path / "out" / "log.txt").read_text(encoding="utf-8")
    for url in (a, b):
        assert f"{url}/v1: " in log
        assert f"{url}/v1: 0 answered" not in log, "both work"
    for record in records:
        found = record["logprobs"]
        assert len(found["tokens"]) == len(found["logprobs"]) == len(found["top"])
        assert len(found["tokens"]) == record["usage"]["completion_tokens"]
    texts: dict[str, set[str]] = {}
    for record in records:
        texts.setdefault(record["sample_id"], set()).add(record["text"])
    # A short answer may come twice by chance, all of them never: each epoch has its own seed.
    assert sum(len(own) == 2 for own in texts.values()) >= SAMPLES - 2
