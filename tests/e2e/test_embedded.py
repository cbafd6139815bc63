"""The main job on the embedded model: in process, and as real HTTP servers on two ports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.embedded import needs_model, served

pytestmark = [pytest.mark.model, pytest.mark.slow, needs_model]


def compare(tmp_path: Path, *words: str) -> tuple[int, dict[str, object]]:
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", "compare", *words, "-o", str(tmp_path / "out"),
         "-t", "facts,instructions,math", "-n", "4", "--display", "plain"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    text = (tmp_path / "out" / "comparison.json").read_text(encoding="utf-8")
    return done.returncode, json.loads(text)


def test_two_quantizations_in_process(tmp_path: Path) -> None:
    code, comparison = compare(tmp_path, "q8", "rtn3", "--aa", "50%")
    result = comparison["results"][0]  # type: ignore[index]
    pooled = result["pooled"]
    assert pooled["baseline"]["n"] == 12
    # Weights rounded to three bits answer nothing right; eight bits do.
    assert pooled["baseline"]["correct"] > pooled["candidate"]["correct"]
    assert result["verdict"]["exit_code"] == code
    assert code in (3, 4, 5)
    # The embedded model repeats itself bit by bit: its noise floor is zero.
    noise = result["noise"]["pooled"]
    assert (noise["repeat_flips"]["n"], noise["repeat_flips"]["value"]) == (6, 0)
    assert noise["same_text"]["value"] == 1
    labels = [arm["label"] for arm in comparison["candidates"]]  # type: ignore[union-attr, index]
    assert "SmolLM2-135M" in labels[0]
    sizes = comparison["baseline"]["identity"]["weights_bytes"]  # type: ignore[index]
    assert sizes > 100_000_000


def test_two_real_servers_over_http(tmp_path: Path) -> None:
    with served("q8") as a, served("q4") as b:
        code, comparison = compare(tmp_path, f"{a}#q8", f"{b}#q4")
    result = comparison["results"][0]  # type: ignore[index]
    assert code == result["verdict"]["exit_code"]
    assert result["pooled"]["baseline"]["n"] == result["pooled"]["candidate"]["n"] == 12
    assert result["pooled"]["baseline"]["correct"] >= 1
    quantizations = [
        comparison["baseline"]["identity"]["quantization"],  # type: ignore[index]
        comparison["candidates"][0]["identity"]["quantization"],  # type: ignore[index]
    ]
    assert [str(name).split(" ")[0] for name in quantizations] == ["Q8_0", "Q4_0"]


def test_as_a_judge_it_is_called_none(tmp_path: Path) -> None:
    row = {"question": "Which city?", "reference": "Paris", "completion": "Paris", "label": 1}
    (tmp_path / "labels.jsonl").write_text(json.dumps(row), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "evalkit", "calibrate", "labels.jsonl", "-t", "trivia", "--judge",
         "q8", "--set", "judge.max_tokens=8", "--json", "-q"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=400,
        check=False,
    )  # fmt: skip
    assert done.returncode == 5, done.stderr
    told = json.loads(done.stdout)
    assert told["weak"]
    assert told["failures"] == {"judge:unparsable": 1}
