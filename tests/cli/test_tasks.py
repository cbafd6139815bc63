"""`evalkit tasks`: what there is, and what it can prove."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.policy import Policy
from evalkit.stages.proving import provable, suite_outlooks
from evalkit.stats.power import n_noninferiority
from evalkit.tasksets.catalogue import load_taskset
from tests.cli.conftest import Refused, Run
from tests.quiz import HEAD, write_quiz


def test_a_list_tells_suites_and_what_each_taskset_proves(evalkit: Run) -> None:
    rows = {row["name"]: row for row in evalkit("tasks", "--json").json}
    made, written = rows["math-fresh"], rows["math"]
    assert made["suites"] == {"smoke": 25, "quick": 100, "standard": 300, "full": 3000}
    assert (made["samples"], written["suites"]) == (300, {})
    assert made["proves_points"] < written["proves_points"]
    text = evalkit("tasks", "--flips", "10%").out
    assert "Suites, and the smallest loss that each proves when 10% flip:" in text


def test_what_is_provable_is_what_that_many_prompts_need(tmp_path: Path) -> None:
    taskset = load_taskset(str(write_quiz(tmp_path / "quiz", 400)))
    points = provable(taskset, 0.06)
    assert points is not None
    policy = Policy()
    needed = n_noninferiority(
        0.03, 0.03, margin=points / 100, alpha=policy.alpha, power=policy.power
    )
    assert needed == pytest.approx(400, abs=1)
    assert provable(load_taskset(str(write_quiz(tmp_path / "few", 5))), 0.06) is None
    sizes = [suite["pooled_points"] for suite in suite_outlooks(0.06, ())]
    assert sizes == sorted(sizes, reverse=True)


def test_an_unknown_scorer_and_equal_prompts_are_marked(evalkit: Run, tmp_path: Path) -> None:
    quiz = write_quiz(tmp_path / "quiz", 12)
    (quiz / "taskset.yaml").write_text(HEAD.replace("scorer: facts", "scorer: fcats"))
    rows = (quiz / "samples.jsonl").read_text().replace("box 1?", "box 0?")
    (quiz / "samples.jsonl").write_text(rows)
    text = evalkit("tasks", quiz).out
    assert "unknown scorer 'fcats'" in text
    assert "11 independent" in text
    (row,) = evalkit("tasks", quiz, "--json").json
    assert (row["unknown_scorer"], row["independent"]) == (True, 11)


def test_only_the_languages_that_are_asked_for(evalkit: Run, refused: Refused) -> None:
    (row,) = evalkit("tasks", "math-fresh", "--suite", "smoke", "--languages", "zh", "--json").json
    assert row["languages"] == {"zh": 25}
    refused(["tasks", "math", "--flips", "six"], ["--flips"])
